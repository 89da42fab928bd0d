#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Identity, IsAnAlias) {
  for (const DType t : {DType::kF32, DType::kBool, DType::kU64}) {
    const Tensor x = random_tensor(t, {2, 3}, 0, 9);
    check_op(make_case("Identity", 16, {x}), x, "alias");
  }
  Tensor text = *Tensor::make(DType::kString, {1});
  text.mutable_as<std::string>()[0] = "a";
  check_op(make_case("Identity", 1, {text}), text, "alias");
  EXPECT_EQ(infer_text("Identity", 13, {known_dims({sym("batch")})}), "i64[1] = {batch}");
}

}  // namespace
}  // namespace hasten::test
