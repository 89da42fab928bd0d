#include "engine/ops/fourier.h"

#include <cmath>

#include "engine/ops/shape_math.h"

namespace hasten {

Fourier::Fourier(int64_t n, bool inverse) : inverse_(inverse) {
  const auto count = static_cast<size_t>(n);
  roots_.resize(count);
  scratch_.resize(count);
  for (size_t k = 0; k < count; ++k) {
    const double turn = static_cast<double>(k) / static_cast<double>(n);
    roots_[k] = std::polar(1.0, (inverse ? 2 : -2) * M_PI * turn);
  }
}

void Fourier::run(std::vector<std::complex<double>>& x) {
  step(x.data(), scratch_.data(), x.size(), 1);
  if (!inverse_) return;
  for (auto& v : x) v /= static_cast<double>(x.size());
}

/// Decimation in time by the smallest factor of n; the roots of order n are every stride-th one.
void Fourier::step(std::complex<double>* x, std::complex<double>* scratch, size_t n,
                   size_t stride) {
  if (n == 1) return;
  size_t p = 2;
  while (p * p <= n && n % p != 0) ++p;
  if (n % p != 0) p = n;
  const size_t m = n / p;
  for (size_t i = 0; i < n; ++i) scratch[i % p * m + i / p] = x[i];
  for (size_t r = 0; r < p && m > 1; ++r) step(scratch + r * m, x + r * m, m, stride * p);
  for (size_t k = 0; k < n; ++k) {
    std::complex<double> sum = scratch[k % m];
    size_t turn = 0;  // r * k modulo n
    for (size_t r = 1; r < p; ++r) {
      turn += k;
      if (turn >= n) turn -= n;
      const std::complex<double> a = scratch[r * m + k % m], w = roots_[turn * stride];
      // Written out: std's product looks for infinities.
      sum += std::complex<double>(a.real() * w.real() - a.imag() * w.imag(),
                                  a.real() * w.imag() + a.imag() * w.real());
    }
    x[k] = sum;
  }
}

Result<std::optional<int64_t>> known_scalar(const InferContext& c, size_t input, const char* what) {
  const Facts& f = c.in(input);
  HASTEN_CHECK(check_int_operand(c, f, what));
  if (f.known_shape() && count_of(to_dims(f.shape)) != 1) {
    return c.invalid("{} has the shape {}, it must be one number", what, shape_text(f.shape));
  }
  const auto values = known_ints(f);
  if (!values || has_symbols(*values)) return std::nullopt;
  return values->front();
}

Status check_length(const OpContext& c, int64_t length, const char* what) {
  if (length < 1) return c.invalid("{} is {}, it must be at least 1", what, length);
  if (length > Fourier::kMost) {
    return c.unsupported("{} {}, at most {}", what, length, Fourier::kMost);
  }
  return {};
}

}  // namespace hasten
