// Walking the rows of BroadcastArgs, and loops over one row.
#pragma once

#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/math.h"

namespace hasten {
namespace HASTEN_NS {

/// A part of a row: where each operand's first element lies.
struct RowPiece {
  int64_t at[3];
  int lanes[3];  // of a kLanes16 operand
  int64_t out, n;
};

/// row(piece) for each part of a row within the items [begin, end).
template <int kOperands, class Row>
HASTEN_INLINE void for_each_row(const BroadcastArgs* a, int64_t begin, int64_t end, Row&& row) {
  if (begin >= end) return;
  int64_t at[BroadcastArgs::kMaxOuter], base[kOperands] = {};
  int64_t column = begin % a->n, index = begin / a->n;
  for (int d = a->outer; d-- > 0;) {
    at[d] = index % a->dims[d];
    index /= a->dims[d];
    for (int k = 0; k < kOperands; ++k) base[k] += at[d] * a->strides[k][d];
  }
  const int last = a->outer - 1;
  for (int64_t i = begin; i < end;) {
    RowPiece p;
    p.out = i;
    p.n = end - i < a->n - column ? end - i : a->n - column;
    for (int k = 0; k < kOperands; ++k) {
      p.at[k] = base[k] + (a->step[k] == 1 ? column : 0);
      p.lanes[k] = last >= 0 && at[last] == a->dims[last] - 1 ? a->last_lanes[k] : kLanes;
    }
    row(p);
    i += p.n;
    column = 0;
    for (int d = last; d >= 0; --d) {
      for (int k = 0; k < kOperands; ++k) base[k] += a->strides[k][d];
      if (++at[d] < a->dims[d]) break;
      for (int k = 0; k < kOperands; ++k) base[k] -= a->strides[k][d] * a->dims[d];
      at[d] = 0;
    }
  }
}

/// The 16 lanes of an operand that does not move along the row.
HASTEN_INLINE F16 still(const float* p, int step, int lanes) {
  return step == 0 ? set1(*p) : load_n(p, lanes);
}

/// out[i] = f(x[i], y[i]), 16 at a time.
template <class F>
HASTEN_INLINE void binary_f32(const BroadcastArgs* a, int64_t begin, int64_t end, F f) {
  for_each_row<2>(a, begin, end, [a, f](const RowPiece& p) {
    const float* x = static_cast<const float*>(a->in[0]) + p.at[0];
    const float* y = static_cast<const float*>(a->in[1]) + p.at[1];
    float* out = static_cast<float*>(a->out) + p.out;
    const int64_t whole = p.n / kLanes * kLanes, rest = p.n - whole;
    if (a->step[0] == 1 && a->step[1] == 1) {
      for (int64_t i = 0; i < whole; i += kLanes) store(f(load(x + i), load(y + i)), out + i);
      if (rest) store_n(f(load_n(x + whole, rest), load_n(y + whole, rest)), out + whole, rest);
    } else if (a->step[0] == 1) {
      const F16 fixed = still(y, a->step[1], p.lanes[1]);
      for (int64_t i = 0; i < whole; i += kLanes) store(f(load(x + i), fixed), out + i);
      if (rest) store_n(f(load_n(x + whole, rest), fixed), out + whole, rest);
    } else if (a->step[1] == 1) {
      const F16 fixed = still(x, a->step[0], p.lanes[0]);
      for (int64_t i = 0; i < whole; i += kLanes) store(f(fixed, load(y + i)), out + i);
      if (rest) store_n(f(fixed, load_n(y + whole, rest)), out + whole, rest);
    } else {
      const F16 z = f(still(x, a->step[0], p.lanes[0]), still(y, a->step[1], p.lanes[1]));
      for (int64_t i = 0; i < whole; i += kLanes) store(z, out + i);
      if (rest) store_n(z, out + whole, rest);
    }
  });
}

/// The same on any element type, left to the compiler's vectorizer; no kLanes16.
template <class T, class R, class F>
HASTEN_INLINE void binary_any(const BroadcastArgs* a, int64_t begin, int64_t end, F f) {
  for_each_row<2>(a, begin, end, [a, f](const RowPiece& p) {
    const T* x = static_cast<const T*>(a->in[0]) + p.at[0];
    const T* y = static_cast<const T*>(a->in[1]) + p.at[1];
    R* out = static_cast<R*>(a->out) + p.out;
    if (a->step[0] == 1 && a->step[1] == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = f(x[i], y[i]);
    } else if (a->step[0] == 1) {
      const T fixed = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = f(x[i], fixed);
    } else if (a->step[1] == 1) {
      const T fixed = *x;
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = f(fixed, y[i]);
    } else {
      const R z = f(*x, *y);
      for (int64_t i = 0; i < p.n; ++i) out[i] = z;
    }
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
