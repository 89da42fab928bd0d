// The largest error of each function of kernels/math.h, against <cmath> in double, and the same
// bits on every tier.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "engine/kernels/select.h"

namespace hasten {

namespace {

using Kernel = void (*)(const UnaryArgs*, int64_t, int64_t);

/// Every 1009th float: all exponents, both signs, denormals, infinities and NaN.
std::vector<float> floats_of_all_sizes() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 1009) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (const uint32_t bits : {0x0u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x1u,
                              0x80000001u, 0x00800000u, 0x7f7fffffu, 0xff7fffffu}) {
    x.push_back(std::bit_cast<float>(bits));
  }
  return x;
}

/// |got - want| in units of the last place of want, a float; 0 for equal infinities and NaNs.
double error_in_ulp(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  const auto rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // Just below or above the largest float: count from the largest number.
    const double edge = std::ldexp(1.0, 128);
    const double g = std::isinf(got) ? std::copysign(edge, got) : got;
    return std::abs(g - std::max(-edge, std::min(edge, want))) / std::ldexp(1.0, 104);
  }
  const int exponent = std::max(std::ilogb(want == 0 ? 1e-300 : want), -126);
  return std::abs(got - want) / std::ldexp(1.0, exponent - 23);
}

struct Row {
  const char* name;
  Kernel KernelTable::*kernel;
  double (*exact)(double);
  double max_ulp;
  float low, high;  // arguments looked at
};

constexpr float kInf = HUGE_VALF;

const Row kRows[] = {
    {"exp", &KernelTable::exp_f32, [](double x) { return std::exp(x); }, 1, -kInf, kInf},
    {"log", &KernelTable::log_f32, [](double x) { return std::log(x); }, 1, -kInf, kInf},
    {"tanh", &KernelTable::tanh_f32, [](double x) { return std::tanh(x); }, 3, -kInf, kInf},
    {"erf", &KernelTable::erf_f32, [](double x) { return std::erf(x); }, 7, -kInf, kInf},
    {"sigmoid", &KernelTable::sigmoid_f32, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.5,
     -kInf, kInf},
    {"sqrt", &KernelTable::sqrt_f32, [](double x) { return std::sqrt(x); }, 0.5, -kInf, kInf},
    {"softplus", &KernelTable::softplus_f32,
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, 2.5, -kInf,
     kInf},
    {"sin", &KernelTable::sin_f32, [](double x) { return std::sin(x); }, 2, -kInf, kInf},
    {"cos", &KernelTable::cos_f32, [](double x) { return std::cos(x); }, 2, -kInf, kInf},
    {"tan", &KernelTable::tan_f32, [](double x) { return std::tan(x); }, 4, -kInf, kInf},
    {"asin", &KernelTable::asin_f32, [](double x) { return std::asin(x); }, 3, -kInf, kInf},
    {"acos", &KernelTable::acos_f32, [](double x) { return std::acos(x); }, 2, -kInf, kInf},
    {"atan", &KernelTable::atan_f32, [](double x) { return std::atan(x); }, 2, -kInf, kInf},
    {"sinh", &KernelTable::sinh_f32, [](double x) { return std::sinh(x); }, 3, -kInf, kInf},
    {"cosh", &KernelTable::cosh_f32, [](double x) { return std::cosh(x); }, 3, -kInf, kInf},
    {"asinh", &KernelTable::asinh_f32, [](double x) { return std::asinh(x); }, 3, -kInf, kInf},
    {"acosh", &KernelTable::acosh_f32, [](double x) { return std::acosh(x); }, 3, -kInf, kInf},
    {"atanh", &KernelTable::atanh_f32, [](double x) { return std::atanh(x); }, 3, -kInf, kInf},
    {"floor", &KernelTable::floor_f32, [](double x) { return std::floor(x); }, 0, -kInf, kInf},
    {"ceil", &KernelTable::ceil_f32, [](double x) { return std::ceil(x); }, 0, -kInf, kInf},
    {"round", &KernelTable::round_f32, [](double x) { return std::nearbyint(x); }, 0, -kInf, kInf},
};

}  // namespace

TEST(KernelMath, StaysWithinTheStatedErrorOnAllFloats) {
  const std::vector<float> x = floats_of_all_sizes();
  std::vector<float> y(x.size());
  for (const Row& row : kRows) {
    const UnaryArgs args{x.data(), y.data(), 1, 1};
    (kernel_table(supported_isas().back()).*row.kernel)(&args, 0, static_cast<int64_t>(x.size()));
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isnan(x[i]) && (x[i] < row.low || x[i] > row.high)) continue;
      const double e = error_in_ulp(y[i], row.exact(x[i]));
      if (e > worst) {
        worst = e;
        at = x[i];
      }
    }
    EXPECT_LE(worst, row.max_ulp) << row.name << " at " << at << " bits " << std::hex
                                  << std::bit_cast<uint32_t>(at);
    RecordProperty(row.name, std::to_string(worst));
    if (std::getenv("HASTEN_VERBOSE")) printf("%-10s %.3f ulp at %g\n", row.name, worst, at);
  }
}

TEST(KernelMath, HasTheSameBitsOnEveryTier) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 104729) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  std::vector<float> y(x.size()), z(x.size());
  for (const Isa isa : supported_isas()) {
    for (const auto& [name, kernel] :
         std::initializer_list<std::pair<const char*, Kernel KernelTable::*>>{
             {"relu_f32", &KernelTable::relu_f32},
             {"leaky_relu_f32", &KernelTable::leaky_relu_f32},
             {"clip_f32", &KernelTable::clip_f32},
             {"sigmoid_f32", &KernelTable::sigmoid_f32},
             {"hard_sigmoid_f32", &KernelTable::hard_sigmoid_f32},
             {"hard_swish_f32", &KernelTable::hard_swish_f32},
             {"tanh_f32", &KernelTable::tanh_f32},
             {"exp_f32", &KernelTable::exp_f32},
             {"log_f32", &KernelTable::log_f32},
             {"sqrt_f32", &KernelTable::sqrt_f32},
             {"reciprocal_f32", &KernelTable::reciprocal_f32},
             {"erf_f32", &KernelTable::erf_f32},
             {"sin_f32", &KernelTable::sin_f32},
             {"cos_f32", &KernelTable::cos_f32},
             {"tan_f32", &KernelTable::tan_f32},
             {"asin_f32", &KernelTable::asin_f32},
             {"acos_f32", &KernelTable::acos_f32},
             {"atan_f32", &KernelTable::atan_f32},
             {"sinh_f32", &KernelTable::sinh_f32},
             {"cosh_f32", &KernelTable::cosh_f32},
             {"asinh_f32", &KernelTable::asinh_f32},
             {"acosh_f32", &KernelTable::acosh_f32},
             {"atanh_f32", &KernelTable::atanh_f32},
             {"mish_f32", &KernelTable::mish_f32},
             {"softsign_f32", &KernelTable::softsign_f32},
             {"thresholded_relu_f32", &KernelTable::thresholded_relu_f32},
             {"celu_f32", &KernelTable::celu_f32},
             {"abs_f32", &KernelTable::abs_f32},
             {"neg_f32", &KernelTable::neg_f32},
             {"floor_f32", &KernelTable::floor_f32},
             {"ceil_f32", &KernelTable::ceil_f32},
             {"round_f32", &KernelTable::round_f32},
             {"sign_f32", &KernelTable::sign_f32},
             {"softplus_f32", &KernelTable::softplus_f32},
             {"gelu_f32", &KernelTable::gelu_f32},
             {"gelu_tanh_f32", &KernelTable::gelu_tanh_f32},
             {"elu_f32", &KernelTable::elu_f32},
         }) {
      const UnaryArgs args{x.data(), y.data(), 0.3f, 0.7f};
      (kernel_table(isa).*kernel)(&args, 0, static_cast<int64_t>(x.size()));
      const UnaryArgs scalar{x.data(), z.data(), 0.3f, 0.7f};
      (kernel_table(Isa::kScalar).*kernel)(&scalar, 0, static_cast<int64_t>(x.size()));
      int64_t different = 0, first = -1;
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(y[i]) && std::isnan(z[i])) continue;
        if (std::bit_cast<uint32_t>(y[i]) == std::bit_cast<uint32_t>(z[i])) continue;
        if (different++ == 0) first = static_cast<int64_t>(i);
      }
      EXPECT_EQ(different, 0) << name << " on " << isa_name(isa) << ", first at "
                              << x[static_cast<size_t>(first)] << ": "
                              << y[static_cast<size_t>(first)] << " and "
                              << z[static_cast<size_t>(first)];
    }
  }
}

}  // namespace hasten
