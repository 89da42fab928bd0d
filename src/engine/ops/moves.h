// Moving elements without looking at them: the plain loops of references, and what operators lower
// to the kernels copy, transpose and map_axes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/ops/op.h"

namespace hasten {

/// Calls f(T{}) with a type as wide as an element of that dtype: unsigned integers or std::string.
template <class F>
void dispatch_bits(DType t, F&& f) {
  if (t == DType::kString) return f(std::string{});
  switch (dtype_size(t)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return;
  }
}

/// A block of elements seen on both sides; starts and strides in elements.
struct StridedBlock {
  Dims dims;
  Dims in_strides, out_strides;
  int64_t in_start = 0, out_start = 0;
};

/// The plain loop: out[…] = in[…] over the block.
void copy_block(DType dtype, const void* in, void* out, const StridedBlock& block);

/// Where each element along an axis comes from: an index of the input's axis, or kFill.
using AxisMap = std::vector<int64_t>;
constexpr int64_t kFill = -1;
AxisMap identity_map(int64_t n);

/// The plain loop: out[i0,i1,…] = in[maps[0][i0], maps[1][i1], …], or *fill where a map says so.
void map_block(DType dtype, const void* in, std::span<const int64_t> in_dims,
               std::span<const AxisMap> maps, const void* fill, void* out);

/// Dims as they lie in memory: those of the tensor, or [N,C/16,…] of blocks of 16 elements.
struct StoredDims {
  Dims dims;
  int64_t element_bytes;
};
StoredDims storage_of(const Facts& facts);

/// Are all present inputs and outputs plain and without strings? Else refuses that kernel.
bool plain_numbers(LowerContext& c, const char* kernel);

/// The copies that make up one step, merged into few dims and split over threads by output.
class CopyPlan {
 public:
  /// Input `in` to output `out`; the block's unit is `element_bytes`.
  void add(size_t in, size_t out, const StridedBlock& block, int64_t element_bytes);
  /// One element (at most 8 bytes) all over output `out`.
  void add_fill(const void* element, int64_t element_bytes, size_t out, int64_t count);
  /// Takes the kernel; refuses it if a block has too many dims.
  void lower(LowerContext& c);

 private:
  struct Part {
    void (*kernel)(const CopyArgs*, int64_t, int64_t);
    CopyArgs args;
    int64_t first, items;
    size_t in, out;
    int64_t in_offset, out_offset;  // bytes
  };
  static constexpr size_t kElement = SIZE_MAX;  // `in` of a fill
  struct State {
    std::vector<Part> parts;
    std::array<char, 8> element{};
    int64_t items = 0, grain = 1;
  };
  struct Draft {
    CopyArgs args;
    bool transpose;
    size_t in, out;
    int64_t in_offset, out_offset;
  };
  std::vector<Draft> drafts_;
  std::array<char, 8> element_{};
  bool too_many_dims_ = false;
};

/// Lowers output 0 = input 0 through maps (see map_block), both stored like `in`; `fill` is one
/// element of the storage (may be null if no map has kFill).
void lower_map(LowerContext& c, const StoredDims& in, std::vector<AxisMap> maps, const void* fill);

}  // namespace hasten
