// Arguments of convolutions, pools, resizing and what changes layouts for them.
#pragma once

#include <stdint.h>

namespace hasten {

// --- Sliding windows: convolutions and pools. Positions, steps and pitches of windows are in
// pixels; an Args says how many floats a pixel takes (16 in nchw16c, 1 in planes).

/// Output pixels whose windows have the same taps inside the input. See ops/window_plan.h.
struct WindowRect {
  int64_t in;       // input pixel of the first tap of the first output pixel
  int64_t out;      // first output pixel
  int64_t tap;      // index of the first tap in the kernel
  int64_t taps[3];  // taps in depth, height, width; all zero: none
  int64_t rows, cols;
  int64_t in_row, in_col, out_row, out_col;
  int64_t counted;  // taps inside the input and its padding
};

/// From one tap to the next along depth, height, width.
struct WindowSteps {
  int64_t in_tap[3];  // input pixels
  int64_t tap[3];     // kernel indices
};

/// Convolution of f32, input and output each in planes or nchw16c. Each output is one chain of
/// fused multiply-adds from zero, in the order: 16-channel block of input channels, depth, height,
/// width tap (those inside the input), channel in the block; then bias, residual, activation.
/// Items: ((image * chunks + chunk) * groups + group) * parts + part, a part being `part_blocks`
/// blocks of 16 output channels of a group.
struct ConvArgs {
  const float* x;
  const float* w;         // [group][out block][in block][tap][channel in block][16]
  const float* bias;      // [group][out block][16], or null
  const float* residual;  // like y, or null
  float* y;
  float* partial;  // [image][group][out block][pixel][16] for sums between passes over channels, or
                   // null
  const WindowRect* rects;
  const int64_t* chunks;
  int64_t chunk_count;
  WindowSteps steps;
  int64_t taps;
  int64_t groups, group_in, group_out;  // channels of a group
  int64_t parts, part_blocks;
  int64_t in_pixels, out_pixels;      // of an image
  int64_t in_channels, out_channels;  // stored: rounded up to 16 in nchw16c
  int32_t x_blocked, y_blocked;
  int32_t activation;
  float a, b;
};

/// Winograd convolution F(4x4, 3x3) of f32 in nchw16c: 3x3 taps, stride 1, one group. Each point of
/// a tile is one chain of fused multiply-adds over the channels, ascending; then the output
/// transform, bias, residual, activation: see docs/numerics.md. A tile is 4x4 output pixels, number
/// (image * tile_rows + row) * tile_cols + column. Items: blocks of block_tiles tiles.
struct WinogradArgs {
  const float* x;
  const float* u;         // transformed weights: [36 points][out block][in channel][16]
  const float* bias;      // [out block][16], or null
  const float* residual;  // like y, or null
  float* y;
  float* scratch;  // winograd_floats(in_channels, block_tiles), one for each thread
  int64_t images, in_channels, out_channels;
  int64_t in_rows, in_cols, out_rows, out_cols;
  int64_t pad_row, pad_col;  // before the first row and column
  int64_t tile_rows, tile_cols, block_tiles;
  int32_t activation;
  float a, b;
};
constexpr int64_t kWinogradIn = 6, kWinogradOut = 4;  // edge of a tile
constexpr int64_t kWinogradChunk = 4;                 // blocks of output channels at a time
/// Floats from one tile's channels to the next's: no power of two. Always inline, as a header of
/// kernels may leave no symbol behind (tools/check_kernels).
__attribute__((always_inline)) inline int64_t winograd_row(int64_t in_channels) {
  return (in_channels + 15) / 16 * 16 + 16;
}
__attribute__((always_inline)) inline int64_t winograd_floats(int64_t in_channels,
                                                              int64_t block_tiles) {
  return kWinogradIn * kWinogradIn * block_tiles *
         (winograd_row(in_channels) + (kWinogradChunk + 1) * 16);
}

/// Convolution of f32 with one input channel a group and as many output channels. In nchw16c items
/// are (image * chunks + chunk) * channel blocks + block, w is [block][tap][16]; in planes they are
/// (image * chunks + chunk) * channels + channel, w is [channel][tap]. Order of sums as ConvArgs.
struct DepthwiseArgs {
  const float* x;
  const float* w;
  const float* bias;
  const float* residual;
  float* y;
  const WindowRect* rects;
  const int64_t* chunks;
  int64_t chunk_count;
  WindowSteps steps;
  int64_t taps;
  int64_t channels;
  int64_t in_pixels, out_pixels;
  int32_t activation;
  float a, b;
};

/// The same in nchw16c for square kernels of 3 or 5 taps side by side and steps of 1 or 2, in one
/// plane: rows of outputs as strips. Items: (image * bands + band) * channel blocks + block, a band
/// being `band_rows` output rows. Every window holds at least one input pixel. Order of sums as
/// ConvArgs.
struct DepthwiseRowsArgs {
  const float* x;
  const float* w;         // [block][tap][16]
  const float* bias;      // [block][16], or null
  const float* residual;  // like y, or null
  float* y;
  int64_t channels;
  int64_t in_rows, in_cols, out_rows, out_cols;
  int64_t pad_row, pad_col;  // before the first row and column
  int64_t band_rows, bands;
  int32_t taps, stride;  // along each axis
  int32_t activation;
  float a, b;
};

/// Pools of one element type. In nchw16c (f32 only) items are (image * chunks + chunk) * blocks +
/// block; in planes (image * chunks + chunk) * channels + channel: `planes` of them an image.
struct PoolArgs {
  const void* x;
  void* y;
  const WindowRect* rects;
  const int64_t* chunks;
  int64_t chunk_count;
  WindowSteps steps;
  int64_t planes;
  int64_t in_pixels, out_pixels;
  int32_t count_padding;  // averages divide by taps inside input and padding
};

/// Between planes and nchw16c, f32. Items: image * blocks + block.
struct ReorderArgs {
  const float* x;
  float* y;
  int64_t channels, pixels;
};

/// One axis of a resize: [outer, in_rows, inner] -> [outer, out_rows, inner], row r of the output
/// being the sum over t of weight[r * taps + t] times row index[r * taps + t] of the input, one fma
/// chain in ascending t from 0. Items: outer * out_rows rows.
struct ResampleArgs {
  const float* in;
  float* out;
  const int64_t* index;
  const float* weight;
  int64_t taps, in_rows, out_rows, inner;
};

}  // namespace hasten
