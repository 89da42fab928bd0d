// https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html, opsets 17-21; numbers. As ONNX's own
// implementation: the edges of the bands are whole bins, rounded down; bins that the spectrum
// doesn't have are left out.
#include <cmath>
#include <optional>

#include "engine/ops/convert.h"
#include "engine/ops/cosine_window.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/fourier.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr const char* kNames[] = {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz",
                                  "upper_edge_hertz"};

Status check_least(const OpContext& c, size_t input, int64_t value) {
  const int64_t least = input == 2 ? 1 : 0;
  if (value < least) {
    return c.invalid("{} is {}, it must be at least {}", kNames[input], value, least);
  }
  return {};
}

Status infer(InferContext& c) {
  HASTEN_TRY(const DType dtype, output_dtype(c));
  std::optional<int64_t> known[3];
  for (size_t i = 0; i < 3; ++i) {
    HASTEN_TRY(known[i], known_scalar(c, i, kNames[i]));
    if (known[i]) HASTEN_CHECK(check_least(c, i, *known[i]));
  }
  for (size_t i = 3; i < 5; ++i) {
    HASTEN_CHECK(check_dtype(c, i, kFloats));
    if (c.in(i).known_shape() && count_of(to_dims(c.in(i).shape)) != 1) {
      return c.invalid("{} has the shape {}, it must be one number", kNames[i],
                       shape_text(c.in(i).shape));
    }
  }
  Shape out{known[1] ? Dim(*known[1] / 2 + 1) : Dim::fresh(),
            known[0] ? Dim(*known[0]) : Dim::fresh()};
  return set_checked(c, 0, dtype, std::move(out));
}

double number_of(const TensorView& t) {
  double value = 0;
  dispatch_float(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    value = static_cast<double>(Compute<T>::load(*t.as<T>()));
  });
  return value;
}

Status reference(RefContext& c) {
  HASTEN_TRY(const DType dtype, output_dtype(c));
  int64_t operand[3];
  for (size_t i = 0; i < 3; ++i) {
    operand[i] = read_ints(c.in(i)).front();
    HASTEN_CHECK(check_least(c, i, operand[i]));
  }
  const int64_t bands = operand[0], length = operand[1], bins = length / 2 + 1;
  const double lower = number_of(c.in(3)), upper = number_of(c.in(4));
  if (!(lower >= 0 && upper >= lower && std::isfinite(upper))) {
    return c.invalid("the edges are {} and {} hertz", lower, upper);
  }
  HASTEN_TRY(void* memory, c.out(0, dtype, {bins, bands}));
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double first = mel(lower), step = (mel(upper) - first) / static_cast<double>(bands + 2);
  // The bin of an edge, which may lie beyond the spectrum.
  const auto bin_of = [&](int64_t i) {
    const double hertz = 700 * (std::pow(10, (first + static_cast<double>(i) * step) / 2595) - 1);
    const double bin =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(operand[2]));
    return static_cast<int64_t>(std::clamp(bin, 0.0, 0x1p62));
  };
  dispatch_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    std::fill(out, out + bins * bands, T{});
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t left = bin_of(band), peak = bin_of(band + 1), right = bin_of(band + 2);
      const auto put = [&](int64_t bin, int64_t part, int64_t whole) {
        out[bin * bands + band] =
            convert_number<T>(static_cast<double>(part) / static_cast<double>(whole));
      };
      if (left == peak && peak < bins) put(peak, 1, 1);
      for (int64_t j = left; j <= std::min(peak, bins - 1) && left < peak; ++j) {
        put(j, j - left, peak - left);
      }
      for (int64_t j = peak; j < std::min(right, bins); ++j) put(j, right - j, right - peak);
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_mel_weight_matrix() {
  return {
      {"", "MelWeightMatrix", 17, kLastOpset, 5, 5, 1, 1, {"output_datatype"}, infer, reference}};
}

}  // namespace hasten
