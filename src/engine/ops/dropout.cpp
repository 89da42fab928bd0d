// https://onnx.ai/onnx/operators/onnx__Dropout.html, opsets 7-21, every float. Inference drops
// nothing: the output is the input, the mask is ones.
#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

namespace {

constexpr size_t kRatio = 1, kTraining = 2;

DType mask_dtype(const OpContext& c, DType data) {
  return c.node().version < 10 ? data : DType::kBool;
}

bool is_true(const TensorView& t) {
  return t.dtype == DType::kBool && t.count() == 1 && *t.as<bool>();
}

/// The ratio of what is dropped: 0 in inference. Error: not in [0, 1).
Result<double> dropped_ratio(const OpContext& c, const TensorView& ratio,
                             const TensorView& training) {
  if (c.node().version < 12 || !is_true(training)) return 0.0;
  double rate = 0.5;
  dispatch_float(ratio.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (ratio.count() == 1) rate = static_cast<double>(Compute<T>::load(*ratio.as<T>()));
  });
  if (rate >= 0 && rate < 1) return rate;
  return c.invalid("ratio is {}, it must be at least 0 and less than 1", rate);
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (x.dtype != DType::kNone && !is_float(x.dtype)) {
    return c.invalid("dtype {} is not among those of the operator", dtype_name(x.dtype));
  }
  if (c.in(kTraining).known_value() && (!c.has_in(kRatio) || c.in(kRatio).known_value())) {
    HASTEN_CHECK(dropped_ratio(c, c.in(kRatio).value.view(), c.in(kTraining).value.view()));
  }
  HASTEN_CHECK(infer_unary(c));
  if (c.outputs() < 2) return {};
  if (x.has_shape) {
    c.set(1, mask_dtype(c, x.dtype), x.shape);
  } else {
    c.set_unknown(1, mask_dtype(c, x.dtype));
  }
  return {};
}

/// 1 or true.
std::array<char, 8> one_of(DType dtype) {
  std::array<char, 8> bytes{1};
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T one = Compute<T>::store(typename Compute<T>::type(1));
    std::memcpy(bytes.data(), &one, sizeof one);
  });
  return bytes;
}

/// Drops elements and scales those that stay, so that the mean stays.
Status drop(RefContext& c, double ratio) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const RandomStream stream, random_stream(c));
  const auto stays = [&](int64_t i) { return stream.uniform(static_cast<uint64_t>(i)) >= ratio; };
  if (c.has_out(0)) {
    HASTEN_TRY(void* out, c.out(0, x.dtype, x.dims));
    dispatch_float(x.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < x.count(); ++i) {
        const double kept = static_cast<double>(Compute<T>::load(x.as<T>()[i])) / (1 - ratio);
        static_cast<T*>(out)[i] = convert_number<T>(stays(i) ? kept : 0.0);
      }
    });
  }
  if (c.has_out(1)) {
    HASTEN_TRY(void* mask, c.out(1, DType::kBool, x.dims));
    for (int64_t i = 0; i < x.count(); ++i) static_cast<bool*>(mask)[i] = stays(i);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const double ratio, dropped_ratio(c, c.in(kRatio), c.in(kTraining)));
  if (ratio > 0) return drop(c, ratio);
  if (c.has_out(0)) {
    HASTEN_TRY(void* out, c.out(0, x.dtype, x.dims));
    copy_elements(x.dtype, x.data, out, x.count());
  }
  if (c.has_out(1)) {
    const DType dtype = mask_dtype(c, x.dtype);
    HASTEN_TRY(void* mask, c.out(1, dtype, x.dims));
    copy_block(dtype, one_of(dtype).data(), mask, {{x.count()}, {0}, {1}});
  }
  return {};
}

Status lower(LowerContext& c) {
  const Tensor* training = c.constant(kTraining);
  if (c.has_in(kTraining) && training == nullptr) {
    c.refuse("alias", "training_mode known only at run time");
    return {};
  }
  if (training != nullptr && is_true(training->view())) {
    c.refuse("alias", "training_mode");
    return {};
  }
  if (c.in(0).layout != c.out(0).layout) {
    c.refuse("alias", "another layout");
    return {};
  }
  if (!c.has_out(1)) {
    c.alias(0);
    return {};
  }
  if (!plain_numbers(c, "copy")) return {};
  CopyPlan plan;
  const int64_t n = count_of(c.in_dims(0));
  const DType mask = c.out(1).dtype;
  if (c.has_out(0))
    plan.add(0, 0, {{n}, {1}, {1}}, static_cast<int64_t>(dtype_size(c.in(0).dtype)));
  plan.add_fill(one_of(mask).data(), static_cast<int64_t>(dtype_size(mask)), 1, n);
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_dropout() {
  OpDef v7{"", "Dropout", 7, 11, 1, 1, 1, 2, {"ratio"}, infer, reference, lower};
  OpDef v12{"", "Dropout", 12, kLastOpset, 1, 3, 1, 2, {"seed"}, infer, reference, lower};
  v12.impure = true;  // in training
  return {v7, v12};
}

}  // namespace hasten
