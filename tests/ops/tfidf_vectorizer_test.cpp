// Numbers from ONNX Runtime.
#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

Attrs attrs_of(const char* mode, int64_t max_length, int64_t skips, Ints counts, Ints indexes) {
  return {{"mode", std::string(mode)},         {"min_gram_length", int64_t{1}},
          {"max_gram_length", max_length},     {"max_skip_count", skips},
          {"ngram_counts", std::move(counts)}, {"ngram_indexes", std::move(indexes)}};
}

OpCase weighted(const char* mode, DType dtype) {
  Attrs attrs = attrs_of(mode, 2, 1, {0, 2}, {2, 0, 1});
  attrs.emplace_back("pool_int64s", Ints{1, 2, 2, 1});
  attrs.emplace_back("weights", std::vector<float>{10, 100, 1000});
  return make_case("TfIdfVectorizer", 9, {numbers(dtype, {5}, {1, 2, 2, 3, 1})}, attrs);
}

TEST(TfIdfVectorizer, Modes) {
  for (const DType t : {DType::kI32, DType::kI64}) {
    check_op(weighted("TFIDF", t), floats({3}, {200, 1000, 20}));
    check_op(weighted("IDF", t), floats({3}, {100, 1000, 10}));
    check_op(weighted("TF", t), floats({3}, {2, 1, 2}));
  }
}

TEST(TfIdfVectorizer, SkipsAndRows) {
  Attrs attrs = attrs_of("TF", 3, 2, {0, 2, 6}, {0, 1, 2, 3, 4});
  attrs.emplace_back("pool_int64s", Ints{1, 2, 2, 1, 1, 1, 2, 2, 1});
  const Ints rows{1, 2, 2, 3, 1, 2, 1, 2, 1, 1};
  check_op(make_case("TfIdfVectorizer", 9, {ints({2, 5}, rows)}, attrs),
           floats({2, 5}, {2, 2, 2, 0, 0, 3, 2, 4, 3, 1}));
  check_op(make_case("TfIdfVectorizer", 9, {ints({2, 0}, {})}, attrs),
           floats({2, 5}, std::vector<float>(10, 0)));
  check_op(make_case("TfIdfVectorizer", 9, {ints({0, 3}, {})}, attrs), floats({0, 5}, {}));
}

TEST(TfIdfVectorizer, Strings) {
  Attrs attrs = attrs_of("TF", 2, 0, {0, 1}, {1, 0});
  attrs.emplace_back("pool_strings", Strings{"a", "a", "b"});
  const Strings words{"a", "b", "a", "b", "c"};
  const Tensor x = Tensor::of<std::string>(DType::kString, {5}, words);
  check_op(make_case("TfIdfVectorizer", 9, {x}, attrs), floats({2}, {2, 2}));
  check_error(make_case("TfIdfVectorizer", 9, {ints({1}, {1})}, attrs), Code::kInvalidModel,
              "the input is i64, the pool has strings");
  EXPECT_EQ(infer_text("TfIdfVectorizer", 9, {shaped(DType::kString, {sym("n"), sym("c")})}, attrs),
            "f32[n,2]");
}

TEST(TfIdfVectorizer, Errors) {
  const auto check = [](Attrs attrs, Ints pool, const char* text) {
    attrs.emplace_back("pool_int64s", std::move(pool));
    check_error(make_case("TfIdfVectorizer", 9, {ints({2}, {1, 2})}, std::move(attrs)),
                Code::kInvalidModel, text);
  };
  check({}, {1}, "attribute 'mode' is missing");
  check(attrs_of("X", 1, 0, {0}, {0}), {1}, "attribute 'mode' is 'X'");
  check(attrs_of("TF", 0, 0, {0}, {0}), {1}, "n-grams from 1 to 0 items");
  check(attrs_of("TF", 2, 0, {0}, {0}), {1}, "n-grams from 1 to 2 items");
  check(attrs_of("TF", 1, -1, {0}, {0}), {1}, "attribute 'max_skip_count' is -1");
  check(attrs_of("TF", 1, 0, {0, 5}, {0}), {1}, "attribute 'ngram_counts' has 0 and then 5");
  check(attrs_of("TF", 1, 0, {-1}, {0}), {1}, "attribute 'ngram_counts' has -1");
  check(attrs_of("TF", 2, 0, {0, 0}, {0}), {1, 2, 3}, "no whole number of 2-grams");
  check(attrs_of("TF", 1, 0, {0}, {0}), {1, 2}, "the pool has 2 n-grams");
  check(attrs_of("TF", 1, 0, {0}, {}), {}, "the pool has 0 n-grams");
  check(attrs_of("TF", 1, 0, {0}, {0, -1}), {1, 2}, "attribute 'ngram_indexes' has -1");
  check(attrs_of("TF", 1, 0, {0}, {0, 1}), {1, 1}, "n-gram 1 is in the pool twice");
  Attrs two = attrs_of("TF", 1, 0, {0}, {0});
  two.emplace_back("pool_strings", Strings{"a"});
  check(two, {1}, "one of the attributes");
  Attrs light = attrs_of("TF", 1, 0, {0}, {0});
  light.emplace_back("weights", std::vector<float>{1, 2});
  check(light, {1}, "2 weights for 1 n-grams");
  Attrs wide = attrs_of("TF", 1, 0, {0}, {int64_t{1} << 62});
  wide.emplace_back("pool_int64s", Ints{1});
  check_error(make_case("TfIdfVectorizer", 9, {ints({2, 1}, {1, 2})}, wide), Code::kInvalidModel,
              "too many elements");
}

}  // namespace
}  // namespace hasten::test
