#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

Tensor image() {
  std::vector<float> x(16);
  for (size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  return floats({1, 1, 4, 4}, x);
}

OpCase align(int64_t opset, std::vector<float> box, int64_t batch, Attrs attrs = {}) {
  attrs.insert(attrs.end(), {{"output_height", int64_t{2}}, {"output_width", int64_t{2}}});
  return make_case("RoiAlign", opset, {image(), floats({1, 4}, std::move(box)), ints({1}, {batch})},
                   attrs);
}

TEST(RoiAlign, AgreesWithOnnxruntime) {
  const Attrs two = {{"sampling_ratio", int64_t{2}}};
  check_op(align(16, {0, 0, 3, 3}, 0, two), floats({1, 1, 2, 2}, {1.5625f, 3, 7.3125f, 8.75f}), "",
           {1e-6, 0});
  check_op(align(10, {0, 0, 3, 3}, 0), floats({1, 1, 2, 2}, {3.75f, 5.25f, 9.75f, 11.25f}), "",
           {1e-6, 0});
  check_op(
      align(16, {0, 0, 3, 3}, 0, {{"sampling_ratio", int64_t{2}}, {"mode", std::string("max")}}),
      floats({1, 1, 2, 2}, {2.5f, 3.28125f, 7, 7.65625f}), "", {1e-6, 0});
  // A box far larger than the image: the samples outside are zeros, and cost nothing.
  check_op(align(16, {-1, -1, 7, 7}, 0, two), floats({1, 1, 2, 2}, {3.75f, 3, 6.375f, 3.75f}), "",
           {1e-6, 0});
  check_op(align(16, {-5, -5, 9, 9}, 0),
           floats({1, 1, 2, 2}, {0.30612245f, 0.7346939f, 2.0204082f, 2.4489796f}), "", {1e-6, 0});
  check_op(align(16, {-1e6f, -1e6f, 1e6f, 1e6f}, 0), floats({1, 1, 2, 2}, {0, 0, 0, 0}), "",
           {0, 1e-9});
  // Backwards, beside the image, and no number at all.
  check_op(align(16, {3, 3, 0, 0}, 0), floats({1, 1, 2, 2}, {0, 0, 0, 0}));
  check_op(align(16, {90, 90, 93, 93}, 0), floats({1, 1, 2, 2}, {0, 0, 0, 0}));
  check_error(align(16, {0, 0, NAN, 3}, 0), Code::kInvalidModel, "is no box to be sampled");
  check_error(align(16, {0, 0, 3, 1e30f}, 0), Code::kInvalidModel, "is no box to be sampled");
  check_error(align(16, {0, 0, 3, 3}, 1), Code::kInvalidModel, "image 1 of 1");
  check_error(align(16, {0, 0, 3, 3}, 0, {{"sampling_ratio", int64_t{-1}}}), Code::kInvalidModel,
              "sampling_ratio is -1");
  check_error(align(16, {0, 0, 3, 3}, 0, {{"sampling_ratio", int64_t{4097}}}), Code::kInvalidModel,
              "sampling_ratio is 4097");
  check_error(align(16, {0, 0, 3, 3}, 0, {{"mode", std::string("min")}}), Code::kInvalidModel,
              "mode is 'min'");
}

TEST(MaxRoiPool, AgreesWithOnnxruntime) {
  const auto pool = [](std::vector<float> box, Dims shape) {
    return make_case("MaxRoiPool", 7, {image(), floats({1, 5}, std::move(box))},
                     {{"pooled_shape", std::move(shape)}});
  };
  check_op(pool({0, 0, 0, 2, 2}, {2, 2}), floats({1, 1, 2, 2}, {5, 6, 9, 10}));
  check_op(pool({0, 1, 1, 3, 3}, {2, 2}), floats({1, 1, 2, 2}, {10, 11, 14, 15}));
  check_op(pool({0, 9, 9, 9, 9}, {1, 1}), floats({1, 1, 1, 1}, {0}));
  check_error(pool({1, 0, 0, 2, 2}, {2, 2}), Code::kInvalidModel, "image 1 of 1");
  check_error(pool({0, 0, NAN, 2, 2}, {2, 2}), Code::kInvalidModel, "has the number nan");
  check_error(pool({0, 0, 0, 2, 2}, {0, 2}), Code::kInvalidModel, "pooled_shape is [0,2]");
  check_error(pool({0, 0, 0, 2, 2}, {2}), Code::kInvalidModel, "pooled_shape is [2]");
}

TEST(MaxUnpool, PutsElementsBack) {
  const auto unpool = [](std::vector<int64_t> at, Tensor shape, Attrs attrs) {
    attrs.push_back({"kernel_shape", std::vector<int64_t>{2, 2}});
    return make_case(
        "MaxUnpool", 11,
        {floats({1, 1, 1, 2}, {5, 6}), ints({1, 1, 1, 2}, std::move(at)), std::move(shape)}, attrs);
  };
  const Attrs two = {{"strides", std::vector<int64_t>{2, 2}}};
  check_op(unpool({1, 6}, {}, two), floats({1, 1, 2, 4}, {0, 5, 0, 0, 0, 0, 6, 0}));
  check_op(unpool({1, 6}, ints({4}, {1, 1, 2, 5}), two),
           floats({1, 1, 2, 5}, {0, 5, 0, 0, 0, 0, 0, 6, 0, 0}));
  check_error(unpool({1, 8}, {}, two), Code::kInvalidModel, "index 8 is outside [0, 7]");
  check_error(unpool({1, -1}, {}, two), Code::kInvalidModel, "index -1 is outside");
  check_error(unpool({1, 6}, ints({4}, {1, 1, 2, 3}), two), Code::kInvalidModel, "is smaller than");
  check_error(unpool({1, 6}, {}, {{"strides", std::vector<int64_t>{0, 2}}}), Code::kInvalidModel,
              "strides is [0,2]");
}

TEST(NonMaxSuppression, KeepsTheBestOfThoseThatOverlap) {
  const Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 5, 5, 6, 6});
  const auto nms = [&](std::vector<float> scores, int64_t most, float iou, Tensor least = {}) {
    return make_case("NonMaxSuppression", 11,
                     {boxes, floats({1, 1, 3}, std::move(scores)), ints({1}, {most}),
                      floats({}, {iou}), std::move(least)});
  };
  check_op(nms({0.5f, 0.9f, 0.1f}, 3, 0.5f), ints({2, 3}, {0, 0, 1, 0, 0, 2}));
  check_op(nms({0.5f, 0.9f, 0.1f}, 3, 1), ints({3, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 2}));
  check_op(nms({0.5f, 0.9f, 0.1f}, 1, 1), ints({1, 3}, {0, 0, 1}));
  check_op(nms({0.5f, 0.9f, 0.1f}, -1, 1), ints({0, 3}, {}));
  // Strictly above the threshold; equal scores in the order of the boxes; NaN is none.
  check_op(nms({0.5f, NAN, 0.5f}, 3, 0.5f), ints({2, 3}, {0, 0, 0, 0, 0, 2}));
  check_op(nms({0.5f, 0.9f, 0.1f}, 3, 0.5f, floats({}, {0.1f})), ints({1, 3}, {0, 0, 1}));
  check_op(make_case("NonMaxSuppression", 10, {boxes, floats({1, 1, 3}, {1, 2, 3})}),
           ints({0, 3}, {}));
  check_error(nms({1, 2, 3}, 1, 1.5f), Code::kInvalidModel, "iou_threshold is 1.5");
  check_error(make_case("NonMaxSuppression", 10, {boxes, floats({1, 1, 2}, {1, 2})}),
              Code::kInvalidModel, "scores are");
}

}  // namespace
}  // namespace hasten::test
