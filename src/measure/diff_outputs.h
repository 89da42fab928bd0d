// How far the outputs of two models are apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/tensor.h"

namespace hasten {

struct OutputDiff {
  int64_t samples = 0;
  std::optional<double> max_abs;  // over all elements
  std::optional<double> max_rel;  // max |a - b| of an output of a sample / max |a| of the same
  std::optional<double> cosine;   // the least over samples and outputs
  std::optional<double> top1_agreement;  // share of rows with the same argmax
  std::string reason;  // why figures are missing: 'output 1: f32[1,3] and f32[1,4]'
};

/// Collects the outputs of the same samples run by A and B.
///
/// NaN against NaN and equal infinities at the same place count as equal; a NaN or infinity against
/// anything else makes max_abs and max_rel infinite and the cosine 0. Rows for top-1 are the last
/// axis of float outputs of rank 1 to 3 with at least two columns (class scores, token scores);
/// of equal maxima any counts. Strings have no distance: they are equal (0) or infinitely far.
class OutputDiffer {
 public:
  void add(std::span<const TensorView> a, std::span<const TensorView> b);
  OutputDiff result() const;

 private:
  void add_output(size_t index, const TensorView& a, const TensorView& b);

  int64_t samples_ = 0;
  double max_abs_ = 0, max_rel_ = 0, cosine_ = 1;
  int64_t rows_ = 0, agreeing_ = 0;
  std::string reason_;
};

}  // namespace hasten
