#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase einsum(const std::string& equation, std::vector<Tensor> inputs) {
  return make_case("Einsum", 12, std::move(inputs), {{"equation", equation}});
}

Tensor counting(Dims dims) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return floats(std::move(dims), values);
}

TEST(Einsum, AgreesWithNumpy) {
  const Tensor x = counting({2, 2}), b = counting({1, 2, 2});
  check_op(einsum("ij, jk", {x, x}), floats({2, 2}, {2, 3, 6, 11}));
  check_op(einsum("...ii->...i", {counting({2, 2, 2})}), floats({2, 2}, {0, 3, 4, 7}));
  check_op(einsum("ii", {x}), floats({}, {3}));
  check_op(einsum("ba", {counting({2, 3})}), floats({3, 2}, {0, 3, 1, 4, 2, 5}));
  check_op(einsum("bij,jk->bki", {b, x}), floats({1, 2, 2}, {2, 6, 3, 11}));
  check_op(einsum("i...,j...->...", {x, counting({3, 2})}), floats({2}, {12, 36}));
  check_op(einsum("aB->Ba", {x}), floats({2, 2}, {0, 2, 1, 3}));
  check_op(einsum(",->", {floats({}, {2}), floats({}, {3})}), floats({}, {6}));
  check_op(einsum("i,i,i->i", {ints({2}, {INT64_MIN, 3}), ints({2}, {2, 3}), ints({1}, {5})}),
           ints({2}, {0, 45}));
  // An ellipsis that the output leaves out is summed.
  check_op(einsum("...i->i", {x}), floats({2}, {2, 4}));
  check_op(einsum("ij->i", {floats({2, 0}, {})}), floats({2}, {0, 0}));
  check_op(einsum("ij->ij", {floats({2, 0}, {})}), floats({2, 0}, {}));
}

TEST(Einsum, FollowsSymbols) {
  const Facts a = shaped(DType::kF32, {sym("b"), 3, sym("k")}),
              c = shaped(DType::kF32, {sym("k"), 5});
  EXPECT_EQ(infer_text("Einsum", 12, {a, c}, {{"equation", std::string("bik,kj->bij")}}),
            "f32[b,3,5]");
  EXPECT_EQ(infer_text("Einsum", 12, {a, c}, {{"equation", std::string("...k,kj")}}), "f32[b,3,5]");
}

TEST(Einsum, RefusesWhatIsNoEquation) {
  const Tensor x = counting({2, 2});
  const auto refuse = [&](const std::string& equation, const std::string& message) {
    check_error(einsum(equation, {x}), Code::kInvalidModel, message);
  };
  refuse("ij,jk", "is of 2 operands, there are 1");
  refuse("i->i", "its term names 1 indices");
  refuse("ij->ik", "has 'k' only after the arrow");
  refuse("ij->ii", "names 'i' twice");
  refuse("i1", "the character '1'");
  refuse("i..", "the character '.'");
  refuse("......", "two ellipses");
  refuse("ij->ij->i", "the character '-'");
  check_error(einsum("ij,ij", {x, counting({3, 2})}), Code::kInvalidModel, "axis 0 of operand 1");
  check_error(einsum("...,...", {x, counting({2})}), Code::kInvalidModel,
              "the ellipsis stands for");
}

TEST(Det, OfBatches) {
  check_op(make_case("Det", 11, {floats({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})}),
           floats({2}, {-2, -1}), "*", {1e-6, 0});
  check_op(make_case("Det", 11, {floats({3, 3}, {0, 1, 2, 1, 0, 3, 4, -3, 8})}), floats({}, {-2}),
           "*", {1e-6, 0});
  check_op(make_case("Det", 11, {floats({2, 0, 0}, {})}), floats({2}, {1, 1}));
  check_op(make_case("Det", 11, {floats({2, 2}, {1, 2, 2, 4})}), floats({}, {0}));
  check_error(make_case("Det", 11, {floats({2, 1}, {1, 2})}), Code::kInvalidModel,
              "must be square");
}

}  // namespace
}  // namespace hasten::test
