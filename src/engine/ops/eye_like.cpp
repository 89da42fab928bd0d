// https://onnx.ai/onnx/operators/onnx__EyeLike.html, opsets 9-21, every number and bool.
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

/// The attribute (a number of TensorProto.DataType), or the input's dtype.
Result<DType> dtype_of(const OpContext& c, DType input) {
  if (c.node().find_attr("dtype") == nullptr) return input;
  const int64_t number = c.node().attr_int("dtype", 0);
  const bool fits = number >= 0 && number < 256 && dtype_supported(static_cast<int>(number));
  if (!fits || number == static_cast<int64_t>(DType::kString)) {
    return c.unsupported("dtype {}", fits ? "str" : fmt::format("number {}", number));
  }
  return static_cast<DType>(number);
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const DType dtype, dtype_of(c, x.dtype));
  if (dtype == DType::kString) return c.unsupported("dtype str");
  if (!x.has_shape) {
    c.set(0, dtype, {Dim::fresh(), Dim::fresh()});
    return {};
  }
  if (x.rank() != 2) return c.invalid("the input has rank {}, it must be 2", x.rank());
  c.set(0, dtype, x.shape);
  return {};
}

Status reference(RefContext& c) {
  const Dims& dims = c.in(0).dims;
  HASTEN_TRY(const DType dtype, dtype_of(c, c.in(0).dtype));
  HASTEN_TRY(void* memory, c.out(0, dtype, dims));
  const int64_t k = c.node().attr_int("k", 0);
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::string>) {
      for (int64_t i = 0; i < count_of(dims); ++i) {
        const bool on = i % dims[1] - i / dims[1] == k;
        static_cast<T*>(memory)[i] = Compute<T>::store(typename Compute<T>::type(on));
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_eye_like() {
  return {{"", "EyeLike", 9, kLastOpset, 1, 1, 1, 1, {"dtype", "k"}, infer, reference}};
}

}  // namespace hasten
