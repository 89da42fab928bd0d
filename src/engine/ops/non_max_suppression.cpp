// https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html, opsets 10-21, f32. How many boxes
// are selected depends on the elements. A score must be above the threshold, an overlap too, as
// peers have it; of equal scores the first box goes first; a NaN is no score.
#include <algorithm>
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &boxes = c.in(0), &scores = c.in(1);
  for (const size_t i : {0, 1, 3, 4}) HASTEN_CHECK(check_dtype(c, i, dtypes({DType::kF32})));
  HASTEN_CHECK(check_int_operand(c, c.in(2), "max_output_boxes_per_class", false));
  for (size_t i = 2; i < 5; ++i) {
    if (c.in(i).known_shape() && count_of(to_dims(c.in(i).shape)) != 1) {
      return c.invalid("input {} has the shape {}, it must be one number", i,
                       shape_text(c.in(i).shape));
    }
  }
  const int64_t center = c.node().attr_int("center_point_box", 0);
  if (center != 0 && center != 1) return c.invalid("center_point_box is {}, not 0 or 1", center);
  if (boxes.has_shape &&
      (boxes.rank() != 3 || (boxes.shape[2].known() && boxes.shape[2] != Dim(4)))) {
    return c.invalid("boxes are {}, they must be [batches,boxes,4]", boxes.text());
  }
  if (scores.has_shape && scores.rank() != 3) {
    return c.invalid("scores are {}, they must be [batches,classes,boxes]", scores.text());
  }
  if (boxes.has_shape && scores.has_shape) {
    const auto differ = [](Dim a, Dim b) { return a.known() && b.known() && !(a == b); };
    if (differ(boxes.shape[0], scores.shape[0]) || differ(boxes.shape[1], scores.shape[2])) {
      return c.invalid("scores are {}, boxes {}", scores.text(), boxes.text());
    }
  }
  c.set(0, DType::kI64, {Dim::fresh(), Dim(3)});
  return {};
}

struct Box {
  float left, right, top, bottom;
  float area() const { return (right - left) * (bottom - top); }
};

Box box_at(const float* p, bool center) {
  if (center) {
    const float w = p[2] / 2, h = p[3] / 2;
    return {p[0] - w, p[0] + w, p[1] - h, p[1] + h};
  }
  return {std::min(p[1], p[3]), std::max(p[1], p[3]), std::min(p[0], p[2]), std::max(p[0], p[2])};
}

bool overlap(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float shared = width * height, all = a.area() + b.area() - shared;
  return shared > 0 && a.area() > 0 && b.area() > 0 && all > 0 && shared / all > threshold;
}

Status reference(RefContext& c) {
  const TensorView &boxes = c.in(0), &scores = c.in(1);
  const int64_t batches = scores.dims[0], classes = scores.dims[1], count = scores.dims[2];
  const int64_t most = c.has_in(2) ? *c.in(2).as<int64_t>() : 0;
  const float iou = c.has_in(3) ? *c.in(3).as<float>() : 0;
  if (!(iou >= 0 && iou <= 1)) return c.invalid("iou_threshold is {}, not within [0, 1]", iou);
  const float least = c.has_in(4) ? *c.in(4).as<float>() : -HUGE_VALF;
  const bool center = c.node().attr_int("center_point_box", 0) == 1;
  std::vector<int64_t> selected;
  const int64_t rows = count == 0 ? 0 : batches * classes;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t batch = row / classes;
    const float* score = scores.as<float>() + row * count;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (c.has_in(4) ? score[i] > least : !std::isnan(score[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return score[a] > score[b]; });
    std::vector<Box> kept;
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) >= most) break;
      const Box box = box_at(boxes.as<float>() + (batch * count + i) * 4, center);
      const bool hidden =
          std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return overlap(box, k, iou); });
      if (hidden) continue;
      kept.push_back(box);
      selected.insert(selected.end(), {batch, row % classes, i});
    }
  }
  HASTEN_TRY(void* memory, c.out(0, DType::kI64, {static_cast<int64_t>(selected.size()) / 3, 3}));
  std::copy(selected.begin(), selected.end(), static_cast<int64_t*>(memory));
  return {};
}

}  // namespace

std::vector<OpDef> ops_non_max_suppression() {
  return {{"",
           "NonMaxSuppression",
           10,
           kLastOpset,
           2,
           5,
           1,
           1,
           {"center_point_box"},
           infer,
           reference}};
}

}  // namespace hasten
