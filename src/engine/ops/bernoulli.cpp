// https://onnx.ai/onnx/operators/onnx__Bernoulli.html, opsets 15-21: probabilities f16, f32, f64;
// every number and bool as output.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

namespace {

constexpr DTypes kProbabilities = dtypes({DType::kF16, DType::kF32, DType::kF64});

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kProbabilities));
  HASTEN_CHECK(random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, c.in(0).dtype, kNumbers | kBools));
  if (c.in(0).has_shape) {
    c.set(0, dtype, c.in(0).shape);
  } else {
    c.set_unknown(0, dtype);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const RandomStream stream, random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, x.dtype, kNumbers | kBools));
  std::vector<bool> drawn(static_cast<size_t>(x.count()));
  Status status;
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < drawn.size() && status; ++i) {
      const double p = Compute<T>::load(x.as<T>()[i]);
      if (!(p >= 0 && p <= 1)) status = c.invalid("element {} is {}, not a probability", i, p);
      drawn[i] = stream.uniform(i) < p;
    }
  });
  HASTEN_CHECK(status);
  HASTEN_TRY(void* memory, c.out(0, dtype, x.dims));
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::string>) {
      for (size_t i = 0; i < drawn.size(); ++i) {
        static_cast<T*>(memory)[i] = Compute<T>::store(typename Compute<T>::type(drawn[i]));
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_bernoulli() {
  OpDef def{"", "Bernoulli", 15, kLastOpset, 1, 1, 1, 1, {"dtype", "seed"}, infer, reference};
  def.impure = true;
  return {def};
}

}  // namespace hasten
