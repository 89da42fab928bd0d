// Arguments of kernels that fold or normalize axes.
#pragma once

#include <stdint.h>

namespace hasten {

/// Folds an input over some of its axes. If `along_rows`, the innermost axis is folded: a result is
/// made of rows of `inner` neighbours, one for each index of the folded dims. Otherwise `inner`
/// neighbours are results, each made of one element for each index of the folded dims.
/// Items: results if along_rows; else groups of up to 16 neighbours: kept dims, then
/// ceil(inner / 16).
struct ReduceArgs {
  static constexpr int kMaxDims = 8;
  const float* x;
  float* out;
  bool along_rows;
  int64_t inner;
  int kept, folded;  // dims of each kind, outermost first, without `inner`; strides in elements
  int64_t kept_dims[kMaxDims], kept_strides[kMaxDims], out_strides[kMaxDims];
  int64_t folded_dims[kMaxDims], folded_strides[kMaxDims];
  int64_t count;   // elements that make one result
  int last_lanes;  // results to write where the last kept index is at its end (nchw16c to plain)
};

/// Softmax over `n` elements at a distance of `inner`. Items: if along_rows, rows (outer); else
/// groups of up to 16 neighbours: outer, then ceil(inner / 16).
struct SoftmaxArgs {
  const float* x;
  float* out;
  int64_t n, inner;
  bool along_rows;  // the elements are neighbours
  bool log;         // the logarithm of the result
};

/// (x - mean) / sqrt(variance + epsilon) * scale + shift over rows of n. Items: rows.
struct LayerNormArgs {
  const float* x;
  const float* scale;
  const float* shift;  // null: 0
  float* out;
  float* mean;       // null, or one a row
  float* deviation;  // null, or 1 / sqrt(variance + epsilon), one a row
  int64_t n;
  float epsilon;
};

/// (x - mean) / sqrt(variance + epsilon) * scale + shift, the statistics over groups of channels:
/// [N, groups, channels, pixels]. Items: samples times groups.
struct GroupNormArgs {
  const float* x;
  const float* scale;
  const float* shift;
  float* out;
  int64_t groups, channels, pixels;  // channels of a group
  bool per_group;                    // scale and shift: one a group, else one a channel
  float epsilon;
};

/// x / (bias + alpha * sum of squares over neighbouring channels) ^ beta over [N, channels,
/// pixels]. Items: samples times ceil(pixels / 16).
struct LrnArgs {
  const float* x;
  float* out;
  int64_t channels, pixels;
  int64_t before, after;  // channels of the sum on each side
  float alpha, beta, bias;
};

/// Batch normalization as x * factor + offset: factor = scale / sqrt(variance + epsilon),
/// offset = shift - mean * factor. Items: channels.
struct BatchNormArgs {
  const float* scale;
  const float* shift;
  const float* mean;
  const float* variance;
  float* factor;
  float* offset;
  float epsilon;
};

}  // namespace hasten
