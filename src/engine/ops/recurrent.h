// What LSTM, GRU and RNN share: attributes, shapes, the loop of the references.
#pragma once

#include <string>
#include <vector>

#include "engine/ops/activation.h"
#include "engine/ops/matrix_product.h"

namespace hasten {

/// Inputs of all three; LSTM has two more.
enum RecurrentInput : size_t { kInX, kInW, kInR, kInB, kInLengths, kInH, kInC, kInP };

/// The attributes.
struct Recurrent {
  int64_t gates = 1;
  int64_t directions = 1;
  bool reverse[2] = {};
  bool batch_first = false;             // layout = 1
  float clip = 0;                       // infinity: none
  std::vector<Activation> activations;  // of the first direction, then of the second

  /// `defaults`: the names for one direction. Errors: invalid_model.
  static Result<Recurrent> parse(const OpContext& c, int64_t gates,
                                 const std::vector<std::string>& defaults);
  const Activation* activations_of(int64_t direction) const {
    return activations.data() +
           static_cast<size_t>(direction) * activations.size() / static_cast<size_t>(directions);
  }
};

struct RecurrentDims {
  int64_t steps, batch, input, hidden;
  RecurrentDims(const Recurrent& r, const Dims& x, const Dims& recurrence);
};

/// Checks all inputs and sets all outputs; `cell`: of an LSTM, with C and P.
Status infer_recurrent(InferContext& c, const Recurrent& r, bool cell);

/// One direction, sequence and step of a reference.
struct RecurrentStep {
  int64_t direction;
  const double* x;           // [gates * hidden]: X W^T + Wb
  const double* recurrence;  // R of the direction [gates * hidden][hidden]
  const double* bias;        // Rb [gates * hidden]
  const double* h;           // [hidden]
  double* h_next;            // [hidden]
  double* c;                 // [hidden], changed in place; null without a cell
  int64_t hidden;
  /// R v of a row, no bias.
  double product(int64_t row, const double* v) const;
};
/// Plain loops in double around one step of a cell.
Status reference_recurrent(RefContext& c, const Recurrent& r, bool cell,
                           const std::function<void(const RecurrentStep&)>& step);
/// LSTM by plain loops; products take recurrent_input(h) in place of h.
Status reference_lstm(RefContext& c, const Recurrent& r,
                      const std::function<const double*(const double*)>& recurrent_input);
/// The elements as doubles; none if absent.
std::vector<double> doubles_of(const TensorView& t);

/// A length that is outside [0, steps], as an index + 1; 0: none. Absent lengths are all right.
int64_t bad_length(const int32_t* lengths, int64_t batch, int64_t steps);

}  // namespace hasten
