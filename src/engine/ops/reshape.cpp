// https://onnx.ai/onnx/operators/onnx__Reshape.html, opsets 5-21, every dtype. Costs nothing: the
// output is the input under other dims.
#include <algorithm>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

/// The output dims for a target whose elements are numbers or symbols.
Result<Shape> resolve(const OpContext& c, const Shape& in, std::span<const int64_t> target,
                      bool allow_zero) {
  Shape out;
  int64_t minus_at = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    const int64_t t = target[i];
    if (t == -1) {
      if (minus_at >= 0) return c.invalid("shape {} has more than one -1", dims_text(target));
      minus_at = static_cast<int64_t>(i);
      out.push_back(Dim(1));
    } else if (t == 0 && !allow_zero) {
      if (i >= in.size()) {
        return c.invalid("shape {} copies dimension {} of an input of rank {}", dims_text(target),
                         i, in.size());
      }
      out.push_back(in[i]);
    } else if (t < 0 && !Dim::is_symbol_code(t)) {
      return c.invalid("shape {} has the negative dimension {}", dims_text(target), t);
    } else {
      out.push_back(Dim::from_code(t));
    }
  }
  if (minus_at < 0) {
    if (is_known(in) && is_known(out)) {
      HASTEN_TRY(const int64_t have, checked_count(to_dims(in)));
      HASTEN_TRY(const int64_t want, checked_count(to_dims(out)));
      if (have != want) {
        return c.invalid("input {} has {} elements, the target shape {} has {}", shape_text(in),
                         have, shape_text(out), want);
      }
    }
    return out;
  }
  // What -1 stands for: equal symbols on both sides cancel out.
  std::vector<Dim> left(in.begin(), in.end());
  int64_t divisor = 1;
  bool symbolic = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (static_cast<int64_t>(i) == minus_at) continue;
    if (out[i].known()) {
      divisor *= out[i].value();
      continue;
    }
    auto same = std::find(left.begin(), left.end(), out[i]);
    if (same == left.end()) {
      symbolic = true;
    } else {
      left.erase(same);
    }
  }
  int64_t number = 1;
  Dim symbol(1);
  for (Dim d : left) {
    if (d.known()) {
      number *= d.value();
    } else if (symbol == Dim(1)) {
      symbol = d;
    } else {
      symbolic = true;
    }
  }
  Dim& minus = out[static_cast<size_t>(minus_at)];
  if (symbolic) {
    minus = Dim::fresh();
  } else if (!symbol.known()) {
    minus = number == divisor ? symbol : Dim::fresh();
  } else if (divisor == 0) {
    if (number != 0 || allow_zero) {
      return c.invalid("-1 in the shape {} can't be found for the input {}", dims_text(target),
                       shape_text(in));
    }
    minus = Dim(0);
  } else if (number % divisor != 0) {
    return c.invalid("input {} does not divide into the shape {}", shape_text(in),
                     dims_text(target));
  } else {
    minus = Dim(number / divisor);
  }
  return out;
}

Status infer(InferContext& c) {
  const Facts &data = c.in(0), &target = c.in(1);
  if (target.dtype != DType::kI64 && target.dtype != DType::kNone) {
    return c.invalid("the shape has dtype {}, it must be i64", dtype_name(target.dtype));
  }
  if (target.known_value() && data.has_shape) {
    if (target.rank() != 1) return c.invalid("the shape must be 1-D, it is {}", target.text());
    const auto n = static_cast<size_t>(target.value.count());
    HASTEN_TRY(Shape shape, resolve(c, data.shape, {target.value.as<int64_t>(), n},
                                    c.node().attr_int("allowzero", 0) != 0));
    c.set(0, data.dtype, std::move(shape));
  } else if (target.known_shape() && target.rank() == 1 && target.shape[0].value() <= 64) {
    Shape shape(static_cast<size_t>(target.shape[0].value()));
    for (Dim& d : shape) d = Dim::fresh();
    c.set(0, data.dtype, std::move(shape));
  } else {
    c.set_unknown(0, data.dtype);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView &data = c.in(0), &target = c.in(1);
  HASTEN_TRY(const Shape shape, resolve(c, to_shape(data.dims),
                                        {target.as<int64_t>(), static_cast<size_t>(target.count())},
                                        c.node().attr_int("allowzero", 0) != 0));
  HASTEN_TRY(void* out, c.out(0, data.dtype, to_dims(shape)));
  copy_elements(data.dtype, data.data, out, data.count());
  return {};
}

Status lower(LowerContext& c) {
  c.alias(0);
  return {};
}

}  // namespace

std::vector<OpDef> ops_reshape() {
  OpDef old{"", "Reshape", 5, 13, 2, 2, 1, 1, {}, infer, reference, lower};
  old.moves_elements = true;
  OpDef now = old;
  now.since = 14;
  now.until = kLastOpset;
  now.attrs = {"allowzero"};
  return {old, now};
}

}  // namespace hasten
