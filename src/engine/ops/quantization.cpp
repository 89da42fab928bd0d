#include "engine/ops/quantization.h"

namespace hasten {

namespace {

bool is_scalar(const Dims& dims) { return dims.empty() || (dims.size() == 1 && dims[0] == 1); }

/// Element order of the three parts around an axis.
QuantizeWalk around(const Dims& x, size_t axis) {
  QuantizeWalk w;
  for (size_t i = 0; i < x.size(); ++i) {
    (i < axis ? w.outer : i == axis ? w.axis : w.inner) *= x[i];
  }
  return w;
}

Status check_axis(const InferContext& c, size_t rank, int64_t* axis) {
  *axis = c.node().attr_int("axis", 1);
  const auto n = static_cast<int64_t>(rank);
  if (*axis < -n || *axis >= n) {
    return c.invalid("axis is {}, the input has {} dimensions", *axis, rank);
  }
  if (*axis < 0) *axis += n;
  return {};
}

Status check_per_axis(const InferContext& c) {
  const Facts &x = c.in(0), &scale = c.in(1);
  if (!x.has_shape) return {};
  int64_t axis = 0;
  HASTEN_CHECK(check_axis(c, x.rank(), &axis));
  const Dim dim = x.shape[static_cast<size_t>(axis)], scales = scale.shape[0];
  if (dim.known() && scales.known() && dim != scales) {
    return c.invalid("the scale has {} elements, axis {} of the input {}", scales.text(), axis,
                     dim.text());
  }
  return {};
}

Status check_blocks(const InferContext& c, int64_t block) {
  const Facts &x = c.in(0), &scale = c.in(1);
  if (!x.has_shape) return {};
  int64_t axis = 0;
  HASTEN_CHECK(check_axis(c, x.rank(), &axis));
  bool fits = scale.rank() == x.rank();
  for (size_t i = 0; fits && i < x.rank(); ++i) {
    Dim want = x.shape[i];
    if (!want.known() || !scale.shape[i].known()) continue;
    if (static_cast<int64_t>(i) == axis)
      want = Dim(want.value() / block + (want.value() % block != 0));
    fits = want == scale.shape[i];
  }
  if (!fits) {
    return c.invalid("the scale is {}, the input {} with blocks of {} along axis {}", scale.text(),
                     x.text(), block, axis);
  }
  return {};
}

}  // namespace

QuantizeArgs QuantizeWalk::args() const {
  QuantizeArgs a{};
  a.axis = axis;
  a.inner = inner;
  a.block = block;
  a.outer_step = outer_step;
  a.axis_step = axis_step;
  a.inner_step = inner_step;
  return a;
}

bool may_be_scalar(const Facts& f) {
  return !f.has_shape || f.rank() == 0 ||
         (f.rank() == 1 && (!f.shape[0].known() || f.shape[0].value() == 1));
}

Status check_scalar(const InferContext& c, size_t i, const char* name) {
  if (!c.has_in(i) || may_be_scalar(c.in(i))) return {};
  return c.invalid("{} is {}, it must be a scalar", name, c.in(i).text());
}

Status check_quantization(InferContext& c) {
  const Facts &scale = c.in(1), &zero = c.in(2);
  const int64_t block = c.node().attr_int("block_size", 0);
  if (block < 0) return c.invalid("block_size is {}, it must not be negative", block);
  if (c.has_in(2) && scale.has_shape && zero.has_shape) {
    bool same = scale.rank() == zero.rank() || (may_be_scalar(scale) && may_be_scalar(zero));
    for (size_t i = 0; same && i < scale.rank() && i < zero.rank(); ++i) {
      same = !scale.shape[i].known() || !zero.shape[i].known() || scale.shape[i] == zero.shape[i];
    }
    if (!same) {
      return c.invalid("scale is {}, zero point is {}: they must have one shape", scale.text(),
                       zero.text());
    }
  }
  if (!scale.has_shape || scale.rank() == 0) return {};
  const bool one = scale.rank() == 1 && scale.shape[0] == Dim(1);
  if (c.node().version < 13) return check_scalar(c, 1, "scale");
  if (block > 0 && !one) return check_blocks(c, block);
  if (scale.rank() != 1) {
    return c.invalid("scale is {}, without block_size it has at most one dimension", scale.text());
  }
  return one ? Status{} : check_per_axis(c);
}

QuantizeWalk quantize_walk(const OpContext& c, const Dims& x, const Dims& scale) {
  QuantizeWalk w;
  if (is_scalar(scale)) {
    w.inner = count_of(x);
    return w;
  }
  int64_t axis = c.node().attr_int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  w = around(x, static_cast<size_t>(axis));
  const int64_t block = c.node().attr_int("block_size", 0);
  if (block > 0) {
    w.block = block;
    const int64_t blocks = scale[static_cast<size_t>(axis)];
    w.outer_step = blocks * w.inner;
    w.axis_step = w.inner;
    w.inner_step = w.inner > 1;
  } else if (w.inner == 1) {
    std::swap(w.axis, w.inner);  // the scales lie along the elements
    w.inner_step = 1;
  } else {
    w.axis_step = 1;
  }
  return w;
}

Status lower_quantization(LowerContext& c, const char* name, QuantizeKernel kernel, DType floats,
                          DType integers) {
  if (floats != DType::kF32 || c.in(1).dtype != DType::kF32) {
    c.refuse(name,
             fmt::format("{} with a scale of {}", dtype_name(floats), dtype_name(c.in(1).dtype)));
    return {};
  }
  if (c.in(0).layout != Layout::kPlain || c.out(0).layout != Layout::kPlain) {
    c.refuse(name, "only plain layouts");
    return {};
  }
  const QuantizeWalk walk = quantize_walk(c, c.in_dims(0), c.in_dims(1));
  QuantizeArgs args = walk.args();
  args.dtype = static_cast<int>(integers);
  c.flops(static_cast<double>(walk.count()) * 2);
  if (dtype_size(c.in(0).dtype) == dtype_size(c.out(0).dtype)) c.in_place({0});
  c.take(name, [args, kernel, count = walk.count(), zero = c.has_in(2)](const StepArgs& s) {
    QuantizeArgs a = args;
    a.x = s.in[0];
    a.y = s.out[0];
    a.scale = s.input<float>(1);
    a.zero = zero ? s.in[2] : nullptr;
    split_elements(s, count, kCheapGrain,
                   [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
  });
  return {};
}

}  // namespace hasten
