// What MaxPool, AveragePool and LpPool share.
#pragma once

#include <string>

#include "engine/ops/numbers.h"
#include "engine/ops/window_plan.h"

namespace hasten {

/// Output shape from the attributes; all outputs of the node get it. Checks that input 0 has one of
/// the dtypes that `allowed` accepts.
Status infer_pool(InferContext& c, bool (*allowed)(DType));

/// The axes of a pool over an input of these dims.
Result<std::vector<WindowAxis>> pool_axes(const OpContext& c, const Dims& in);
/// [N, C, spatial out...]
Dims pool_dims(const Dims& in, const std::vector<WindowAxis>& axes);

/// Taps of one window in the order of its axes: f(index into the plane). `at`: the output position.
template <class F>
void for_each_tap(const std::vector<WindowAxis>& axes, const Dims& at, const F& f) {
  const size_t rank = axes.size();
  std::vector<Taps> taps(rank);
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    const WindowAxis& a = axes[i];
    taps[i] = window_taps(at[i], a.stride, a.dilation, a.pad, a.kernel, a.in);
    count *= taps[i].count;
  }
  Dims tap(rank, 0);
  for (int64_t k = 0; k < count; ++k) {
    int64_t index = 0;
    for (size_t i = 0; i < rank; ++i) {
      index = index * axes[i].in + taps[i].position + tap[i] * axes[i].dilation;
    }
    f(index);
    for (size_t i = rank; i-- > 0;) {
      if (++tap[i] < taps[i].count) break;
      tap[i] = 0;
    }
  }
}

/// Taps of the window at `at` that lie inside input and padding.
int64_t counted_taps(const std::vector<WindowAxis>& axes, const Dims& at);

/// f(plane, output index in the plane, output position) over all outputs.
template <class F>
void for_each_window(const Dims& out, const F& f) {
  const int64_t planes = out[0] * out[1];
  const std::span<const int64_t> spatial = std::span(out).subspan(2);
  const int64_t pixels = count_of(spatial);
  for (int64_t plane = 0; plane < planes; ++plane) {
    Dims at(spatial.size(), 0);
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      f(plane, pixel, at);
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < spatial[i]) break;
        at[i] = 0;
      }
    }
  }
}

using PoolKernel = void (*)(const PoolArgs*, int64_t, int64_t);

/// Takes `kernel` (planes or, in nchw16c, blocks) for 1 to 3 spatial axes.
Status lower_pool(LowerContext& c, const std::string& name, PoolKernel kernel, bool count_padding);

}  // namespace hasten
