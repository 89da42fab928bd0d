#include "engine/ops/softmax_rows.h"

#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

bool flattens(const OpContext& c) { return c.node().def->since < 13; }

}  // namespace

Result<size_t> softmax_axis(const OpContext& c, size_t rank) {
  const int64_t axis = c.node().attr_int("axis", flattens(c) ? 1 : -1);
  if (flattens(c) && axis == static_cast<int64_t>(rank)) return rank;
  if (rank == 0 && (axis == 0 || axis == -1)) return size_t{0};
  return resolve_axis(c, axis, rank);
}

SoftmaxExtent softmax_extent(const OpContext& c, std::span<const int64_t> dims, size_t axis) {
  SoftmaxExtent e;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d < axis) {
      e.outer *= dims[d];
    } else if (d == axis || flattens(c)) {
      e.n *= dims[d];
    } else {
      e.inner *= dims[d];
    }
  }
  // By the place of the axis, not by sizes: the order of a sum must not depend on a batch.
  e.along_rows = flattens(c) || axis + 1 >= dims.size();
  return e;
}

namespace {

Status infer(InferContext& c) {
  if (c.in(0).has_shape) {
    HASTEN_TRY([[maybe_unused]] const size_t axis, softmax_axis(c, c.in(0).rank()));
  }
  return infer_unary(c, kFloats);
}

template <bool kLog>
Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const size_t axis, softmax_axis(c, x.dims.size()));
  const SoftmaxExtent e = softmax_extent(c, x.dims, axis);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const bool known = dispatch_float(x.dtype, [&](auto t) {
    using T = decltype(t);
    using C = typename Compute<T>::type;
    for (int64_t row = 0; row < e.outer * e.inner; ++row) {
      const int64_t base = row / e.inner * e.n * e.inner + row % e.inner;
      const auto at = [&](int64_t i) {
        return static_cast<double>(Compute<T>::load(x.as<T>()[base + i * e.inner]));
      };
      double largest = -HUGE_VAL, sum = 0;
      for (int64_t i = 0; i < e.n; ++i) {
        if (largest < at(i) || std::isnan(at(i))) largest = at(i);
      }
      for (int64_t i = 0; i < e.n; ++i) sum += std::exp(at(i) - largest);
      for (int64_t i = 0; i < e.n; ++i) {
        const double y = kLog ? at(i) - largest - std::log(sum) : std::exp(at(i) - largest) / sum;
        static_cast<T*>(memory)[base + i * e.inner] = Compute<T>::store(static_cast<C>(y));
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

template <bool kLog>
Status lower(LowerContext& c) {
  const char* name = "softmax_f32";
  if (!plain_f32(c, name)) return {};
  const Dims dims = c.in_dims(0);
  HASTEN_TRY(const size_t axis, softmax_axis(c, dims.size()));
  const SoftmaxExtent e = softmax_extent(c, dims, axis);
  const int64_t items = e.along_rows ? e.outer : e.outer * ((e.inner + 15) / 16);
  const int64_t work = std::max<int64_t>(e.n * (e.along_rows ? 1 : 16), 1);
  const int64_t grain = std::max<int64_t>(kCostlyGrain / work, 1);
  c.flops(static_cast<double>(count_of(dims)) * 20);
  c.in_place({0});
  c.take(name, [e, grain, items = e.n == 0 ? 0 : items,
                kernel = c.kernels().softmax_f32](const StepArgs& s) {
    const SoftmaxArgs args{s.input<float>(0), s.output<float>(0), e.n, e.inner, e.along_rows, kLog};
    s.parallel(items, grain, [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> softmax_rows(const char* name, bool log) {
  OpDef old{"", name, 1, 12, 1, 1, 1, 1, {"axis"}, infer, reference<false>, lower<false>};
  if (log) {
    old.reference = reference<true>;
    old.lower = lower<true>;
  }
  OpDef now = old;
  now.since = 13;
  now.until = kLastOpset;
  return {old, now};
}

}  // namespace hasten
