#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase gather(const Tensor& x, const Tensor& indices, int64_t axis) {
  return make_case("Gather", 13, {x, indices}, {{"axis", axis}});
}

TEST(Gather, CountsFromBothEnds) {
  check_op(gather(ints({3}, {1, 2, 3}), ints({2}, {-1, -3}), 0), ints({2}, {3, 1}), "gather");
  check_op(gather(ints({2, 3}, {1, 2, 3, 4, 5, 6}), ints({2, 1}, {2, 0}), 1),
           ints({2, 2, 1}, {3, 1, 6, 4}), "gather");
  check_op(gather(ints({2, 3}, {1, 2, 3, 4, 5, 6}), ints({}, {-1}), 1), ints({2}, {3, 6}), "copy");
}

TEST(Gather, EveryElementAndIndexSize) {
  for (const DType t : {DType::kBool, DType::kF16, DType::kF32, DType::kF64}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      check_op(gather(random_tensor(t, {5, 6, 7}, 0, 100),
                      random_tensor(DType::kI32, {3, 4}, -5, 5), axis),
               "gather");
    }
  }
  check_op(gather(random_floats({1000, 384}), random_tensor(DType::kI64, {2, 64}, -1000, 1000), 0),
           "gather");
  check_op(gather(random_floats({3, 4}), ints({0}, {}), 1), "gather");
}

TEST(Gather, AnIndexOutsideIsAnErrorNotARead) {
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    check_error(gather(ints({3}, {1, 2, 3}), ints({2}, {0, bad}), 0), Code::kInvalidModel,
                "is outside [-3, 2]");
    // Indices that only the kernel sees.
    OpCase c = gather(random_floats({3, 20}), ints({4}, {0, 1, bad, bad}), 0);
    std::vector<Facts> in = {known(c.inputs[0]), shaped(DType::kI64, {Dim(4)})};
    std::vector<const Facts*> pointers = {&in[0], &in[1]};
    const Facts out = shaped(DType::kF32, {Dim(4), Dim(20)});
    PackedStore packed;
    for (const Isa isa : supported_isas()) {
      LowerContext lower(c.node, pointers, {&out, 1}, kernel_table(isa), packed, packed, false);
      ASSERT_TRUE(c.node.def->lower(lower));
      Tensor result = *Tensor::make(DType::kF32, {4, 20});
      const void* ins[] = {c.inputs[0].data(), c.inputs[1].data()};
      void* outs[] = {result.mutable_data()};
      std::atomic<int64_t> fault{0};
      lower.result().run({ins, outs, nullptr, nullptr, &fault});
      EXPECT_EQ(fault.load(), 3) << bad;
      EXPECT_EQ(result.as<float>()[20], c.inputs[0].as<float>()[20]);
    }
  }
}

TEST(Gather, RefusesWhatIsWrong) {
  check_error(gather(ints({}, {1}), ints({}, {0}), 0), Code::kInvalidModel, "axis 0 is outside");
  check_error(gather(ints({1}, {1}), floats({1}, {0}), 0), Code::kInvalidModel,
              "indices has dtype f32");
  check_error(gather(ints({0}, {}), ints({1}, {0}), 0), Code::kInvalidModel, "no elements");
}

TEST(Gather, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("vocabulary"), Dim(384)});
  EXPECT_EQ(infer_text("Gather", 13, {x, shaped(DType::kI64, {sym("batch"), sym("length")})}),
            "f32[batch,length,384]");
  EXPECT_EQ(infer_text("Gather", 13, {known_dims({sym("batch"), Dim(3)}), known(ints({}, {0}))}),
            "i64[] = {batch}");
}

}  // namespace
}  // namespace hasten::test
