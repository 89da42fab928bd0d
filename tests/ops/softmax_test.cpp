#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {
constexpr Tolerance kClose{2e-6, 1e-38};
}

TEST(Softmax, AgreesWithTheReferenceAlongEveryAxis) {
  for (const Dims& dims : {Dims{7}, Dims{3, 100}, Dims{2, 3, 17}, Dims{2, 5, 3, 33}, Dims{1, 1},
                           Dims{2, 1000}, Dims{3, 0}, Dims{0, 4}, Dims{4, 9, 1}}) {
    const auto rank = static_cast<int64_t>(dims.size());
    for (int64_t axis = -rank; axis < rank; ++axis) {
      for (const char* op : {"Softmax", "LogSoftmax"}) {
        for (const int64_t opset : {9, 11, 13}) {
          SCOPED_TRACE(fmt::format("{} {} {} opset {}", op, dims_text(dims), axis, opset));
          const Tensor x = random_floats(dims, 3, -8, 8);
          check_op(make_case(op, opset, {x}, {{"axis", axis}}), "softmax_f32", {2e-6, 2e-6});
        }
      }
    }
  }
}

TEST(Softmax, KnownValues) {
  // From numpy.
  const Tensor x = floats({2, 3}, {1, 2, 3, 1000, 1001, 1002});
  const Tensor want = floats(
      {2, 3}, {0.09003057f, 0.24472848f, 0.66524094f, 0.09003057f, 0.24472848f, 0.66524094f});
  check_op(make_case("Softmax", 13, {x}), want, "softmax_f32", kClose);
  check_op(make_case("LogSoftmax", 13, {floats({3}, {-1, 0, 1})}, {{"axis", int64_t{0}}}),
           floats({3}, {-2.4076059f, -1.4076059f, -0.4076059f}), "*", kClose);
  // Before opset 13 all axes from `axis` on are one.
  check_op(make_case("Softmax", 11, {floats({1, 2, 2}, {0, 0, 0, 0})}),
           floats({1, 2, 2}, {0.25f, 0.25f, 0.25f, 0.25f}), "*", kClose);
}

TEST(Softmax, InfinitiesAndNan) {
  const float inf = HUGE_VALF;
  const Tensor x = floats({5, 4}, {0, -inf, 1,   -inf, -inf, -inf, -inf,  -inf,   inf,  0,
                                   1, 2,    NAN, 0,    1,    2,    1e38f, -1e38f, -200, 0});
  for (const int64_t axis : {0, 1}) {
    check_op(make_case("Softmax", 13, {x}, {{"axis", axis}}), "softmax_f32", {2e-6, 2e-38});
    check_op(make_case("LogSoftmax", 13, {x}, {{"axis", axis}}), "softmax_f32", {2e-6, 1e-6});
  }
}

TEST(Softmax, RefusesAnAxisOutOfRange) {
  check_error(make_case("Softmax", 13, {random_floats({2, 3})}, {{"axis", int64_t{2}}}),
              Code::kInvalidModel, "axis");
}

}  // namespace hasten::test
