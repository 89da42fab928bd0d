#include "engine/ops/packed.h"

#include <cstdlib>
#include <cstring>

namespace hasten {

Result<const void*> PackedStore::get(ValueId value, const std::string& format, size_t bytes,
                                     const std::function<void(void*)>& fill) {
  std::lock_guard lock(mutex_);
  auto& entry = entries_[{value, format}];
  if (entry.data != nullptr) {
    if (entry.bytes == bytes) return entry.data.get();
    return fail(Code::kInvalidModel, "packed weights '{}' of value {} have {} bytes, not {}",
                format, value, entry.bytes, bytes);
  }
  if (limit_ > 0 && bytes_ + bytes > limit_) {
    return fail(Code::kOutOfMemory, "packed weights need {} bytes, the limit is {}", bytes_ + bytes,
                limit_);
  }
  void* data = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (data == nullptr) return fail(Code::kOutOfMemory, "no memory for {} bytes of weights", bytes);
  std::memset(data, 0, bytes);
  fill(data);
  entry.data =
      std::shared_ptr<const void>(data, [](const void* p) { std::free(const_cast<void*>(p)); });
  entry.bytes = bytes;
  bytes_ += bytes;
  return entry.data.get();
}

void PackedStore::put(ValueId value, const std::string& format, Entry entry) {
  std::lock_guard lock(mutex_);
  bytes_ += entry.bytes;
  entries_[{value, format}] = std::move(entry);
}

size_t PackedStore::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::map<std::pair<ValueId, std::string>, PackedStore::Entry> PackedStore::entries() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace hasten
