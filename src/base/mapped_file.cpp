#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace hasten {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not hang.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return fail(Code::kIo, "cannot open '{}': {}", path, std::strerror(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return fail(Code::kIo, "cannot read '{}': {}", path, std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::kIo, "'{}' is not a regular file", path);
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(info.st_size);
  if (file.size_ > 0) {
    void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) {
      file.size_ = 0;
      return fail(Code::kIo, "cannot map '{}': {}", path, std::strerror(errno));
    }
    file.data_ = static_cast<const std::byte*>(data);
    file.guard_ = MappedGuard(data, file.size_);
  }
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  std::swap(guard_, other.guard_);
  return *this;
}

MappedFile::~MappedFile() {
  guard_ = MappedGuard();
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Status MappedFile::check_intact() const {
  if (guard_.intact()) return {};
  return fail(Code::kIo, "'{}' was cut short while it was in use: it had {} bytes; load it again",
              path_, size_);
}

Result<std::string> read_file(const std::string& path) {
  HASTEN_TRY(MappedFile file, MappedFile::open(path));
  auto bytes = file.bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  HASTEN_CHECK(file.check_intact());
  return text;
}

Status write_file_atomic(const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  auto give_up = [&](const char* what) -> Status {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return fail(Code::kIo, "cannot {} '{}': {}", what, path, std::strerror(reason));
  };
  {
    Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) return give_up("write");
    const std::byte* at = bytes.data();
    size_t left = bytes.size();
    while (left > 0) {
      const ssize_t n = ::write(fd.get(), at, left);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return give_up("write");
      at += n;
      left -= static_cast<size_t>(n);
    }
    if (::fsync(fd.get()) != 0) return give_up("write");
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return give_up("rename the new file to");
  return {};
}

Status write_file_atomic(const std::string& path, std::string_view text) {
  return write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::string hash_hex(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace hasten
