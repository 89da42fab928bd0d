// The kernels as the rest of the engine sees them: plain structs and function pointers.
// This header is POD only: it is included by files compiled for AVX-512.
#pragma once

#include <stdint.h>

namespace hasten {

// Every kernel is `void name(const Args* a, int64_t begin, int64_t end)`: it does the work items
// [begin, end) of the a->… dimension that its Args documents as "items", so that the caller can
// split the work over threads. Kernels are noexcept, allocate nothing, never trap on any value, and
// give the same bits on every tier (explicit FMA, sums in one fixed order).

/// An element-wise function of up to three operands that broadcast to the output, as rows of `n`
/// elements: the dims of the output, collapsed. Items: elements of the output. Operands and output
/// have the element types that the kernel's name says; truths are bytes, 0 or 1.
struct BroadcastArgs {
  static constexpr int kMaxOuter = 6;
  const void* in[3];
  void* out;
  int64_t n;  // elements in a row
  int outer;  // dims of the rows, outermost first
  int64_t dims[kMaxOuter];
  int64_t strides[3][kMaxOuter];  // in elements
  /// Within a row: 0: one element; 1: neighbours; kLanes16: the same 16 neighbours again and again
  /// (channels of a row of nchw16c). With kLanes16, items begin and end at multiples of 16.
  int step[3];
  static constexpr int kLanes16 = 16;
  /// With kLanes16: how many of the 16 exist where the last outer index is at its end.
  int last_lanes[3];
};

/// f(x) element by element. Items: elements.
struct UnaryArgs {
  const float* x;
  float* out;
  float alpha, beta;  // what the operator's attributes say
};

/// Zeroes the channels that pad nchw16c. Items: groups of 16 elements.
struct PaddingArgs {
  float* x;
  int64_t blocks, pixels;  // ceil(C / 16), H * W
  int lanes;               // channels of the last block
};

/// Conversion between element types: f32, f16, bf16, i32, i64, u8, i8, bool. Items: elements.
struct CastArgs {
  const void* x;
  void* out;
  int from, to;  // numbers of onnx.TensorProto.DataType
};

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

/// What follows an accumulated sum, with parameters a and b.
enum ActivationKind : int32_t {
  kActivationNone,
  kActivationRelu,
  kActivationClip,         // min(max(x, a), b)
  kActivationLeakyRelu,    // x < 0 ? a * x : x
  kActivationHardSigmoid,  // min(max(a * x + b, 0), 1)
  kActivationHardSwish,    // x * hard sigmoid (1/6, 1/2)
  kActivationSigmoid,
  kActivationTanh,
  kActivationSilu,             // x * sigmoid(x)
  kActivationGelu,             // x / 2 (1 + erf(x / sqrt 2))
  kActivationAffine,           // a * x + b
  kActivationThresholdedRelu,  // x < a ? 0 : x
  kActivationScaledTanh,       // a * tanh(b * x)
  kActivationElu,              // x < 0 ? a * (e^x - 1) : x
  kActivationSoftsign,         // x / (1 + |x|)
  kActivationSoftplus,         // log(1 + e^x)
};

/// An ActivationKind with its parameters.
struct Activation {
  ActivationKind kind = kActivationNone;
  float a = 0, b = 0;
};

/// Columns of a panel: how the matrix kernels want the right-hand matrix. B[K,N] is stored as
/// [ceil(N/16)][K][16], the columns past N zero, the same on every tier.
constexpr int64_t kPanel = 16;

/// B[k * b_k + n * b_n] into panels. Items: panels, all those of the first matrix first.
struct PackPanelsArgs {
  int64_t n, k;
  const float* b;
  int64_t b_k, b_n;         // strides in elements
  const int64_t* b_offset;  // of each matrix; null: one matrix at 0
  float* panels;            // 64-byte aligned
};

/// C = A B for a batch of products, then on each element
///   x = alpha x;  x = beta D + x (one rounding; beta 1: x + D);  x = x + R;  activation
/// where D and R are given. Each element of A B is one chain of fma from 0 in ascending k, so its
/// bits depend on nothing but its row of A and its column of B.
/// Items: blocks of `row_block` rows by kItemColumns columns of C, column blocks of a product
/// outside, its row blocks inside.
struct GemmArgs {
  int64_t batch, m, n, k;
  const float* a;
  int64_t a_row, a_k;  // strides in elements
  const float* b;
  int64_t b_k, b_n;  // b_panel 0: strides of B as it is, to be packed on the stack: k <= kStackK
  int64_t b_panel;   // else: element (k, n) is at (n / 16) * b_panel + k * b_k + n % 16
  float* c;
  int64_t c_row;
  const int64_t *a_offset, *b_offset, *c_offset;  // of each product; null: 0
  float alpha, beta;
  const float* d;        // may be null
  int64_t d_row, d_col;  // d_col: 0 or 1
  const float* r;        // may be null; its rows and offsets are those of C
  Activation activation;
  int64_t row_block;
};
constexpr int64_t kItemColumns = 4 * kPanel;
constexpr int64_t kStackK = 2048;
/// Copies a block of elements from one strided place to another; the caller has merged what can be
/// merged. copy: items are elements in row-major order. transpose: in_strides[rank - 2] and
/// out_strides[rank - 1] are `size`; items are transpose_items() tiles.
constexpr int kMaxCopyRank = 8;
struct CopyArgs {
  const char* in;
  char* out;
  int64_t size;  // bytes of an element: any number; for transpose 1, 2, 4 or 8
  int64_t rank;  // >= 1; for transpose >= 2
  int64_t dims[kMaxCopyRank];
  int64_t in_strides[kMaxCopyRank], out_strides[kMaxCopyRank];  // bytes, of any sign
};
/// A tile of transpose: one cache line of rows, and as many columns as to make a step worth it.
constexpr int64_t kTransposeLine = 64, kTransposeColumns = 256;
inline int64_t transpose_items(const CopyArgs* a) {
  int64_t n = 1;
  for (int64_t d = 0; d + 2 < a->rank; ++d) n *= a->dims[d];
  const int64_t rows = kTransposeLine / a->size;
  n *= (a->dims[a->rank - 2] + rows - 1) / rows;
  return n * ((a->dims[a->rank - 1] + kTransposeColumns - 1) / kTransposeColumns);
}

/// out[i0]…[ik] = in + tables[0][i0] + … + tables[k][ik], or the fill where a table says kMapFill:
/// padding, and resizing to the nearest element. Items: rows of the last dimension.
constexpr int64_t kMapFill = INT64_MIN;
struct MapRun {
  int64_t begin, count;  // of the last dimension
  int64_t offset;        // bytes from the row's source: where a copied or repeated run starts
  int64_t kind;          // 0: neighbours, 1: the fill, 2: one element repeated, 3: by the table
};
struct MapArgs {
  const char* in;
  char* out;
  const char* fill;  // one element
  int64_t size;      // bytes of an element
  int64_t rank;      // 1 … kMaxCopyRank
  int64_t dims[kMaxCopyRank];
  const int64_t* tables[kMaxCopyRank];  // bytes
  const MapRun* runs;                   // the last dimension once more, as runs
  int64_t run_count;
};

/// Rows of `in` [outer, rows] by index. Items: outer * count rows of `out`.
struct GatherArgs {
  const char* in;
  const void* indices;
  char* out;
  int64_t indices_i64;  // 1: int64, 0: int32
  int64_t rows, count, row_bytes;
  int64_t* bad;  // gets the position + 1 of the first index outside [-rows, rows-1]
};

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

/// Multiply-adds in registers, x = x * factor + addend. Items: kPeakFmaPerItem of them.
struct PeakFmaArgs {
  float factor, addend;  // such that x stays normal: 0.5 and 1, say
  float* out;            // one value, so that the work counts
};
constexpr int kPeakFmaPerItem = 1280;

/// Reads every float of the items `rounds` times. Items: kPeakReadItem floats.
struct PeakReadArgs {
  const float* data;
  int64_t rounds;
  float* out;  // one value
};
constexpr int64_t kPeakReadItem = 256;
/// One element per index along one axis. gather_elements: out[o][k][i] = in[o][index[o][k][i]][i];
/// scatter_elements: out[o][index[o][k][i]][i] = in[o][k][i], in ascending k. Items: outer.
struct AxisIndexArgs {
  const char* in;
  const void* indices;
  char* out;
  int64_t indices_i64;         // 1: int64, 0: int32
  int64_t rows, count, inner;  // of the indexed axis, of k, of i
  int64_t size;                // bytes of an element: 1, 2, 4 or 8
  int64_t* bad;                // as in GatherArgs
};

/// Rows at tuples of int64 indices. gather_nd: out[t] = in[batch][tuple t]; scatter_nd:
/// out[tuple t] = in[t], in ascending t. Items: tuples.
struct TupleIndexArgs {
  const char* in;
  const int64_t* indices;  // [tuples, width]
  char* out;
  int64_t width;  // 0 … kMaxCopyRank
  int64_t dims[kMaxCopyRank];
  int64_t strides[kMaxCopyRank];  // bytes
  int64_t row_bytes;
  int64_t tuples_per_batch, batch_bytes;  // gather_nd
  int64_t* bad;                           // position + 1 of the first index outside its axis
};

/// One step in time of an LSTM, GRU or RNN of one or two directions. The gates of 16 units lie
/// together, a block: the column of a gate of a unit is (unit / 16 * gates + gate) * 16 + unit
/// % 16. Products with h are chains of fma from 0, to which xw is added. Each sum is clipped before
/// its activation (f, g, h below). Items: direction * blocks + block.
struct RecurrentArgs {
  int64_t batch, hidden, blocks, steps, step;
  struct Direction {
    const float* xw;  // X W^T + bias at time t, sequence b: xw + t xw_t + b xw_b
    const float* r;   // panels [blocks * gates][hidden][16]
    const float* h_in;
    float* h_out;  // h and c: [batch][hidden]
    float* c;
    float* y;                  // h' also goes to y + t y_t + b y_b; may be null
    const float* peepholes;    // LSTM: of i o f, [3][hidden]; may be null
    const float* hidden_bias;  // GRU: of the hidden gate's product, [hidden]; may be null
    float* z;                  // GRU in two phases: update gate and r h, [batch][hidden]
    float* rh;
    bool reverse;              // t = length - 1 - step, else step
    Activation activation[3];  // f g h
  } direction[2];
  int64_t xw_t, xw_b, y_t, y_b;
  const int32_t* lengths;  // of each sequence, cut to steps; null: steps
  float clip;              // infinity: none
  bool coupled;            // LSTM: f = 1 - i
};

#define HASTEN_KERNEL(name, Args) using name##_fn = void (*)(const Args*, int64_t, int64_t);
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL

/// All kernels of one ISA tier.
struct KernelTable {
  const char* isa;
#define HASTEN_KERNEL(name, Args) name##_fn name;
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL
};

}  // namespace hasten
