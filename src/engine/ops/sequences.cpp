#include "engine/ops/sequences.h"

namespace hasten {

Status put(RefContext& c, size_t output, const Tensor& tensor) {
  HASTEN_TRY(void* out, c.out(output, tensor.dtype(), tensor.dims()));
  copy_elements(tensor.dtype(), tensor.data(), out, tensor.count());
  return {};
}

Status check_sequence(const InferContext& c, size_t i) {
  const Facts& f = c.in(i);
  if (f.dtype == DType::kNone || f.dtype == DType::kSequence) return {};
  return c.invalid("input {} is {}, it must be a sequence", i, f.text());
}

Status check_position(const InferContext& c, size_t i) {
  const Facts& f = c.in(i);
  if (f.dtype != DType::kNone && f.dtype != DType::kI32 && f.dtype != DType::kI64) {
    return c.invalid("the position is {}, it must be int32 or int64", f.text());
  }
  if (f.known_shape() && count_of(to_dims(f.shape)) != 1) {
    return c.invalid("the position is {}, it must be one number", f.text());
  }
  return {};
}

void set_like(InferContext& c, const Facts& input) {
  c.set(0, input.dtype, input.shape);
  c.out(0).has_shape = input.has_shape;
  c.out(0).element = input.element;
}

void set_sequence(InferContext& c, DType element, Dim length) {
  c.set(0, DType::kSequence, {length});
  c.out(0).element = element;
}

Result<int64_t> position(const RefContext& c, size_t i, int64_t length, int64_t last) {
  const TensorView& v = c.in(i);
  const int64_t at = v.dtype == DType::kI32 ? *v.as<int32_t>() : *v.as<int64_t>();
  if (at < -length || at > last) {
    return c.invalid("position {} of a sequence of {}: it must be {} to {}", at, length, -length,
                     last);
  }
  return at < 0 ? at + length : at;
}

OpDef sequence_op(const char* name, int since, int until, int min_inputs, int max_inputs,
                  std::vector<const char*> attrs, Status (*infer)(InferContext&),
                  Status (*reference)(RefContext&)) {
  OpDef def{"",    name,     since, until, min_inputs, max_inputs, 1, 1, std::move(attrs),
            infer, reference};
  def.takes_sequences = true;
  return def;
}

}  // namespace hasten
