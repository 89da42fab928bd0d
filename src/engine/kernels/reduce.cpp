// Folding over axes. The order in which a result is summed depends on the folded dims alone: four
// times sixteen lanes along rows, four partial sums across them.
#include "engine/kernels/math.h"
#include "engine/kernels/reduce_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr float kInf = HUGE_VALF;

// A fold: kNeutral changes nothing, each() is applied to an element first, join() puts two together
// (vectors of any width), finish() makes the result. kNeedsLargest: each() wants the largest
// element.
struct Sum {
  static constexpr float kNeutral = 0;
  static constexpr bool kNeedsLargest = false;
  static HASTEN_INLINE F16 each(F16 x, F16) { return x; }
  template <class V>
  static HASTEN_INLINE V join(V x, V y) {
    return hn::Add(x, y);
  }
  static HASTEN_INLINE F16 finish(F16 x, F16, float) { return x; }
};
struct Mean : Sum {
  static HASTEN_INLINE F16 finish(F16 x, F16, float count) { return div(x, set1(count)); }
};
struct L1 : Sum {
  static HASTEN_INLINE F16 each(F16 x, F16) { return abs(x); }
};
struct SumSquare : Sum {
  static HASTEN_INLINE F16 each(F16 x, F16) { return mul(x, x); }
};
struct L2 : SumSquare {
  static HASTEN_INLINE F16 finish(F16 x, F16, float) { return sqrt(x); }
};
struct LogSum : Sum {
  static HASTEN_INLINE F16 finish(F16 x, F16, float) { return log(x); }
};
struct Prod : Sum {
  static constexpr float kNeutral = 1;
  template <class V>
  static HASTEN_INLINE V join(V x, V y) {
    return hn::Mul(x, y);
  }
};
struct Max : Sum {
  static constexpr float kNeutral = -kInf;
  template <class V>
  static HASTEN_INLINE V join(V x, V y) {  // as max_nan
    return hn::IfThenElse(hn::Or(hn::Lt(x, y), hn::IsNaN(y)), y, x);
  }
};
struct Min : Sum {
  static constexpr float kNeutral = kInf;
  template <class V>
  static HASTEN_INLINE V join(V x, V y) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, y), hn::IsNaN(y)), y, x);
  }
};
/// log(sum(e^(x - m))) + m, with m the largest x, or 0 if that is infinite.
struct LogSumExp : Sum {
  static constexpr float kNeutral = -kInf;
  static constexpr bool kNeedsLargest = true;
  static HASTEN_INLINE F16 shift(F16 largest) {
    return select(eq(abs(largest), set1(kInf)), set1(0.0f), largest);
  }
  static HASTEN_INLINE F16 each(F16 x, F16 largest) { return exp(sub(x, shift(largest))); }
  static HASTEN_INLINE F16 finish(F16 x, F16 largest, float) { return add(log(x), shift(largest)); }
};

template <class Fold>
HASTEN_INLINE F16 join(F16 a, F16 b) {
  HASTEN_EACH a.v[i_] = Fold::join(a.v[i_], b.v[i_]);
  return a;
}

/// An index over dims, with what it is worth in elements.
struct Index {
  int64_t at[ReduceArgs::kMaxDims] = {};
  int64_t offset = 0;

  /// On to the next one in row-major order; false after the last.
  HASTEN_INLINE bool next(const int64_t* dims, const int64_t* strides, int rank) {
    for (int d = rank - 1; d >= 0; --d) {
      offset += strides[d];
      if (++at[d] < dims[d]) return true;
      offset -= strides[d] * dims[d];
      at[d] = 0;
    }
    return false;
  }
};

/// The sixteen lanes' worth of a row's sums, to be folded to one.
template <class Fold>
HASTEN_INLINE F16 fold_rows(const ReduceArgs* a, const float* x, F16 largest) {
  const F16 start = set1(Fold::kNeedsLargest ? 0.0f : Fold::kNeutral);
  F16 s[4] = {start, start, start, start};
  Index index;
  do {
    const float* p = x + index.offset;
    int64_t i = 0;
    for (; i + 4 * kLanes <= a->inner; i += 4 * kLanes) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        s[k] = join<Fold>(s[k], Fold::each(load(p + i + k * kLanes), largest));
      }
    }
    for (; i + kLanes <= a->inner; i += kLanes) {
      s[0] = join<Fold>(s[0], Fold::each(load(p + i), largest));
    }
    if (i < a->inner) {
      const F16 v = load_or(p + i, a->inner - i, set1(Fold::kNeutral));
      s[1] = join<Fold>(s[1], Fold::each(v, largest));
    }
  } while (index.next(a->folded_dims, a->folded_strides, a->folded));
  return join<Fold>(join<Fold>(s[0], s[1]), join<Fold>(s[2], s[3]));
}

/// Results of sixteen neighbours (the first n of them).
template <class Fold>
HASTEN_INLINE F16 fold_columns(const ReduceArgs* a, const float* x, int64_t n, F16 largest) {
  const F16 start = set1(Fold::kNeedsLargest ? 0.0f : Fold::kNeutral);
  F16 s[4] = {start, start, start, start};
  // The innermost folded dim is a loop of its own, four at a time.
  const int last = a->folded - 1;
  const int64_t count = last >= 0 ? a->folded_dims[last] : 1;
  const int64_t stride = last >= 0 ? a->folded_strides[last] : 0;
  Index index;
  do {
    const float* p = x + index.offset;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, p += 4 * stride) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        s[k] = join<Fold>(s[k], Fold::each(load_n(p + k * stride, n), largest));
      }
    }
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      if (i + k < count) s[k] = join<Fold>(s[k], Fold::each(load_n(p + k * stride, n), largest));
    }
  } while (last > 0 && index.next(a->folded_dims, a->folded_strides, last));
  return join<Fold>(join<Fold>(s[0], s[1]), join<Fold>(s[2], s[3]));
}

template <class Fold>
HASTEN_INLINE F16 all_lanes(F16 x) {
  return set1(fold_lanes(x, [](auto p, auto q) { return Fold::join(p, q); }));
}

template <class Fold>
HASTEN_INLINE void reduce(const ReduceArgs* a, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const int64_t groups = a->along_rows ? 1 : (a->inner + kLanes - 1) / kLanes;
  int64_t group = begin % groups, rest = begin / groups;
  Index kept;
  for (int d = a->kept; d-- > 0;) {
    kept.at[d] = rest % a->kept_dims[d];
    rest /= a->kept_dims[d];
    kept.offset += kept.at[d] * a->kept_strides[d];
  }
  const auto count = static_cast<float>(a->count);
  const F16 zero = set1(0.0f);
  for (int64_t item = begin; item < end; ++item) {
    const float* x = a->x + kept.offset;
    if (a->along_rows) {
      F16 largest = zero, sum = set1(Fold::kNeutral);
      if constexpr (Fold::kNeedsLargest) {
        largest = set1(-kInf);
        sum = zero;
        if (a->count > 0) largest = all_lanes<Max>(fold_rows<Max>(a, x, zero));
      }
      if (a->count > 0) sum = all_lanes<Fold>(fold_rows<Fold>(a, x, largest));
      store_n(Fold::finish(sum, largest, count), a->out + item, 1);
      kept.next(a->kept_dims, a->kept_strides, a->kept);
      continue;
    }
    int64_t out = 0;
    for (int d = 0; d < a->kept; ++d) out += kept.at[d] * a->out_strides[d];
    const int64_t column = group * kLanes;
    int64_t n = a->inner - column < kLanes ? a->inner - column : kLanes;
    F16 largest = zero, sum = set1(Fold::kNeutral);
    if constexpr (Fold::kNeedsLargest) {
      largest = set1(-kInf);
      sum = zero;
      if (a->count > 0) largest = fold_columns<Max>(a, x + column, n, zero);
    }
    if (a->count > 0) sum = fold_columns<Fold>(a, x + column, n, largest);
    if (a->kept > 0 && kept.at[a->kept - 1] == a->kept_dims[a->kept - 1] - 1 && n > a->last_lanes) {
      n = a->last_lanes;
    }
    store_n(Fold::finish(sum, largest, count), a->out + out + column, n);
    if (++group == groups) {
      group = 0;
      kept.next(a->kept_dims, a->kept_strides, a->kept);
    }
  }
}

}  // namespace

#define HASTEN_REDUCE(name, Fold) \
  void name(const ReduceArgs* a, int64_t begin, int64_t end) { reduce<Fold>(a, begin, end); }
HASTEN_REDUCE(reduce_sum_f32, Sum)
HASTEN_REDUCE(reduce_mean_f32, Mean)
HASTEN_REDUCE(reduce_max_f32, Max)
HASTEN_REDUCE(reduce_min_f32, Min)
HASTEN_REDUCE(reduce_prod_f32, Prod)
HASTEN_REDUCE(reduce_l1_f32, L1)
HASTEN_REDUCE(reduce_l2_f32, L2)
HASTEN_REDUCE(reduce_log_sum_f32, LogSum)
HASTEN_REDUCE(reduce_log_sum_exp_f32, LogSumExp)
HASTEN_REDUCE(reduce_sum_square_f32, SumSquare)

}  // namespace HASTEN_NS
}  // namespace hasten
