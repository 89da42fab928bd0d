// Arguments of matrix products and of the recurrent layers made of them.
#pragma once

#include <stdint.h>

#include "engine/kernels/activation_args.h"

namespace hasten {

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
  /// Quantized LSTM: h R^T from h quantized row by row and weights of 8 bits. Its first phase
  /// quantizes h_in; a row belongs to the item of block row % blocks.
  struct Quantized {
    const void* r;  // [blocks * gates][pairs][16][2]
    bool r_signed;
    const float* scale;   // [blocks * gates * 16]
    const int32_t* zero;  // likewise; null: 0
    int64_t pairs;        // ceil(hidden / 2)
    int16_t* h;           // [batch][pairs * 2]
    int32_t* h_sum;       // [batch]
    float* h_scale;
  } quantized[2];
};

}  // namespace hasten
