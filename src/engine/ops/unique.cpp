// https://onnx.ai/onnx/operators/onnx__Unique.html, opsets 11-21, every dtype. How many there are
// depends on the elements. NaN equals NaN and comes last.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/moves.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  const bool flat = c.node().find_attr("axis") == nullptr;
  c.set_unknown(0, x.dtype);
  if (x.has_shape) {
    Shape shape{Dim::fresh()};
    if (!flat) {
      HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
      shape = x.shape;
      shape[axis] = Dim::fresh();
    }
    c.set(0, x.dtype, std::move(shape));
  }
  for (size_t i = 1; i < 4; ++i) c.set(i, DType::kI64, {Dim::fresh()});
  return {};
}

/// -1, 0, 1
template <class T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return compare(to_float(a), to_float(b));
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
    }
    return a < b ? -1 : b < a ? 1 : 0;
  }
}

/// What the four outputs are made of.
struct Groups {
  std::vector<int64_t> first;    // of each distinct slice, in the order of the output
  std::vector<int64_t> inverse;  // group of each slice
  std::vector<int64_t> counts;
};

/// Groups equal slices; less(a, b) is a strict order of slice numbers.
template <class Less>
Groups group(int64_t n, bool sorted, const Less& less) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  Groups g;
  g.inverse.resize(static_cast<size_t>(n));
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || less(order[i - 1], order[i])) {
      g.first.push_back(order[i]);
      g.counts.push_back(0);
    }
    g.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(g.first.size()) - 1;
    ++g.counts.back();
  }
  if (sorted) return g;
  // In the order in which they first appear.
  std::vector<size_t> by_first(g.first.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::sort(by_first.begin(), by_first.end(),
            [&](size_t a, size_t b) { return g.first[a] < g.first[b]; });
  Groups out;
  std::vector<int64_t> position(g.first.size());
  for (size_t i = 0; i < by_first.size(); ++i) {
    position[by_first[i]] = static_cast<int64_t>(i);
    out.first.push_back(g.first[by_first[i]]);
    out.counts.push_back(g.counts[by_first[i]]);
  }
  for (int64_t i : g.inverse) out.inverse.push_back(position[static_cast<size_t>(i)]);
  return out;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const bool flat = c.node().find_attr("axis") == nullptr;
  const Dims dims = flat ? Dims{x.count()} : x.dims;
  size_t axis = 0;
  if (!flat) {
    HASTEN_TRY(axis, resolve_axis(c, c.node().attr_int("axis", 0), dims.size()));
  }
  const std::span<const int64_t> all(dims);
  const int64_t outer = count_of(all.first(axis)), n = all[axis];
  const int64_t inner = count_of(all.subspan(axis + 1));
  Groups g;
  dispatch_any(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    g = group(n, c.node().attr_int("sorted", 1) != 0, [&](int64_t a, int64_t b) {
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          const int order =
              compare(x.as<T>()[(o * n + a) * inner + i], x.as<T>()[(o * n + b) * inner + i]);
          if (order != 0) return order < 0;
        }
      }
      return false;
    });
  });
  if (c.has_out(0)) {
    std::vector<AxisMap> maps;
    for (int64_t d : dims) maps.push_back(identity_map(d));
    maps[axis] = g.first;
    Dims out_dims = dims;
    out_dims[axis] = static_cast<int64_t>(g.first.size());
    HASTEN_TRY(void* out, c.out(0, x.dtype, out_dims));
    map_block(x.dtype, x.data, dims, maps, nullptr, out);
  }
  const std::vector<int64_t>* lists[] = {&g.first, &g.inverse, &g.counts};
  for (size_t i = 0; i < 3; ++i) {
    if (!c.has_out(i + 1)) continue;
    HASTEN_TRY(void* out, c.out(i + 1, DType::kI64, {static_cast<int64_t>(lists[i]->size())}));
    std::copy(lists[i]->begin(), lists[i]->end(), static_cast<int64_t*>(out));
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_unique() {
  return {{"", "Unique", 11, kLastOpset, 1, 1, 1, 4, {"axis", "sorted"}, infer, reference}};
}

}  // namespace hasten
