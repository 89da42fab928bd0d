// Dense tensors in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/ir/dtype.h"
#include "engine/ir/shape.h"

namespace hasten {

/// Raw storage of IEEE half and bfloat16 numbers; conversions in ir/half.h.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

/// Somebody else's elements, plain layout unless said.
struct TensorView {
  DType dtype = DType::kNone;
  Dims dims;
  const void* data = nullptr;
  Layout layout = Layout::kPlain;

  int64_t count() const { return count_of(dims); }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

/// A tensor that owns or shares its elements. Copies share (elements are immutable once shared).
class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled (empty strings or tensors), 64-byte aligned. Errors: out_of_memory; invalid_model
  /// on an impossible size.
  static Result<Tensor> make(DType dtype, Dims dims);
  /// Elements kept alive by `owner` (a mapped file, say).
  static Tensor borrow(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(DType dtype, Dims dims, std::span<const T> values);
  /// Elements of its own.
  static Result<Tensor> copy(const TensorView& view);
  static Tensor ints(Dims dims, std::span<const int64_t> values);
  static Tensor floats(Dims dims, std::span<const float> values);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t count() const { return count_of(dims_); }
  size_t bytes() const { return static_cast<size_t>(count()) * dtype_size(dtype_); }
  bool empty() const { return dtype_ == DType::kNone; }
  const void* data() const { return data_.get(); }
  void* mutable_data() { return const_cast<void*>(data_.get()); }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_.get());
  }
  template <class T>
  T* mutable_as() {
    return static_cast<T*>(mutable_data());
  }
  TensorView view() const { return {dtype_, dims_, data_.get(), Layout::kPlain}; }
  /// The same elements under other dims of the same count.
  Tensor reshaped(Dims dims) const;

 private:
  DType dtype_ = DType::kNone;
  Dims dims_;
  std::shared_ptr<const void> data_;
};

/// Copies n elements, strings and tensors included.
void copy_elements(DType dtype, const void* from, void* to, int64_t n);

template <class T>
Tensor Tensor::of(DType dtype, Dims dims, std::span<const T> values) {
  Tensor t = *make(dtype, std::move(dims));
  std::copy(values.begin(), values.end(), t.mutable_as<T>());
  return t;
}

}  // namespace hasten
