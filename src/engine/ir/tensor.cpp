#include "engine/ir/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/cgroup.h"

namespace hasten {

namespace {

/// From here on the system's own pages are taken: they are zero without being touched.
constexpr size_t kLarge = size_t{32} << 20;

Result<std::shared_ptr<const void>> zeros(size_t bytes) {
  if (bytes < kLarge) {
    void* data = std::aligned_alloc(64, bytes);
    if (data == nullptr)
      return fail(Code::kOutOfMemory, "no memory for a tensor of {} bytes", bytes);
    std::memset(data, 0, bytes);
    return std::shared_ptr<const void>(data,
                                       [](const void* p) { std::free(const_cast<void*>(p)); });
  }
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return fail(Code::kOutOfMemory, "no memory for a tensor of {} bytes", bytes);
  return std::shared_ptr<const void>(
      data, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
}

/// Linux promises more memory than there is, and kills whoever uses it: so we ask first.
Status check_memory(int64_t n, DType dtype) {
  const size_t element = dtype == DType::kString ? sizeof(std::string)
                         : holds_objects(dtype)  ? sizeof(Tensor)
                                                 : dtype_size(dtype);
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(n), element, &bytes) || bytes > INT64_MAX / 2)
    return fail(Code::kOutOfMemory, "no memory for {} elements", n);
  if (bytes < kLarge) return {};
  const int64_t available = available_memory();
  if (available <= 0 || static_cast<int64_t>(bytes) <= available) return {};
  return fail(Code::kOutOfMemory, "no memory for a tensor of {} bytes: {} are available", bytes,
              available);
}

}  // namespace

Result<Tensor> Tensor::make(DType dtype, Dims dims) {
  HASTEN_TRY(const int64_t n, checked_count(dims));
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  HASTEN_CHECK(check_memory(n, dtype));
  if (dtype == DType::kString) {
    auto strings =
        std::shared_ptr<std::string[]>(new (std::nothrow) std::string[static_cast<size_t>(n)]);
    if (!strings) return fail(Code::kOutOfMemory, "no memory for {} strings", n);
    t.data_ = std::shared_ptr<const void>(strings, strings.get());
    return t;
  }
  if (holds_objects(dtype)) {
    auto tensors = std::shared_ptr<Tensor[]>(new (std::nothrow) Tensor[static_cast<size_t>(n)]);
    if (!tensors) return fail(Code::kOutOfMemory, "no memory for {} tensors", n);
    t.data_ = std::shared_ptr<const void>(tensors, tensors.get());
    return t;
  }
  const size_t bytes = (static_cast<size_t>(n) * dtype_size(dtype) + 127) / 64 * 64;
  HASTEN_TRY(t.data_, zeros(bytes));
  return t;
}

Tensor Tensor::borrow(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.data_ = std::shared_ptr<const void>(std::move(owner), data);
  return t;
}

Result<Tensor> Tensor::copy(const TensorView& view) {
  HASTEN_TRY(Tensor t, make(view.dtype, view.dims));
  copy_elements(view.dtype, view.data, t.mutable_data(), view.count());
  return t;
}

void copy_elements(DType dtype, const void* from, void* to, int64_t n) {
  if (dtype == DType::kString) {
    const auto* strings = static_cast<const std::string*>(from);
    std::copy(strings, strings + n, static_cast<std::string*>(to));
  } else if (holds_objects(dtype)) {
    const auto* tensors = static_cast<const Tensor*>(from);
    std::copy(tensors, tensors + n, static_cast<Tensor*>(to));
  } else if (n > 0) {
    std::memcpy(to, from, static_cast<size_t>(n) * dtype_size(dtype));
  }
}

Tensor Tensor::ints(Dims dims, std::span<const int64_t> values) {
  return of<int64_t>(DType::kI64, std::move(dims), values);
}

Tensor Tensor::floats(Dims dims, std::span<const float> values) {
  return of<float>(DType::kF32, std::move(dims), values);
}

Tensor Tensor::reshaped(Dims dims) const {
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

}  // namespace hasten
