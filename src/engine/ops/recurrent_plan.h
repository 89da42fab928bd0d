// Lowering and running of LSTM, GRU and RNN.
#pragma once

#include "engine/ops/quantized_recurrent_weights.h"
#include "engine/ops/recurrent_weights.h"

namespace hasten {

/// What differs between the three.
struct RecurrentKernels {
  const char* name;
  using Step = void (*)(const RecurrentArgs*, int64_t, int64_t);
  Step phases[2];  // of a step in time; the second may be null
  int64_t merged;  // gates whose recurrent bias joins the bias of X W^T
  bool cell;
  bool coupled;
};

/// Lowers the node to those kernels; refuses what is not f32.
Status lower_recurrent(LowerContext& c, const Recurrent& r, const RecurrentKernels& kernels);
/// The same with the inputs of DynamicQuantizeLSTM.
Status lower_quantized_recurrent(LowerContext& c, const Recurrent& r,
                                 const RecurrentKernels& kernels);

}  // namespace hasten
