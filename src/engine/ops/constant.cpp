// https://onnx.ai/onnx/operators/onnx__Constant.html, opsets 1-21, every dtype; no sparse tensors.
#include <algorithm>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

template <class T>
Tensor list_of(DType dtype, std::span<const T> values, bool scalar) {
  return Tensor::of<T>(dtype, scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())}, values);
}

/// The tensor that exactly one attribute holds.
Result<Tensor> value_of(const OpContext& c) {
  if (c.node().find_attr("sparse_value") != nullptr) return c.unsupported("sparse tensors");
  if (c.node().attrs.size() != 1) {
    return c.invalid("{} attributes, exactly one must be given", c.node().attrs.size());
  }
  const auto& [name, attr] = c.node().attrs[0];
  if (name == "value") {
    if (const auto* x = std::get_if<Tensor>(&attr); x != nullptr && !x->empty()) return *x;
  } else if (name == "value_int") {
    if (const auto* x = std::get_if<int64_t>(&attr))
      return list_of<int64_t>(DType::kI64, {x, 1}, true);
  } else if (name == "value_float") {
    if (const auto* x = std::get_if<float>(&attr)) return list_of<float>(DType::kF32, {x, 1}, true);
  } else if (name == "value_string") {
    if (const auto* x = std::get_if<std::string>(&attr)) {
      return list_of<std::string>(DType::kString, {x, 1}, true);
    }
  } else if (name == "value_ints") {
    if (const auto* x = std::get_if<std::vector<int64_t>>(&attr)) {
      return list_of<int64_t>(DType::kI64, *x, false);
    }
  } else if (name == "value_floats") {
    if (const auto* x = std::get_if<std::vector<float>>(&attr)) {
      return list_of<float>(DType::kF32, *x, false);
    }
  } else if (name == "value_strings") {
    if (const auto* x = std::get_if<std::vector<std::string>>(&attr)) {
      return list_of<std::string>(DType::kString, *x, false);
    }
  }
  return c.invalid("attribute '{}' has the wrong type", name);
}

Status infer(InferContext& c) {
  HASTEN_TRY(Tensor value, value_of(c));
  c.set(0, value.dtype(), to_shape(value.dims()));
  c.out(0).value = std::move(value);
  c.out(0).constant = true;
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Tensor value, value_of(c));
  HASTEN_TRY(void* out, c.out(0, value.dtype(), value.dims()));
  copy_elements(value.dtype(), value.data(), out, value.count());
  return {};
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Tensor value, value_of(c));
  if (value.dtype() == DType::kString) {
    c.refuse("constant", "strings");
    return {};
  }
  c.take("constant", [value](const StepArgs& s) {
    copy_elements(value.dtype(), value.data(), s.output<void>(0), value.count());
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_constant() {
  OpDef v1{"", "Constant", 1, 10, 0, 0, 1, 1, {"value"}, infer, reference, lower};
  OpDef v11 = v1;
  v11.since = v11.until = 11;
  v11.attrs = {"value", "sparse_value"};
  OpDef v12 = v1;
  v12.since = 12;
  v12.until = kLastOpset;
  v12.attrs = {"value",       "sparse_value", "value_int",    "value_ints",
               "value_float", "value_floats", "value_string", "value_strings"};
  return {v1, v11, v12};
}

}  // namespace hasten
