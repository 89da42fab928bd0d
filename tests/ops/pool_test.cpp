// MaxPool, AveragePool, LpPool, GlobalLpPool: plain and blocked kernels against the plain loops.
#include <limits>

#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
using Ints = std::vector<int64_t>;

OpCase blocked(OpCase c) {
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  return c;
}

TEST(Pool, ANanIsTheMaximumOfItsWindows) {
  std::vector<float> x;
  for (int i = 0; i < 16; ++i) x.push_back(static_cast<float>(i));
  x[5] = kNan;
  x[15] = -kInf;
  const Attrs attrs = {{"kernel_shape", Ints{2, 2}}};
  const Tensor want = floats({1, 1, 3, 3}, {kNan, kNan, 7, kNan, kNan, 11, 13, 14, 14});
  const OpCase c = make_case("MaxPool", 12, {floats({1, 1, 4, 4}, x)}, attrs);
  check_op(c, want, "max_pool_f32");
  check_op(blocked(c), want, "max_pool_blocked_f32");
  // Of nothing but -inf the maximum is -inf.
  check_op(make_case("MaxPool", 12, {floats({1, 1, 1, 2}, {-kInf, -kInf})},
                     {{"kernel_shape", Ints{1, 2}}}),
           floats({1, 1, 1, 1}, {-kInf}), "max_pool_f32");
}

TEST(Pool, AveragesCountPaddingOnlyWhenTold) {
  const Tensor x = floats({1, 1, 1, 3}, {3, 6, 9});
  Attrs attrs = {{"kernel_shape", Ints{1, 3}}, {"pads", Ints{0, 1, 0, 1}}};
  check_op(make_case("AveragePool", 11, {x}, attrs), floats({1, 1, 1, 3}, {4.5, 6, 7.5}),
           "average_pool_f32");
  attrs.emplace_back("count_include_pad", int64_t{1});
  check_op(make_case("AveragePool", 11, {x}, attrs), floats({1, 1, 1, 3}, {3, 6, 5}),
           "average_pool_f32");
}

TEST(Pool, WindowsThatTheCeilingAddsCountOnlyWhatIsThere) {
  const Tensor x = floats({1, 1, 1, 4}, {1, 2, 3, 8});
  const Attrs attrs = {
      {"kernel_shape", Ints{1, 3}}, {"strides", Ints{1, 2}}, {"ceil_mode", int64_t{1}}};
  check_op(make_case("AveragePool", 11, {x}, attrs), floats({1, 1, 1, 2}, {2, 5.5}));
  check_op(make_case("MaxPool", 11, {x}, attrs), floats({1, 1, 1, 2}, {3, 8}));
}

TEST(Pool, MaximaOf8BitIntegers) {
  const Attrs attrs = {{"kernel_shape", Ints{2}}};
  check_op(make_case("MaxPool", 12, {numbers(DType::kI8, {1, 1, 3}, {-128, -127, 5})}, attrs),
           numbers(DType::kI8, {1, 1, 2}, {-127, 5}), "max_pool_i8");
  check_op(make_case("MaxPool", 12, {numbers(DType::kU8, {1, 1, 3}, {0, 0, 255})}, attrs),
           numbers(DType::kU8, {1, 1, 2}, {0, 255}), "max_pool_u8");
}

TEST(Pool, IndicesOfTheFirstOfEquals) {
  const Attrs attrs = {{"kernel_shape", Ints{1, 2}}, {"strides", Ints{1, 2}}};
  const auto got = check_op(
      make_case("MaxPool", 12, {floats({1, 2, 1, 4}, {1, 1, 2, 3, 5, 4, 7, 7})}, attrs, 2), "");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(difference(got[1], ints({1, 2, 1, 2}, {0, 3, 4, 6})), "");
}

TEST(Pool, ManyGeometries) {
  int cases = 0;
  for (const int64_t channels : {3, 16, 33}) {
    for (const int64_t kernel : {1, 2, 3}) {
      for (const int64_t stride : {1, 2}) {
        for (const int64_t pad : {int64_t{0}, kernel / 2}) {
          for (const int64_t ceil : {0, 1}) {
            const Attrs attrs = {{"kernel_shape", Ints{kernel, kernel}},
                                 {"strides", Ints{stride, stride}},
                                 {"pads", Ints{pad, pad, 0, pad}},
                                 {"ceil_mode", ceil}};
            Tensor x = random_floats({2, channels, 9, 21}, 5, -2, 2);
            x.mutable_as<float>()[++cases] = kNan;
            for (const char* op : {"MaxPool", "AveragePool"}) {
              const OpCase c = make_case(op, 11, {x}, attrs);
              const bool max = op == std::string("MaxPool");
              check_op(c, max ? "max_pool_f32" : "average_pool_f32", {1e-6, 1e-6});
              check_op(blocked(c), max ? "max_pool_blocked_f32" : "average_pool_blocked_f32",
                       {1e-6, 1e-6});
            }
          }
        }
      }
    }
  }
}

TEST(Pool, LpIsTheRootOfTheSumOfPowers) {
  const Tensor x = floats({1, 1, 1, 3}, {3, -4, 12});
  check_op(make_case("LpPool", 11, {x}, {{"kernel_shape", Ints{1, 2}}, {"p", int64_t{2}}}),
           floats({1, 1, 1, 2}, {5, 12.649111f}), "*", {1e-6, 0});
  check_op(make_case("LpPool", 11, {x}, {{"kernel_shape", Ints{1, 2}}, {"p", int64_t{1}}}),
           floats({1, 1, 1, 2}, {7, 16}));
  check_op(make_case("GlobalLpPool", 2, {x}), floats({1, 1, 1, 1}, {13}), "*", {1e-6, 0});
}

TEST(Pool, RefusesWhatHasNoOutput) {
  const Tensor x = random_floats({1, 1, 3, 3});
  check_error(make_case("MaxPool", 11, {x}, {{"kernel_shape", Ints{4, 1}}}), Code::kInvalidModel,
              "the kernel covers 4 elements");
  check_error(make_case("MaxPool", 11, {x}, {{"kernel_shape", Ints{0, 1}}}), Code::kInvalidModel,
              "kernel_shape");
  check_error(
      make_case("MaxPool", 11, {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}}),
      Code::kInvalidModel, "strides");
}

}  // namespace
}  // namespace hasten::test
