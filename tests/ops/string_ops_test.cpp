// StringConcat, StringSplit, StringNormalizer, RegexFullMatch: numbers from Python's str and ONNX
// Runtime.
#include "engine/ops/unicode.h"

#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

using Strings = std::vector<std::string>;

Tensor strings(Dims dims, const Strings& values) {
  return Tensor::of<std::string>(DType::kString, std::move(dims), values);
}

TEST(StringConcat, Broadcasts) {
  check_op(make_case("StringConcat", 20, {strings({2, 1}, {"a", ""}), strings({2}, {"x", "é"})}),
           strings({2, 2}, {"ax", "aé", "x", "é"}));
  check_op(make_case("StringConcat", 20, {strings({0}, {}), strings({1}, {"x"})}),
           strings({0}, {}));
  check_error(make_case("StringConcat", 20, {strings({2}, {"a", "b"}), strings({3}, {"", "", ""})}),
              Code::kInvalidModel, "node 'n'");
  check_error(make_case("StringConcat", 20, {floats({1}, {1}), floats({1}, {1})}),
              Code::kInvalidModel, "f32");
}

void check_split(const Strings& in, Attrs attrs, const Dims& dims, const Strings& parts,
                 const std::vector<int64_t>& counts) {
  const auto n = static_cast<int64_t>(in.size());
  const auto got = check_op(make_case("StringSplit", 20, {strings({n}, in)}, std::move(attrs), 2));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(difference(got[0], strings(dims, parts)), "");
  EXPECT_EQ(difference(got[1], ints({n}, counts)), "");
}

TEST(StringSplit, AtADelimiter) {
  const Attr comma = std::string(",");
  check_split({"a,b", "", "a,,b,"}, {{"delimiter", comma}}, {3, 4},
              {"a", "b", "", "", "", "", "", "", "a", "", "b", ""}, {2, 1, 4});
  check_split({"a,b,c"}, {{"delimiter", comma}, {"maxsplit", int64_t{1}}}, {1, 2}, {"a", "b,c"},
              {2});
  check_split({"a,b"}, {{"delimiter", comma}, {"maxsplit", int64_t{0}}}, {1, 1}, {"a,b"}, {1});
  check_split({"a--b-"}, {{"delimiter", std::string("--")}}, {1, 2}, {"a", "b-"}, {2});
}

TEST(StringSplit, AtWhiteSpace) {
  check_split({"  a  b c ", "", "   "}, {}, {3, 3}, {"a", "b", "c", "", "", "", "", "", ""},
              {3, 0, 0});
  check_split({"  a  b c ", "x"}, {{"maxsplit", int64_t{1}}}, {2, 2}, {"a", "b c ", "x", ""},
              {2, 1});
  check_split({"  a  b "}, {{"maxsplit", int64_t{0}}, {"delimiter", std::string()}}, {1, 1},
              {"a  b "}, {1});
  check_split({"a\tb\u3000é\u00a0\x1f"
               "d\xff e"},
              {}, {1, 5}, {"a", "b", "é", "d\xff", "e"}, {5});
  check_split({}, {}, {0, 0}, {}, {});
  EXPECT_EQ(infer_text("StringSplit", 20, {shaped(DType::kString, {sym("n"), Dim(2)})}, {}, 2),
            "str[n,2,?]; i64[n,2]");
}

TEST(StringNormalizer, StopWordsAndCase) {
  const Tensor words = strings({4}, {"Monday", "monday", "ÉTÉ", "straße"});
  const Attr stop = Strings{"monday", "été"};
  check_op(make_case("StringNormalizer", 10, {words}, {{"stopwords", stop}}),
           strings({1}, {"straße"}));
  check_op(make_case("StringNormalizer", 10, {words},
                     {{"stopwords", stop},
                      {"is_case_sensitive", int64_t{1}},
                      {"case_change_action", std::string("UPPER")}}),
           strings({3}, {"MONDAY", "ÉTÉ", "STRAßE"}));
  check_op(make_case("StringNormalizer", 10, {strings({1, 2}, {"ΑΒ", "x\xffY"})},
                     {{"case_change_action", std::string("LOWER")}}),
           strings({1, 2}, {"αβ", "x\xffy"}));
  check_op(
      make_case("StringNormalizer", 10, {strings({1, 1}, {"A"})}, {{"stopwords", Strings{"a"}}}),
      strings({1, 1}, {""}));
  check_op(make_case("StringNormalizer", 10, {strings({0}, {})}), strings({1}, {""}));
}

TEST(StringNormalizer, Errors) {
  const Tensor x = strings({1}, {"a"});
  check_error(make_case("StringNormalizer", 10, {x}, {{"case_change_action", std::string("X")}}),
              Code::kInvalidModel, "'X'");
  check_error(make_case("StringNormalizer", 10, {x}, {{"locale", std::string("tr_TR")}}),
              Code::kUnsupported, "locale 'tr_TR'");
  check_op(make_case("StringNormalizer", 10, {x}, {{"locale", std::string("en_US")}}), x);
  check_error(make_case("StringNormalizer", 10, {strings({2, 1}, {"a", "b"})}), Code::kInvalidModel,
              "[2,1]");
  check_error(make_case("StringNormalizer", 10, {strings({}, {"a"})}), Code::kInvalidModel, "[]");
  EXPECT_EQ(infer_text("StringNormalizer", 10, {shaped(DType::kString, {Dim(3)})}), "str[3]");
  EXPECT_EQ(infer_text("StringNormalizer", 10, {shaped(DType::kString, {sym("n"), Dim(3)})},
                       {{"stopwords", Strings{"a"}}}),
            "str[1,?]");
}

TEST(RegexFullMatch, MatchesAll) {
  const auto match = [](const char* pattern, const Strings& texts) {
    return make_case("RegexFullMatch", 20, {strings({static_cast<int64_t>(texts.size())}, texts)},
                     {{"pattern", std::string(pattern)}});
  };
  check_op(match(".b?.*", {"abc", "ab\nc", "é", ""}), numbers(DType::kBool, {4}, {1, 0, 1, 0}));
  check_op(match("", {"", "a"}), numbers(DType::kBool, {2}, {1, 0}));
  check_op(match("a|ab", {"ab", "abc"}), numbers(DType::kBool, {2}, {1, 0}));
  // What overflows a backtracking matcher's stack, or takes it for ever.
  check_op(match("(a|b|ab)*c", {std::string(1 << 20, 'a')}), numbers(DType::kBool, {1}, {0}));
  check_op(match("(a*)*b", {std::string(5000, 'a')}), numbers(DType::kBool, {1}, {0}));
  check_error(match("(", {"a"}), Code::kInvalidModel, "attribute 'pattern' is '('");
  check_error(match("(?=a)", {"a"}), Code::kInvalidModel, "attribute 'pattern'");
  check_error(match("((a{1000}){1000}){1000}", {"a"}), Code::kInvalidModel, "attribute 'pattern'");
  check_error(make_case("RegexFullMatch", 20, {strings({1}, {"a"})}), Code::kInvalidModel,
              "attribute 'pattern' is missing");
}

}  // namespace
}  // namespace hasten::test
