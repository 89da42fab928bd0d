// Dims, shapes and layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace hasten {

/// One dimension: a number >= 0, or a symbol ("batch"; two dims with the same symbol are equal).
/// An unnamed unknown is a fresh symbol of its own.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : code_(value) {}  // NOLINT: numbers are dims
  /// The symbol of that name; the same name always gives the same Dim.
  static Dim symbol(const std::string& name);
  /// A symbol unlike all others.
  static Dim fresh();
  /// From the code of a Dim (see code()).
  static Dim from_code(int64_t code);

  bool known() const { return code_ > kSymbolBase; }
  /// The number; only when known().
  int64_t value() const { return code_; }
  /// The number, or a code for the symbol (a large negative number), so that a Dim can travel
  /// through an int64 tensor. See is_symbol_code.
  int64_t code() const { return code_; }
  static bool is_symbol_code(int64_t code) { return code <= kSymbolBase && code > kSymbolEnd; }
  std::string text() const;  // "3", "batch", "?17"

  friend bool operator==(Dim a, Dim b) { return a.code_ == b.code_; }

 private:
  // Symbols are codes in (kSymbolEnd, kSymbolBase]; INT64_MIN itself is a common value in Slice.
  static constexpr int64_t kSymbolBase = INT64_MIN + (int64_t{1} << 40);
  static constexpr int64_t kSymbolEnd = INT64_MIN + (int64_t{1} << 20);
  int64_t code_ = 0;
};

using Shape = std::vector<Dim>;
using Dims = std::vector<int64_t>;  // concrete

/// All numbers?
bool is_known(const Shape& shape);
/// The numbers of a known shape.
Dims to_dims(const Shape& shape);
Shape to_shape(std::span<const int64_t> dims);
/// "[batch,3,224,224]"
std::string shape_text(const Shape& shape);
std::string dims_text(std::span<const int64_t> dims);

/// Product of the dims; error (invalid_model) when it doesn't fit below 2^62 or a dim is negative.
/// The empty product is 1.
Result<int64_t> checked_count(std::span<const int64_t> dims);
/// Product of dims that were checked before.
inline int64_t count_of(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

/// How the elements of a tensor lie in memory. Dims are always given in logical (NCHW) order.
enum class Layout : uint8_t {
  kPlain,    // row-major in logical order
  kNchw16c,  // [N][ceil(C/16)][H][W][16], the channels that pad the last block are zero
};
const char* layout_name(Layout layout);

/// Elements that a tensor of these dims takes in that layout (padding included).
int64_t storage_count(std::span<const int64_t> dims, Layout layout);

/// Numpy/ONNX multidirectional broadcast of two shapes.
/// Error: invalid_model, naming both shapes. Unknown against 1 gives the unknown; unknown against
/// a number above 1 gives the number.
Result<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace hasten
