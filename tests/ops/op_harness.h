// One node under test: its reference against every kernel it lowers to, on every tier of this CPU,
// with and without threads, in place, at odd addresses, in blocked layouts.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "engine/kernels/select.h"
#include "engine/plan/evaluate.h"
#include "tests/ops/op_run.h"

namespace hasten::test {

inline Tensor floats(Dims dims, std::vector<float> values) {
  return Tensor::floats(std::move(dims), values);
}
inline Tensor ints(Dims dims, std::vector<int64_t> values) {
  return Tensor::ints(std::move(dims), values);
}
/// The numbers as elements of any dtype (bool: not zero).
inline Tensor numbers(DType dtype, Dims dims, const std::vector<double>& values) {
  Tensor t = *Tensor::make(dtype, std::move(dims));
  EXPECT_EQ(t.count(), static_cast<int64_t>(values.size()));
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        t.mutable_as<bool>()[i] = values[i] != 0;
      } else if constexpr (!std::is_same_v<T, std::string>) {
        t.mutable_as<T>()[i] = Compute<T>::store(static_cast<typename Compute<T>::type>(values[i]));
      }
    }
  });
  return t;
}
/// Evenly spread numbers in [low, high), the same for the same seed; integers for integer dtypes.
inline Tensor random_tensor(DType dtype, Dims dims, double low, double high, uint32_t seed = 1) {
  std::mt19937 bits(seed);
  std::vector<double> values(static_cast<size_t>(count_of(dims)));
  for (double& v : values) v = low + (high - low) * (bits() * 0x1p-32);
  return numbers(dtype, std::move(dims), values);
}
inline Tensor random_floats(Dims dims, uint32_t seed = 1, double low = -2, double high = 2) {
  return random_tensor(DType::kF32, std::move(dims), low, high, seed);
}

/// Runs the reference and, on every tier, the kernel: plain, with 2 and 3 threads, at odd addresses
/// and in place. Expects all kernel runs to have the same bits and to be within the tolerance of
/// the reference, and the kernel to be `kernel` ("" : none, the reference serves; "*": any).
/// Returns the reference's outputs, empty after an error.
inline std::vector<Tensor> check_op(const OpCase& c, const std::string& kernel = "*",
                                    Tolerance tolerance = {}) {
  if (c.node.def == nullptr) {
    ADD_FAILURE() << c.node.op << " is not known at opset " << c.node.version;
    return {};
  }
  auto want = evaluate_node(c.node, c.inputs);  // the reference, after inference
  if (!want) {
    ADD_FAILURE() << want.error().message;
    return {};
  }
  const bool elements = std::any_of(want->begin(), want->end(),
                                    [](const Tensor& t) { return !t.empty() && t.count() > 0; });
  static ThreadPool two(2), three(3);
  std::vector<Tensor> first;
  for (const Isa isa : supported_isas()) {
    const auto look = [&](const char* how, const RunOptions& options) -> std::vector<int> {
      SCOPED_TRACE(fmt::format("{} on {}, {}", c.node.op, isa_name(isa), how));
      auto run = run_kernel(c, kernel_table(isa), options);
      if (!run) {
        ADD_FAILURE() << run.error().message;
        return {};
      }
      if (kernel != "*") {
        EXPECT_EQ(run->kernel, elements ? kernel : "nothing")
            << (run->refused.empty()
                    ? ""
                    : run->refused.back().kernel + " refused: " + run->refused.back().reason);
      }
      if (run->kernel.empty()) return {};
      if (first.empty()) {
        first = run->outputs;
        for (size_t i = 0; i < first.size() && i < want->size(); ++i) {
          if (first[i].empty()) continue;
          EXPECT_EQ(difference(first[i], (*want)[i], tolerance), "") << "output " << i;
        }
      }
      for (size_t i = 0; i < first.size(); ++i) {
        if (first[i].empty()) continue;
        EXPECT_EQ(bit_difference(run->outputs[i], first[i]), "") << "output " << i;
      }
      return run->in_place;
    };
    const std::vector<int> in_place = look("1 thread", {});
    if (first.empty()) continue;
    look("2 threads", {.pool = &two});
    look("3 threads", {.pool = &three});
    look("odd addresses", {.offset = 4});
    for (const int i : in_place) {
      const Tensor& t = c.inputs[static_cast<size_t>(i)];
      const Layout layout = static_cast<size_t>(i) < c.in_layouts.size()
                                ? c.in_layouts[static_cast<size_t>(i)]
                                : Layout::kPlain;
      const Tensor& out = (*want)[0];
      if (dtype_size(t.dtype()) != dtype_size(out.dtype()) || layout != c.out_layout ||
          storage_count(t.dims(), layout) != storage_count(out.dims(), c.out_layout)) {
        continue;
      }
      look("in place", {.in_place = i});
    }
  }
  return *want;
}

/// As check_op, and expects output 0 to be `expected`, from an independent source.
inline void check_op(const OpCase& c, const Tensor& expected, const std::string& kernel = "*",
                     Tolerance tolerance = {}) {
  const std::vector<Tensor> got = check_op(c, kernel, tolerance);
  if (!got.empty()) {
    EXPECT_EQ(difference(got[0], expected, tolerance), "") << c.node.op;
  }
}

/// Expects infer() or the reference to fail with that code and a message that contains `text`.
inline void check_error(const OpCase& c, Code code, const std::string& text) {
  if (c.node.def == nullptr) {
    ADD_FAILURE() << c.node.op << " is not known at opset " << c.node.version;
    return;
  }
  auto result = evaluate_node(c.node, c.inputs);
  ASSERT_FALSE(result) << "no error, wanted: " << text;
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(text), std::string::npos)
      << "got:    " << result.error().message << "\nwanted: " << text;
}

}  // namespace hasten::test
