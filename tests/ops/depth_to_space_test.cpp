#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase depth_to_space(const Tensor& x, int64_t block, const std::string& mode) {
  return make_case("DepthToSpace", 13, {x}, {{"blocksize", block}, {"mode", mode}});
}

TEST(DepthToSpace, BothModes) {
  std::vector<int64_t> values(8);
  for (int64_t i = 0; i < 8; ++i) values[static_cast<size_t>(i)] = i;
  const Tensor x = ints({1, 8, 1, 1}, values);
  check_op(depth_to_space(x, 2, "DCR"), ints({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}), "transpose");
  check_op(depth_to_space(x, 2, "CRD"), ints({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  check_op(make_case("SpaceToDepth", 13, {ints({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})},
                     {{"blocksize", int64_t{2}}}),
           x);
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
    check_op(depth_to_space(random_tensor(t, {2, 36, 5, 7}, 0, 90), 3, "CRD"));
    check_op(depth_to_space(random_tensor(t, {2, 36, 5, 7}, 0, 90), 3, "DCR"));
    check_op(make_case("SpaceToDepth", 1, {random_tensor(t, {2, 3, 6, 8}, 0, 90)},
                       {{"blocksize", int64_t{2}}}));
  }
}

TEST(DepthToSpace, RefusesWhatIsWrong) {
  check_error(depth_to_space(random_floats({1, 6, 1, 1}), 2, "DCR"), Code::kInvalidModel,
              "6 channels are not a multiple of 4");
  check_error(depth_to_space(random_floats({1, 6, 1, 1}), 0, "DCR"), Code::kInvalidModel,
              "blocksize 0");
  check_error(depth_to_space(random_floats({1, 6, 1}), 1, "DCR"), Code::kInvalidModel, "rank 3");
  check_error(depth_to_space(random_floats({1, 4, 1, 1}), 2, "X"), Code::kInvalidModel, "mode 'X'");
  EXPECT_EQ(
      infer_text("DepthToSpace", 13, {shaped(DType::kF32, {sym("n"), Dim(8), sym("h"), Dim(3)})},
                 {{"blocksize", int64_t{2}}}),
      "f32[n,2,?,6]");
}

}  // namespace
}  // namespace hasten::test
