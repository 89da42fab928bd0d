// From the axes of a sliding window to the rectangles of output pixels that kernels work through.
#pragma once

#include <array>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/ops/window.h"

namespace hasten {

/// One axis of a window with all sizes known. `pad` is the padding before the input.
struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
  /// Padding after the input; only pools that count padding use it.
  int64_t pad_end = 0;
  /// Transposed: output o gets input i through tap k where o = i * stride - pad + k * dilation.
  bool transposed = false;
};

/// The work of one image: rectangles of output pixels whose windows have the same taps inside the
/// input, so that kernels need no checks. Kernels visit the taps of a pixel in the order of the
/// kernel (depth, height, width), and leave out those that fall into padding.
struct WindowPlan {
  std::vector<WindowRect> rects;
  std::vector<int64_t> chunks;  // rects of chunk i: [chunks[i], chunks[i + 1])
  WindowSteps steps{};
  int64_t taps = 1;
  int64_t in_pixels = 1, out_pixels = 1;
  double tap_visits = 0;  // taps inside the input, over all pixels: the multiplications a channel

  int64_t chunk_count() const { return static_cast<int64_t>(chunks.size()) - 1; }
};

/// How the plan cuts the output.
struct WindowCut {
  /// Rows (or columns, where there is one row) of output pixels in a chunk.
  int64_t band = INT64_MAX;
  /// Narrow rectangles may run along columns. Not for kernels whose vectors lie along rows.
  bool may_turn = true;
};

/// Depth, height, width.
using WindowAxes = std::array<WindowAxis, 3>;

/// Axes over which the window is a single pixel that moves by one are merged into one long row.
WindowAxes merge_axes(WindowAxes axes);

/// False where an axis is too long to be planned (2^24 pixels) or falls into too many pieces.
bool plan_windows(const WindowAxes& axes, const WindowCut& cut, WindowPlan* plan);

/// Rows for WindowCut::band so that the input of a chunk is about `bytes`, there are about
/// `chunks` or more chunks, and a chunk has at least one row. `row_bytes`: of one output row's
/// input.
int64_t band_rows(int64_t rows, double row_bytes, double bytes, int64_t chunks);

}  // namespace hasten
