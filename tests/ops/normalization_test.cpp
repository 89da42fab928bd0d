#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{2e-6, 2e-6};

std::vector<Tensor> batch_norm_inputs(const Tensor& x) {
  const int64_t channels = x.dims().size() > 1 ? x.dims()[1] : 1;
  return {x, random_floats({channels}, 2), random_floats({channels}, 3),
          random_floats({channels}, 4), random_floats({channels}, 5, 0.1, 3)};
}

}  // namespace

TEST(BatchNormalization, NormalizesByChannel) {
  for (const Dims& dims : {Dims{2, 3, 4, 5}, Dims{4, 37}, Dims{2, 16, 7, 7}, Dims{1, 5, 9}, Dims{5},
                           Dims{0, 3, 2, 2}, Dims{2, 3, 2, 2, 3}}) {
    for (const int64_t opset : {7, 9, 14, 15}) {
      check_op(make_case("BatchNormalization", opset, batch_norm_inputs(random_floats(dims, 1)),
                         {{"epsilon", 1e-3f}}),
               "scale_shift_f32", kClose);
    }
  }
}

TEST(BatchNormalization, TakesBlockedLayout) {
  for (const int64_t channels : {16, 35}) {
    OpCase c = make_case("BatchNormalization", 15,
                         batch_norm_inputs(random_floats({2, channels, 3, 5}, 1)));
    c.in_layouts = {Layout::kNchw16c};
    c.out_layout = Layout::kNchw16c;
    EXPECT_FALSE(check_op(c, "scale_shift_f32", kClose).empty());
  }
}

TEST(BatchNormalization, TrainsOnTheReference) {
  // From numpy: mean 2.5, variance 1.25 of 1..4; momentum 0.9.
  OpCase c = make_case("BatchNormalization", 15,
                       {floats({4, 1}, {1, 2, 3, 4}), floats({1}, {2}), floats({1}, {1}),
                        floats({1}, {0}), floats({1}, {1})},
                       {{"training_mode", int64_t{1}}, {"epsilon", 0.0f}}, 3);
  const auto got = check_op(c, "");
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(difference(got[0], floats({4, 1}, {-1.6832816f, 0.10557281f, 1.8944272f, 3.6832816f}),
                       kClose),
            "");
  EXPECT_EQ(difference(got[1], floats({1}, {0.25f}), kClose), "");
  EXPECT_EQ(difference(got[2], floats({1}, {1.025f}), kClose), "");
}

TEST(BatchNormalization, RefusesWhatIsWrongOrMissing) {
  const Tensor x = random_floats({2, 3, 4});
  auto inputs = batch_norm_inputs(x);
  inputs[2] = random_floats({4});
  check_error(make_case("BatchNormalization", 15, inputs), Code::kInvalidModel,
              "B has 4 elements, X has 3 channels");
  check_error(make_case("BatchNormalization", 7, batch_norm_inputs(x), {{"spatial", int64_t{0}}}),
              Code::kUnsupported, "spatial = 0");
  check_error(make_case("BatchNormalization", 9, batch_norm_inputs(x), {}, 3), Code::kUnsupported,
              "training (output 1)");
}

TEST(LayerNormalization, NormalizesRows) {
  for (const Dims& dims :
       {Dims{3, 64}, Dims{2, 5, 37}, Dims{1, 1}, Dims{2, 3, 4, 130}, Dims{0, 5}}) {
    const auto rank = static_cast<int64_t>(dims.size());
    for (int64_t axis = -rank; axis < rank; ++axis) {
      const auto from = static_cast<size_t>(axis < 0 ? axis + rank : axis);
      const Dims row(dims.begin() + static_cast<int64_t>(from), dims.end());
      // Without elements there is nothing for the kernel; the reference gives the means.
      const std::string kernel = count_of(dims) == 0 ? "" : "layer_norm_f32";
      SCOPED_TRACE(fmt::format("{} axis {}", dims_text(dims), axis));
      const Tensor x = random_floats(dims, 1), scale = random_floats(row, 2),
                   shift = random_floats(row, 3);
      check_op(make_case("LayerNormalization", 17, {x, scale, shift}, {{"axis", axis}}, 3), kernel,
               {1e-5, 1e-5});
      check_op(make_case("LayerNormalization", 17, {x, scale}, {{"axis", axis}}), kernel,
               {1e-5, 1e-5});
    }
  }
  // One factor for all elements: on the reference.
  check_op(make_case("LayerNormalization", 17, {random_floats({3, 8}), floats({1}, {2})}), "");
}

TEST(LayerNormalization, RefusesWhatDoesNotFit) {
  check_error(make_case("LayerNormalization", 17, {random_floats({2, 8}), random_floats({7})}),
              Code::kInvalidModel, "Scale [7] does not broadcast to X [2,8]");
  check_error(make_case("LayerNormalization", 17, {random_floats({2, 8}), random_floats({8})},
                        {{"stash_type", int64_t{16}}}),
              Code::kUnsupported, "stash_type 16");
}

}  // namespace hasten::test
