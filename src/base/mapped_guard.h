// Keeps a process alive whose mapped file is cut short by somebody else.
#pragma once

#include <cstddef>

namespace hasten {

/// Watches [data, data + size) of a mapped file. Reading a page that the file no longer has raises
/// SIGBUS; for a watched range the handler puts zeros in the place of what is gone, and intact()
/// tells. Other faults go to the handler that was there before.
class MappedGuard {
 public:
  MappedGuard() = default;
  MappedGuard(const void* data, size_t size);
  MappedGuard(MappedGuard&& other) noexcept;
  MappedGuard& operator=(MappedGuard&& other) noexcept;
  /// Must come before the range is unmapped.
  ~MappedGuard();

  bool intact() const;

  struct Range;

 private:
  Range* range_ = nullptr;
};

}  // namespace hasten
