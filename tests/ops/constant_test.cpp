#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Constant, EveryAttribute) {
  const auto of = [](const char* name, Attr value) {
    return make_case("Constant", 13, {}, {{name, std::move(value)}});
  };
  check_op(of("value", ints({2}, {1, 2})), ints({2}, {1, 2}), "constant");
  check_op(of("value_int", int64_t{7}), ints({}, {7}), "constant");
  check_op(of("value_ints", std::vector<int64_t>{7, 8}), ints({2}, {7, 8}), "constant");
  check_op(of("value_float", 1.5f), floats({}, {1.5f}), "constant");
  check_op(of("value_floats", std::vector<float>{}), floats({0}, {}), "constant");
  Tensor text = *Tensor::make(DType::kString, {2});
  text.mutable_as<std::string>()[0] = "a";
  text.mutable_as<std::string>()[1] = "b";
  check_op(of("value_strings", std::vector<std::string>{"a", "b"}), text, "");
  check_op(of("value_string", std::string("a")), "");
}

TEST(Constant, NeedsExactlyOne) {
  check_error(make_case("Constant", 13, {}), Code::kInvalidModel, "0 attributes");
  check_error(make_case("Constant", 13, {}, {{"value_int", int64_t{1}}, {"value_float", 1.0f}}),
              Code::kInvalidModel, "2 attributes");
  check_error(make_case("Constant", 13, {}, {{"value_int", 1.0f}}), Code::kInvalidModel,
              "wrong type");
  EXPECT_EQ(infer_text("Constant", 13, {}, {{"value_ints", std::vector<int64_t>{3}}}),
            "i64[1] = {3}");
}

}  // namespace
}  // namespace hasten::test
