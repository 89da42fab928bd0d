// A file mapped read-only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/mapped_guard.h"
#include "base/result.h"

namespace hasten {

class MappedFile {
 public:
  /// Maps a regular file. Errors: io (missing, unreadable, not a regular file).
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /// Error: io, once a read has found that the file was cut short since it was mapped. What is gone
  /// reads as zeros then; whoever used the bytes asks afterwards.
  Status check_intact() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
  MappedGuard guard_;
};

/// Reads a whole file. Errors: io.
Result<std::string> read_file(const std::string& path);

/// Writes beside `path`, syncs and renames: a reader sees the old file or the new one, never half.
/// Errors: io (disk full, permission); nothing is left behind then.
Status write_file_atomic(const std::string& path, std::span<const std::byte> bytes);
Status write_file_atomic(const std::string& path, std::string_view text);

/// XXH3-128 of the bytes, as 32 hex digits.
std::string hash_hex(std::span<const std::byte> bytes);

}  // namespace hasten
