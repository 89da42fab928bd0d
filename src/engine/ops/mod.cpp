// https://onnx.ai/onnx/operators/onnx__Mod.html, opsets 10-21, all numbers. fmod = 0: integers
// only, the sign is the divisor's; fmod = 1: C's fmod and %, the sign is the dividend's.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

bool like_fmod(const OpContext& c) { return c.node().attr_int("fmod", 0) != 0; }

Status infer(InferContext& c) {
  const int64_t fmod = c.node().attr_int("fmod", 0);
  if (fmod != 0 && fmod != 1) return c.invalid("fmod is {}, it must be 0 or 1", fmod);
  if (is_float(c.in(0).dtype) && !fmod) return c.invalid("fmod must be 1 for floats");
  return infer_broadcast(c, kNumbers);
}

Status reference(RefContext& c) {
  bool by_zero = false;
  const bool fmod = like_fmod(c);
  HASTEN_CHECK(reference_numbers(c, [&]<class T>(T x, T y) -> T {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(x, y);
    } else {
      if (y == 0) {
        by_zero = true;
        return 0;
      }
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return 0;
      }
      const T rest = static_cast<T>(x % y);
      return !fmod && rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
    }
  }));
  if (by_zero) return c.invalid("divides an integer by zero");
  return {};
}

}  // namespace

std::vector<OpDef> ops_mod() {
  return {{"", "Mod", 10, kLastOpset, 2, 2, 1, 1, {"fmod"}, infer, reference}};
}

}  // namespace hasten
