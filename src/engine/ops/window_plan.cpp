#include "engine/ops/window_plan.h"

#include <algorithm>
#include <numeric>

namespace hasten {

namespace {

constexpr int64_t kMaxAxis = int64_t{1} << 24;
constexpr size_t kMaxRects = 1 << 20;

/// Output positions o, o + step, … (count of them) with the same taps; the input positions of their
/// first taps advance by `in_step`.
struct Segment {
  int64_t o, step, count;
  Taps taps;
  int64_t in_step;
  int64_t counted;  // taps inside input and padding
};

/// Taps of output o of a transposed convolution: k = first + t * step at input position - t * back.
Taps transposed_taps(const WindowAxis& a, int64_t o) {
  Taps taps;
  for (int64_t k = 0; k < a.kernel; ++k) {
    const int64_t at = o + a.pad - k * a.dilation;
    if (at < 0) break;
    if (at % a.stride != 0 || at / a.stride >= a.in) continue;
    if (taps.count++ == 0) {
      taps.first = k;
      taps.position = at / a.stride;
    }
  }
  return taps;
}

/// Cuts the axis into segments, in ascending order within each phase.
std::vector<Segment> cut_axis(const WindowAxis& a) {
  std::vector<Segment> segments;
  const int64_t phases = a.transposed ? std::min(a.stride, a.out) : 1;
  const int64_t step = a.transposed ? a.stride : 1;
  for (int64_t phase = 0; phase < phases; ++phase) {
    bool first = true;
    for (int64_t o = phase; o < a.out; o += step) {
      Segment s{o, step, 1, {}, a.transposed ? 1 : a.stride, 0};
      if (a.transposed) {
        s.taps = transposed_taps(a, o);
      } else {
        s.taps = window_taps(o, a.stride, a.dilation, a.pad, a.kernel, a.in);
        s.counted =
            window_taps(o, a.stride, a.dilation, 0, a.kernel, a.in + a.pad + a.pad_end).count;
      }
      if (s.taps.count == 0) s.in_step = 0;
      if (!first) {
        Segment& last = segments.back();
        if (last.taps.first == s.taps.first && last.taps.count == s.taps.count &&
            last.counted == s.counted &&
            last.taps.position + last.count * last.in_step == s.taps.position) {
          ++last.count;
          continue;
        }
      }
      segments.push_back(s);
      first = false;
    }
  }
  return segments;
}

/// The part of a segment whose output positions are in [begin, end).
Segment clip(Segment s, int64_t begin, int64_t end) {
  const int64_t from = begin <= s.o ? 0 : (begin - s.o + s.step - 1) / s.step;
  const int64_t to = end <= s.o ? 0 : std::min(s.count, (end - s.o + s.step - 1) / s.step);
  s.o += from * s.step;
  s.taps.position += from * s.in_step;
  s.count = std::max<int64_t>(0, to - from);
  return s;
}

bool single_pixel(const WindowAxis& a) {
  return a.kernel == 1 && a.stride == 1 && a.pad == 0 && a.in == a.out;
}

}  // namespace

WindowAxes merge_axes(WindowAxes axes) {
  for (int i = 1; i >= 0; --i) {
    WindowAxis &outer = axes[static_cast<size_t>(i)], &row = axes[2];
    if (!single_pixel(outer) || !single_pixel(row)) break;
    row.in = row.out = row.in * outer.in;
    outer = WindowAxis{};
  }
  return axes;
}

bool plan_windows(const WindowAxes& axes, const WindowCut& cut, WindowPlan* plan) {
  *plan = WindowPlan{};
  int64_t in_pitch[3], out_pitch[3], tap_pitch[3];
  int64_t in = 1, out = 1, taps = 1;
  for (size_t i = 3; i-- > 0;) {
    const WindowAxis& a = axes[i];
    in_pitch[i] = in;
    out_pitch[i] = out;
    tap_pitch[i] = taps;
    if (a.out > kMaxAxis && !single_pixel(a)) return false;
    in *= a.in;
    out *= a.out;
    taps *= a.kernel;
    int64_t position = a.dilation, tap = 1;
    if (a.transposed) {
      const int64_t common = std::gcd(a.stride, a.dilation);
      position = -a.dilation / common;
      tap = a.stride / common;
    }
    plan->steps.in_tap[i] = position * in_pitch[i];
    plan->steps.tap[i] = tap * tap_pitch[i];
  }
  plan->in_pixels = in;
  plan->out_pixels = out;
  plan->taps = taps;
  std::vector<Segment> segments[3];
  for (size_t i = 0; i < 3; ++i) {
    if (single_pixel(axes[i]) && axes[i].out > 0) {
      segments[i] = {Segment{0, 1, axes[i].out, {0, 1, 0}, 1, 1}};
    } else {
      segments[i] = cut_axis(axes[i]);
    }
  }
  if (segments[1].size() * segments[2].size() > kMaxRects) return false;

  // Bands run over rows, or over columns where there is only one row.
  const bool by_column = axes[1].out == 1;
  const int64_t banded = by_column ? axes[2].out : axes[1].out;
  const int64_t band = std::clamp<int64_t>(cut.band, 1, std::max<int64_t>(1, banded));
  plan->chunks.push_back(0);
  for (const Segment& depth : segments[0]) {
    for (int64_t d = 0; d < depth.count; ++d) {
      for (int64_t begin = 0; begin < banded; begin += band) {
        for (const Segment& whole_row : segments[1]) {
          const Segment row = by_column ? whole_row : clip(whole_row, begin, begin + band);
          for (const Segment& whole_column : segments[2]) {
            const Segment column =
                by_column ? clip(whole_column, begin, begin + band) : whole_column;
            if (row.count == 0 || column.count == 0) continue;
            WindowRect r{};
            r.in = (depth.taps.position + d * depth.in_step) * in_pitch[0] +
                   row.taps.position * in_pitch[1] + column.taps.position;
            r.out = (depth.o + d * depth.step) * out_pitch[0] + row.o * out_pitch[1] + column.o;
            r.tap =
                depth.taps.first * tap_pitch[0] + row.taps.first * tap_pitch[1] + column.taps.first;
            r.taps[0] = depth.taps.count;
            r.taps[1] = row.taps.count;
            r.taps[2] = column.taps.count;
            r.rows = row.count;
            r.cols = column.count;
            r.in_row = row.in_step * in_pitch[1];
            r.in_col = column.in_step;
            r.out_row = row.step * out_pitch[1];
            r.out_col = column.step;
            r.counted = depth.counted * row.counted * column.counted;
            if (cut.may_turn && r.cols < 4 && r.rows > r.cols) {
              std::swap(r.rows, r.cols);
              std::swap(r.in_row, r.in_col);
              std::swap(r.out_row, r.out_col);
            }
            const int64_t visits = r.taps[0] * r.taps[1] * r.taps[2];
            // One loop count of zero means no tap at all.
            if (visits == 0) r.taps[0] = r.taps[1] = r.taps[2] = r.in = r.tap = 0;
            plan->tap_visits += static_cast<double>(visits) * static_cast<double>(r.rows * r.cols);
            plan->rects.push_back(r);
            if (plan->rects.size() > kMaxRects) return false;
          }
        }
        plan->chunks.push_back(static_cast<int64_t>(plan->rects.size()));
      }
    }
  }
  return true;
}

int64_t band_rows(int64_t rows, double row_bytes, double bytes, int64_t chunks) {
  const int64_t fit = row_bytes > 0 ? static_cast<int64_t>(bytes / row_bytes) : rows;
  const int64_t spread = (rows + chunks - 1) / std::max<int64_t>(1, chunks);
  const int64_t band = std::max<int64_t>(1, std::min({fit, spread, rows}));
  // The same number of bands, of sizes as equal as can be.
  const int64_t bands = (rows + band - 1) / band;
  return bands > 0 ? (rows + bands - 1) / bands : 1;
}

}  // namespace hasten
