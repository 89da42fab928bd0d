// DFT and STFT: the discrete Fourier transform of one row, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// Transforms of one length. Mixed radix: n times the sum of the prime factors of n.
class Fourier {
 public:
  /// n >= 1. `inverse`: the other sign, and 1 / n.
  Fourier(int64_t n, bool inverse);
  /// In place; x has n numbers.
  void run(std::vector<std::complex<double>>& x);

  /// Longer transforms are refused (unsupported).
  static constexpr int64_t kMost = int64_t{1} << 24;

 private:
  void step(std::complex<double>* x, std::complex<double>* scratch, size_t n, size_t stride);

  bool inverse_;
  std::vector<std::complex<double>> roots_, scratch_;
};

/// A known operand of one integer. Error: invalid_model if it is not one, or not an integer dtype.
Result<std::optional<int64_t>> known_scalar(const InferContext& c, size_t input, const char* what);
/// Is it within [1, Fourier::kMost]? Errors: invalid_model, unsupported.
Status check_length(const OpContext& c, int64_t length, const char* what);

}  // namespace hasten
