#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

Tensor ramp(Dims dims) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return floats(std::move(dims), values);
}

OpCase by_sizes(const Tensor& x, std::vector<int64_t> sizes, Attrs attrs, int64_t opset = 19) {
  const auto n = static_cast<int64_t>(sizes.size());
  return make_case("Resize", opset, {x, {}, {}, ints({n}, std::move(sizes))}, std::move(attrs));
}
OpCase by_scales(const Tensor& x, std::vector<float> scales, Attrs attrs, int64_t opset = 19) {
  const auto n = static_cast<int64_t>(scales.size());
  return make_case("Resize", opset, {x, {}, floats({n}, std::move(scales))}, std::move(attrs));
}

const Tolerance kClose{1e-5, 1e-5};

TEST(Resize, NearestTies) {
  const Tensor x = ramp({1, 1, 20});
  for (const char* transform : {"half_pixel", "pytorch_half_pixel"}) {
    const auto attrs = [&](const char* rounding) -> Attrs {
      return {{"nearest_mode", std::string(rounding)},
              {"coordinate_transformation_mode", std::string(transform)}};
    };
    const Tensor ceil = floats({1, 1, 6}, {1, 5, 8, 11, 15, 18});
    const Tensor floor = floats({1, 1, 6}, {1, 4, 8, 11, 14, 18});
    check_op(by_sizes(x, {1, 1, 6}, attrs("round_prefer_ceil")), ceil, "map_axes");
    check_op(by_sizes(x, {1, 1, 6}, attrs("round_prefer_floor")), floor, "map_axes");
    check_op(by_scales(x, {1, 1, 0.3f}, attrs("round_prefer_ceil")), ceil, "map_axes");
    check_op(by_scales(x, {1, 1, 0.3f}, attrs("round_prefer_floor")), floor, "map_axes");
  }
}

TEST(Resize, AxesOfOneScaleStay) {
  const OpCase c = make_case(
      "Resize", 11, {ramp({2, 2, 2, 1}), floats({0}, {}), floats({0}, {}), ints({4}, {2, 2, 4, 1})},
      {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")},
       {"nearest_mode", std::string("ceil")}});
  check_op(c, floats({2, 2, 4, 1}, {1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7}), "map_axes");
}

TEST(Resize, CubicToOneElement) {
  check_op(by_sizes(floats({4}, {1, 2, 3, 4}), {1},
                    {{"mode", std::string("cubic")},
                     {"coordinate_transformation_mode", std::string("pytorch_half_pixel")}}),
           floats({1}, {1}), "resample_f32", kClose);
}

// Expected values of the ONNX node tests of these names.
TEST(Resize, NodeTests) {
  const Tensor x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  check_op(by_scales(x, {1, 1, 0.6f, 0.6f}, {{"mode", std::string("linear")}}),
           floats({1, 1, 1, 2}, {2.6666665f, 4.3333331f}), "resample_f32", kClose);
  check_op(by_scales(x, {1, 1, 0.6f, 0.6f},
                     {{"mode", std::string("linear")},
                      {"coordinate_transformation_mode", std::string("align_corners")}}),
           floats({1, 1, 1, 2}, {1, 3.142857f}), "resample_f32", kClose);
  check_op(by_scales(floats({1, 1, 2, 2}, {1, 2, 3, 4}), {1, 1, 2, 2},
                     {{"mode", std::string("linear")}}),
           floats({1, 1, 4, 4}, {1, 1.25f, 1.75f, 2, 1.5f, 1.75f, 2.25f, 2.5f, 2.5f, 2.75f, 3.25f,
                                 3.5f, 3, 3.25f, 3.75f, 4}),
           "resample_f32", kClose);
  const OpCase antialias = by_scales(ramp({1, 1, 4, 4}), {1, 1, 0.6f, 0.6f},
                                     {{"mode", std::string("linear")}, {"antialias", int64_t{1}}});
  // resize_downsample_scales_linear_antialias counts from 1.
  check_op(antialias, floats({1, 1, 2, 2}, {1.875f, 3.5f, 8.375f, 10}), "resample_f32", kClose);
}

TEST(Resize, CropsAndExtrapolates) {
  const OpCase c = make_case(
      "Resize", 13, {ramp({1, 5}), floats({4}, {0, -0.25f, 1, 1.25f}), {}, ints({2}, {1, 7})},
      {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
       {"extrapolation_value", 9.0f}});
  check_op(c, floats({1, 7}, {9, 0, 1, 2, 3, 4, 9}), "map_axes");
}

TEST(Resize, KeepsTheAspectRatio) {
  const Tensor x = ramp({1, 1, 2, 4});
  const auto attrs = [](const char* policy) -> Attrs {
    return {{"keep_aspect_ratio_policy", std::string(policy)},
            {"axes", std::vector<int64_t>{3, 2}}};
  };
  check_op(by_sizes(x, {8, 7}, attrs("not_larger")),
           floats({1, 1, 4, 8}, {0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3,
                                 4, 4, 5, 5, 6, 6, 7, 7, 4, 4, 5, 5, 6, 6, 7, 7}),
           "map_axes");
  EXPECT_EQ(check_op(by_sizes(x, {8, 7}, attrs("not_smaller")))[0].dims(), (Dims{1, 1, 7, 14}));
}

TEST(Resize, BeforeOpset11) {
  const Tensor x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  // The example of the opset's documentation.
  check_op(make_case("Resize", 10, {x, floats({4}, {1, 1, 0.6f, 0.6f})}),
           floats({1, 1, 1, 2}, {1, 3}), "map_axes");
}

TEST(Resize, KernelsEqualTheReference) {
  const auto name = [](const char* s) { return std::string(s); };
  for (const char* transform : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                "align_corners", "asymmetric", "tf_half_pixel_for_nn"}) {
    for (const auto& [h, w] : {std::pair<int64_t, int64_t>{14, 22}, {3, 5}, {7, 33}, {1, 1}}) {
      for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        check_op(by_sizes(random_floats({2, 3, 7, 11}), {2, 3, h, w},
                          {{"coordinate_transformation_mode", name(transform)},
                           {"nearest_mode", name(rounding)}}));
      }
      for (const char* mode : {"linear", "cubic"}) {
        for (const int64_t flag : {0, 1}) {
          check_op(by_sizes(random_floats({2, 3, 7, 11}), {2, 3, h, w},
                            {{"coordinate_transformation_mode", name(transform)},
                             {"mode", name(mode)},
                             {"exclude_outside", flag},
                             {"antialias", flag}}),
                   "*", kClose);
        }
      }
    }
  }
}

TEST(Resize, EveryElementSize) {
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
    check_op(by_sizes(random_tensor(t, {1, 2, 5, 6}, 0, 90), {1, 2, 10, 12},
                      {{"coordinate_transformation_mode", std::string("asymmetric")},
                       {"nearest_mode", std::string("floor")}}),
             "map_axes");
    check_op(by_sizes(random_tensor(t, {1, 2, 5, 6}, 0, 90), {1, 2, 9, 4},
                      {{"mode", std::string("linear")}}),
             t == DType::kF32 ? "resample_f32" : "", kClose);
  }
}

TEST(Resize, OfBlockedPixels) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    OpCase c =
        by_sizes(random_floats({2, 20, 4, 5}), {2, 20, 8, 10}, {{"mode", std::string(mode)}});
    c.in_layouts = {Layout::kNchw16c};
    c.out_layout = Layout::kNchw16c;
    check_op(c, std::string(mode) == "nearest" ? "map_axes" : "resample_f32", kClose);
  }
}

TEST(Resize, RefusesWhatIsWrong) {
  const Tensor x = ramp({1, 4});
  check_error(by_sizes(x, {1}, {}), Code::kInvalidModel, "1 sizes for 2 axes");
  check_error(by_sizes(x, {1, -1}, {}), Code::kInvalidModel, "size -1 of axis 1");
  check_error(by_scales(x, {1, 0}, {}), Code::kInvalidModel, "scale 0 of axis 1");
  check_error(by_scales(x, {1, NAN}, {}), Code::kInvalidModel, "is not positive");
  check_error(by_scales(x, {1, 1e30f}, {}), Code::kInvalidModel, "too long");
  check_error(make_case("Resize", 13, {x}), Code::kInvalidModel, "neither");
  check_error(make_case("Resize", 13, {x, {}, floats({2}, {1, 1}), ints({2}, {1, 1})}),
              Code::kInvalidModel, "both");
  check_error(by_sizes(ramp({1, 0}), {1, 2}, {}), Code::kInvalidModel, "no elements");
  check_error(by_sizes(x, {1, 2}, {{"mode", std::string("bilinear")}}), Code::kInvalidModel,
              "'mode' is 'bilinear'");
  check_error(
      by_sizes(x, {1, 2}, {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
      Code::kInvalidModel, "roi of 4 numbers");
}

TEST(Resize, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("batch"), Dim(3), sym("h"), Dim(8)});
  EXPECT_EQ(infer_text("Resize", 13, {x, {}, known(floats({4}, {1, 1, 2, 2}))}),
            "f32[batch,3,?,16]");
  EXPECT_EQ(infer_text("Resize", 13, {x, {}, {}, known_dims({sym("batch"), 3, 5, sym("w")})}),
            "f32[batch,3,5,w]");
  EXPECT_EQ(infer_text("Resize", 13, {x, {}, {}, shaped(DType::kI64, {Dim(4)})}), "f32[?,?,?,?]");
}

}  // namespace
}  // namespace hasten::test
