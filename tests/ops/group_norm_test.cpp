#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

constexpr Tolerance kClose{3e-6, 3e-6};

TEST(InstanceNormalization, NormalizesEachPlane) {
  // From onnxruntime.
  check_op(
      make_case("InstanceNormalization", 6,
                {floats({1, 2, 3}, {1, 2, 3, 6, 5, 5}), floats({2}, {1, 2}), floats({2}, {0, 1})}),
      floats({1, 2, 3}, {-1.22473562f, 0, 1.2247355f, 3.82836342f, -0.41418076f, -0.41418076f}),
      "group_norm_f32", kClose);
  for (const Dims& dims : {Dims{2, 5, 7, 9}, Dims{3, 4, 1}, Dims{0, 3, 2}, Dims{2, 0, 4},
                           Dims{2, 3, 0}, Dims{1, 2, 40, 41}}) {
    const Dims channels{dims[1]};
    check_op(
        make_case("InstanceNormalization", 6,
                  {random_floats(dims), random_floats(channels, 2), random_floats(channels, 3)},
                  {{"epsilon", 1e-3f}}),
        "group_norm_f32", kClose);
  }
  check_error(make_case("InstanceNormalization", 6,
                        {random_floats({1, 2, 3}), random_floats({3}), random_floats({2})}),
              Code::kInvalidModel, "scale has 3 elements, it must have 2");
}

TEST(GroupNormalization, ScalesByGroupUntil20AndByChannelSince21) {
  const Tensor x = floats({1, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Attrs two = {{"num_groups", int64_t{2}}};
  // From ONNX's own implementation.
  check_op(make_case("GroupNormalization", 21,
                     {x, floats({4}, {1, 2, 3, 4}), floats({4}, {0, 0, 1, 1})}, two),
           floats({1, 4, 2}, {-1.34163547f, -0.44721183f, 0.89442366f, 2.68327093f, -3.02490616f,
                              -0.34163547f, 2.78884745f, 6.36654186f}),
           "group_norm_f32", kClose);
  check_op(make_case("GroupNormalization", 18, {x, floats({2}, {1, 2}), floats({2}, {0, 1})}, two),
           floats({1, 4, 2}, {-1.34163547f, -0.44721183f, 0.44721183f, 1.34163547f, -1.68327093f,
                              0.10557634f, 1.89442366f, 3.68327093f}),
           "group_norm_f32", kClose);
  check_op(
      make_case("GroupNormalization", 21, {floats({1, 0, 2}, {}), floats({0}, {}), floats({0}, {})},
                {{"num_groups", INT64_MAX}}),
      floats({1, 0, 2}, {}));
  const auto with = [&](Attrs attrs) {
    return make_case("GroupNormalization", 21, {x, random_floats({4}), random_floats({4})}, attrs);
  };
  check_error(with({{"num_groups", int64_t{0}}}), Code::kInvalidModel, "num_groups is 0");
  check_error(with({{"num_groups", int64_t{3}}}), Code::kInvalidModel, "4 channels do not divide");
  check_error(with({{"num_groups", INT64_MIN}}), Code::kInvalidModel, "num_groups is -9");
  check_error(with({{"num_groups", int64_t{2}}, {"stash_type", int64_t{10}}}), Code::kUnsupported,
              "stash_type 10");
  EXPECT_EQ(infer_text("GroupNormalization", 18,
                       {shaped(DType::kF32, {sym("n"), sym("c"), 4}), unshaped(DType::kF32),
                        unshaped(DType::kF32)},
                       two),
            "f32[n,c,4]");
}

TEST(MeanVarianceNormalization, OverTheNamedAxes) {
  // From onnxruntime.
  check_op(make_case("MeanVarianceNormalization", 13, {floats({4}, {1, 2, 3, 6})},
                     {{"axes", std::vector<int64_t>{0}}}),
           floats({4}, {-1.06904495f, -0.53452247f, 0, 1.60356733f}), "", kClose);
  check_op(make_case("MeanVarianceNormalization", 9, {floats({2, 1, 1, 1}, {1, 3})}),
           floats({2, 1, 1, 1}, {-1, 1}), "", kClose);
  check_op(make_case("MeanVarianceNormalization", 9, {floats({2, 0, 1, 1}, {})}), "");
  check_error(make_case("MeanVarianceNormalization", 9, {floats({2}, {1, 3})}), Code::kInvalidModel,
              "axis 2 is outside");
}

TEST(LpNormalization, OneNormAndTwoNorm) {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  const auto norm = [&](int64_t p, int64_t axis) {
    return make_case("LpNormalization", 1, {x}, {{"p", p}, {"axis", axis}});
  };
  check_op(norm(2, -1), floats({2, 2}, {0.6f, -0.8f, 0, 0}), "", kClose);
  check_op(norm(1, 1), floats({2, 2}, {3.0f / 7, -4.0f / 7, 0, 0}), "", kClose);
  check_op(norm(2, 0), floats({2, 2}, {1, -1, 0, 0}), "", kClose);
  check_error(norm(3, 0), Code::kInvalidModel, "p is 3");
  check_error(norm(2, 2), Code::kInvalidModel, "axis 2 is outside");
}

TEST(LRN, SumsOverNeighbouringChannels) {
  const auto lrn = [](const Tensor& x, int64_t size, float alpha, float beta) {
    return make_case("LRN", 13, {x}, {{"size", size}, {"alpha", alpha}, {"beta", beta}});
  };
  // From onnxruntime.
  check_op(lrn(floats({1, 4, 1, 1}, {1, 2, 3, 4}), 3, 3, 0.5f),
           floats({1, 4, 1, 1}, {0.408248276f, 0.516397774f, 0.547722578f, 0.784464598f}),
           "lrn_f32", kClose);
  // An even size reaches further up: 1 / (1 + 1 + 4), 2 / (1 + 4).
  check_op(lrn(floats({1, 2}, {1, 2}), 2, 2, 1), floats({1, 2}, {1.0f / 6, 0.4f}), "lrn_f32",
           kClose);
  check_op(lrn(random_floats({2, 7, 5, 9}), 5, 0.1f, 0.75f), "lrn_f32", kClose);
  check_op(lrn(random_floats({2, 3, 17}), INT64_MAX, 1e9f, 0.75f), "lrn_f32", {1e-5, 1e-6});
  check_op(lrn(random_floats({2, 0, 3}), 5, 0.1f, 0.75f), "lrn_f32");
  check_op(lrn(random_floats({2, 3, 3}), 5, 0.1f, 0), "");
  check_error(lrn(random_floats({2, 3}), 0, 1, 1), Code::kInvalidModel, "size is 0");
}

TEST(Hardmax, OverAllAxesBefore13AndAlongOneSince) {
  const Tensor x = floats({1, 2, 2}, {1, 3, 3, 2});
  check_op(make_case("Hardmax", 11, {x}), floats({1, 2, 2}, {0, 1, 0, 0}));
  check_op(make_case("Hardmax", 13, {x}), floats({1, 2, 2}, {0, 1, 1, 0}));
  check_op(make_case("Hardmax", 13, {x}, {{"axis", int64_t{1}}}), floats({1, 2, 2}, {0, 1, 1, 0}));
  check_op(make_case("Hardmax", 13, {floats({4}, {1, NAN, 5, NAN})}), floats({4}, {0, 1, 0, 0}));
  check_op(make_case("Hardmax", 11, {floats({2, 0}, {})}), floats({2, 0}, {}));
  check_error(make_case("Hardmax", 13, {x}, {{"axis", int64_t{3}}}), Code::kInvalidModel,
              "axis 3 is outside");
}

}  // namespace
}  // namespace hasten::test
