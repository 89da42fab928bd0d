// Max and average pools. A NaN in a window is the window's maximum; averages are the sum of the
// taps in order, divided by their number.
#include "engine/kernels/vec.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

HASTEN_INLINE F16 max_or_nan(F16 best, F16 x) {
  HASTEN_EACH best.v[i_] =
      hn::IfThenElse(hn::Or(hn::Gt(x.v[i_], best.v[i_]), hn::IsNaN(x.v[i_])), x.v[i_], best.v[i_]);
  return best;
}

/// f(x of the first tap, in pixels; out pixel) for each output pixel of a rectangle.
template <class F>
HASTEN_INLINE void each_pixel(const WindowRect* r, const F& f) {
  for (int64_t row = 0; row < r->rows; ++row) {
    int64_t in = r->in + row * r->in_row, out = r->out + row * r->out_row;
    for (int64_t col = 0; col < r->cols; ++col) {
      f(in, out);
      in += r->in_col;
      out += r->out_col;
    }
  }
}

/// f(input pixel) for each tap of a window that starts at `in`.
template <class F>
HASTEN_INLINE void each_tap(const PoolArgs* a, const WindowRect* r, int64_t in, const F& f) {
  for (int64_t d = 0; d < r->taps[0]; ++d) {
    for (int64_t h = 0; h < r->taps[1]; ++h) {
      int64_t at = in + d * a->steps.in_tap[0] + h * a->steps.in_tap[1];
      for (int64_t k = 0; k < r->taps[2]; ++k) {
        f(at);
        at += a->steps.in_tap[2];
      }
    }
  }
}

HASTEN_INLINE int64_t divisor(const PoolArgs* a, const WindowRect* r) {
  return a->count_padding ? r->counted : r->taps[0] * r->taps[1] * r->taps[2];
}

/// f(rect, input of the plane, output of the plane) for the rectangles of each item.
template <class T, class F>
HASTEN_INLINE void each_rect(const PoolArgs* a, int64_t begin, int64_t end, int64_t lanes,
                             const F& f) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t chunk = item / a->planes % a->chunk_count;
    const int64_t plane = item / a->planes / a->chunk_count * a->planes + item % a->planes;
    const T* x = static_cast<const T*>(a->x) + plane * a->in_pixels * lanes;
    T* y = static_cast<T*>(a->y) + plane * a->out_pixels * lanes;
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) f(a->rects + i, x, y);
  }
}

template <class T>
void max_pool_int(const PoolArgs* a, int64_t begin, int64_t end, T least) {
  each_rect<T>(a, begin, end, 1, [&](const WindowRect* r, const T* x, T* y) {
    each_pixel(r, [&](int64_t in, int64_t out) {
      T best = least;
      each_tap(a, r, in, [&](int64_t at) { best = x[at] > best ? x[at] : best; });
      y[out] = best;
    });
  });
}

/// Sixteen pixels of a row at a time.
template <class Load>
HASTEN_INLINE F16 row_vector(const float* x, int64_t step, int64_t n, const Load& absent) {
  if (step == 1 && n == kLanes) return load(x);
  alignas(64) float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) lanes[i] = i < n ? x[i * step] : absent;
  return load(lanes);
}

template <class Start, class Step, class Finish>
HASTEN_INLINE void pool_plain(const PoolArgs* a, int64_t begin, int64_t end, const Start& start,
                              const Step& step, const Finish& finish) {
  each_rect<float>(a, begin, end, 1, [&](const WindowRect* r, const float* x, float* y) {
    for (int64_t row = 0; row < r->rows; ++row) {
      for (int64_t col = 0; col < r->cols; col += kLanes) {
        const int64_t n = r->cols - col < kLanes ? r->cols - col : kLanes;
        F16 v = start;
        each_tap(a, r, r->in + row * r->in_row + col * r->in_col,
                 [&](int64_t at) { v = step(v, row_vector(x + at, r->in_col, n, 0.0f)); });
        alignas(64) float lanes[kLanes];
        store(finish(v, r), lanes);
        float* to = y + r->out + row * r->out_row + col * r->out_col;
        for (int64_t i = 0; i < n; ++i) to[i * r->out_col] = lanes[i];
      }
    }
  });
}

}  // namespace

void max_pool_blocked_f32(const PoolArgs* a, int64_t begin, int64_t end) {
  each_rect<float>(a, begin, end, kLanes, [&](const WindowRect* r, const float* x, float* y) {
    each_pixel(r, [&](int64_t in, int64_t out) {
      F16 best = set1(-__builtin_inff());
      each_tap(a, r, in, [&](int64_t at) { best = max_or_nan(best, load(x + at * kLanes)); });
      store(best, y + out * kLanes);
    });
  });
}

void average_pool_blocked_f32(const PoolArgs* a, int64_t begin, int64_t end) {
  each_rect<float>(a, begin, end, kLanes, [&](const WindowRect* r, const float* x, float* y) {
    const F16 count = set1(static_cast<float>(divisor(a, r)));
    each_pixel(r, [&](int64_t in, int64_t out) {
      F16 sum = set1(0.0f);
      each_tap(a, r, in, [&](int64_t at) { sum = add(sum, load(x + at * kLanes)); });
      store(div(sum, count), y + out * kLanes);
    });
  });
}

void max_pool_f32(const PoolArgs* a, int64_t begin, int64_t end) {
  pool_plain(a, begin, end, set1(-__builtin_inff()), max_or_nan,
             [](F16 v, const WindowRect*) { return v; });
}

void average_pool_f32(const PoolArgs* a, int64_t begin, int64_t end) {
  pool_plain(a, begin, end, set1(0.0f), add, [a](F16 v, const WindowRect* r) {
    return div(v, set1(static_cast<float>(divisor(a, r))));
  });
}

void max_pool_i8(const PoolArgs* a, int64_t begin, int64_t end) {
  max_pool_int<int8_t>(a, begin, end, INT8_MIN);
}

void max_pool_u8(const PoolArgs* a, int64_t begin, int64_t end) {
  max_pool_int<uint8_t>(a, begin, end, 0);
}

}  // namespace HASTEN_NS
}  // namespace hasten
