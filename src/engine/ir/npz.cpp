// The zip files of numpy.savez and numpy.savez_compressed.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "base/mapped_file.h"
#include "engine/ir/npy.h"

namespace hasten {

namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50,
                   kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kLocator64Bytes = 20,
                 kEnd64Bytes = 56;
constexpr uint64_t kMaxRatio = 1040;  // deflate makes at most 1032 bytes of one

template <class T>
T load(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// Does [at, at + size) lie in a file of `total` bytes?
bool fits(uint64_t at, uint64_t size, uint64_t total) { return at <= total && size <= total - at; }

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0, bytes = 0, offset = 0;
};

struct Directory {
  uint64_t offset = 0, bytes = 0, entries = 0;
};

Result<Directory> find_directory(Bytes file, const std::string& place) {
  if (file.empty()) return fail(Code::kInvalidArgument, "{}: the file is empty", place);
  if (file.size() < kEndBytes) return fail(Code::kInvalidArgument, "{}: not a .npz file", place);
  // The end record stands before a comment of at most 65535 bytes.
  const size_t lowest = file.size() - std::min<size_t>(file.size(), kEndBytes + 65535);
  for (size_t at = file.size() - kEndBytes + 1; at-- > lowest;) {
    if (load<uint32_t>(file, at) != kEndMagic) continue;
    if (at + kEndBytes + load<uint16_t>(file, at + 20) != file.size()) continue;
    Directory d{load<uint32_t>(file, at + 16), load<uint32_t>(file, at + 12),
                load<uint16_t>(file, at + 10)};
    const bool wide = d.offset == UINT32_MAX || d.bytes == UINT32_MAX || d.entries == UINT16_MAX;
    if (wide && at >= kLocator64Bytes &&
        load<uint32_t>(file, at - kLocator64Bytes) == kLocator64Magic) {
      const auto end64 = load<uint64_t>(file, at - kLocator64Bytes + 8);
      if (!fits(end64, kEnd64Bytes, file.size()) || load<uint32_t>(file, end64) != kEnd64Magic) {
        return fail(Code::kInvalidArgument, "{}: its zip64 directory is damaged", place);
      }
      d = {load<uint64_t>(file, end64 + 48), load<uint64_t>(file, end64 + 40),
           load<uint64_t>(file, end64 + 32)};
    }
    if (!fits(d.offset, d.bytes, file.size()) || d.entries > d.bytes / kEntryBytes) {
      return fail(Code::kInvalidArgument,
                  "{}: its directory of {} entries at byte {} doesn't fit into the {} bytes", place,
                  d.entries, d.offset, file.size());
    }
    return d;
  }
  return fail(Code::kInvalidArgument, "{}: not a .npz file, or cut off", place);
}

/// Sizes and offset that don't fit 32 bits are in the extra field number 1.
bool read_zip64(Bytes extra, Entry& e) {
  std::array<uint64_t*, 3> fields = {&e.bytes, &e.packed_bytes, &e.offset};
  const bool wanted =
      std::any_of(fields.begin(), fields.end(), [](const uint64_t* f) { return *f == UINT32_MAX; });
  if (!wanted) return true;
  size_t at = 0;
  while (extra.size() - at >= 4) {
    const auto id = load<uint16_t>(extra, at);
    const size_t size = load<uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at) return false;
    if (id == 1) {
      const size_t end = at + size;
      for (uint64_t* field : fields) {
        if (*field != UINT32_MAX) continue;
        if (end - at < 8) return false;
        *field = load<uint64_t>(extra, at);
        at += 8;
      }
      return true;
    }
    at += size;
  }
  return false;
}

Result<std::vector<Entry>> read_directory(Bytes file, const std::string& place) {
  HASTEN_TRY(const Directory d, find_directory(file, place));
  const Bytes directory = file.subspan(d.offset, d.bytes);
  std::vector<Entry> entries;
  size_t at = 0;
  for (uint64_t i = 0; i < d.entries; ++i) {
    auto damaged = [&] {
      return fail(Code::kInvalidArgument, "{}: entry {} of its directory is damaged", place, i);
    };
    if (!fits(at, kEntryBytes, directory.size()) || load<uint32_t>(directory, at) != kEntryMagic) {
      return damaged();
    }
    Entry e;
    e.flags = load<uint16_t>(directory, at + 8);
    e.method = load<uint16_t>(directory, at + 10);
    e.crc = load<uint32_t>(directory, at + 16);
    e.packed_bytes = load<uint32_t>(directory, at + 20);
    e.bytes = load<uint32_t>(directory, at + 24);
    const size_t name = load<uint16_t>(directory, at + 28),
                 extra = load<uint16_t>(directory, at + 30),
                 comment = load<uint16_t>(directory, at + 32);
    e.offset = load<uint32_t>(directory, at + 42);
    at += kEntryBytes;
    if (!fits(at, name + extra + comment, directory.size())) return damaged();
    e.name.assign(reinterpret_cast<const char*>(directory.data() + at), name);
    if (!read_zip64(directory.subspan(at + name, extra), e)) return damaged();
    at += name + extra + comment;
    entries.push_back(std::move(e));
  }
  return entries;
}

/// Inflates piece by piece, adding up the checksum.
class Inflater {
 public:
  explicit Inflater(Bytes packed) {
    std::memset(&stream_, 0, sizeof(stream_));
    ok_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
    packed_ = packed;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Fills `out` as far as there is something; returns how many bytes, or nothing if damaged.
  std::optional<size_t> read(std::span<std::byte> out) {
    if (!ok_) return std::nullopt;
    constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits
    size_t done = 0;
    while (done < out.size() && !end_) {
      const size_t in = std::min(packed_.size(), kPiece),
                   room = std::min(out.size() - done, kPiece);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
      stream_.avail_in = static_cast<uInt>(in);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const size_t used = in - stream_.avail_in, made = room - stream_.avail_out;
      packed_ = packed_.subspan(used);
      crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out.data() + done), made);
      done += made;
      if (status == Z_STREAM_END) {
        end_ = true;
      } else if (status != Z_OK || (used == 0 && made == 0)) {
        return std::nullopt;
      }
    }
    return done;
  }
  /// All of it read, and nothing behind it?
  bool at_end() {
    std::byte none{};
    const auto more = end_ ? std::optional<size_t>(0) : read({&none, 1});
    return more == size_t{0} && end_ && packed_.empty();
  }
  uint32_t crc() const { return static_cast<uint32_t>(crc_); }

 private:
  z_stream stream_;
  Bytes packed_;
  bool ok_ = false, end_ = false;
  uLong crc_ = 0;
};

/// The entry's bytes in the file, still packed.
Result<Bytes> packed_bytes(Bytes file, const Entry& e, const std::string& place) {
  if (!fits(e.offset, kLocalBytes, file.size()) || load<uint32_t>(file, e.offset) != kLocalMagic) {
    return fail(Code::kInvalidArgument, "{}: its header is damaged", place);
  }
  const uint64_t start = e.offset + kLocalBytes + load<uint16_t>(file, e.offset + 26) +
                         load<uint16_t>(file, e.offset + 28);
  if (!fits(start, e.packed_bytes, file.size())) {
    return fail(Code::kInvalidArgument, "{}: its {} bytes at byte {} reach beyond the file's {}",
                place, e.packed_bytes, start, file.size());
  }
  return file.subspan(start, e.packed_bytes);
}

Result<Tensor> read_deflated(Bytes packed, const Entry& e, const std::string& place) {
  auto damaged = [&] {
    return fail(Code::kInvalidArgument, "{}: its compressed bytes are damaged", place);
  };
  if (e.bytes / kMaxRatio > packed.size()) {
    return fail(Code::kInvalidArgument, "{}: {} bytes can't be packed into {}", place, e.bytes,
                packed.size());
  }
  Inflater inflater(packed);
  // The header first: it says how much may follow.
  std::vector<std::byte> head(std::min<uint64_t>(e.bytes, 12));
  auto got = inflater.read(head);
  if (!got) return damaged();
  head.resize(*got);
  if (head.size() == 12 && head[6] >= std::byte{1}) {
    uint32_t length = 0;
    const bool narrow = head[6] == std::byte{1};
    std::memcpy(&length, head.data() + 8, narrow ? 2 : 4);
    const uint64_t want = std::min<uint64_t>(e.bytes, uint64_t{narrow ? 10u : 12u} + length);
    if (want > head.size()) {
      head.resize(want);
      got = inflater.read(std::span(head).subspan(12));
      if (!got) return damaged();
      head.resize(12 + *got);
    }
  }
  HASTEN_TRY(const NpyHeader header, parse_npy_header(head, place));
  if (header.header_bytes + header.data_bytes != e.bytes) {
    return fail(Code::kInvalidArgument, "{}: {}{} needs {} bytes, the zip says {}", place,
                dtype_name(header.dtype), dims_text(header.dims),
                header.header_bytes + header.data_bytes, e.bytes);
  }
  std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[header.data_bytes]);
  if (!data)
    return fail(Code::kOutOfMemory, "{}: no memory for {} bytes", place, header.data_bytes);
  got = inflater.read({data.get(), header.data_bytes});
  if (got != header.data_bytes || !inflater.at_end()) return damaged();
  if (inflater.crc() != e.crc) {
    return fail(Code::kInvalidArgument, "{}: its checksum is {:08x}, the file says {:08x}", place,
                inflater.crc(), e.crc);
  }
  return decode_npy(header, {data.get(), header.data_bytes}, place);
}

Result<Tensor> read_entry(Bytes file, const Entry& e, const std::string& place) {
  if (e.flags & 1) return fail(Code::kUnsupported, "{}: it is encrypted", place);
  HASTEN_TRY(const Bytes packed, packed_bytes(file, e, place));
  if (e.method == 8) return read_deflated(packed, e, place);
  if (e.method != 0) {
    return fail(Code::kUnsupported, "{}: compression method {} is not supported", place, e.method);
  }
  if (e.packed_bytes != e.bytes) {
    return fail(Code::kInvalidArgument, "{}: it is stored, but {} bytes are said to be {}", place,
                e.packed_bytes, e.bytes);
  }
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(packed.data()), packed.size()));
  if (crc != e.crc) {
    return fail(Code::kInvalidArgument, "{}: its checksum is {:08x}, the file says {:08x}", place,
                crc, e.crc);
  }
  return parse_npy(packed, place);
}

template <class T>
void store(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

/// What a local header and a directory entry have in common.
void store_entry(std::string& out, const Entry& e) {
  store<uint16_t>(out, 20);        // version needed
  store<uint16_t>(out, 0x800);     // names are UTF-8
  store<uint16_t>(out, 0);         // stored
  store<uint32_t>(out, 0x210000);  // 1980-01-01: the same arrays give the same file
  store<uint32_t>(out, e.crc);
  store<uint32_t>(out, static_cast<uint32_t>(e.bytes));
  store<uint32_t>(out, static_cast<uint32_t>(e.bytes));
  store<uint16_t>(out, static_cast<uint16_t>(e.name.size()));
  store<uint16_t>(out, 0);
}

}  // namespace

Result<Arrays> parse_npz(Bytes bytes, const std::string& place) {
  HASTEN_TRY(const std::vector<Entry> entries, read_directory(bytes, place));
  Arrays arrays;
  std::set<std::string> names;
  uint64_t packed = 0;
  for (const Entry& e : entries) {
    // Entries that share bytes could unpack to more than any honest file.
    if (e.packed_bytes > bytes.size() - packed) {
      return fail(Code::kInvalidArgument, "{}: its entries have more bytes than the file", place);
    }
    packed += e.packed_bytes;
    if (!e.name.ends_with(".npy")) {
      return fail(Code::kInvalidArgument, "{}: '{}' in it is not a .npy file", place, e.name);
    }
    std::string name = e.name.substr(0, e.name.size() - 4);
    if (!names.insert(name).second) {
      return fail(Code::kInvalidArgument, "{}: array '{}' is there twice", place, name);
    }
    HASTEN_TRY(Tensor array, read_entry(bytes, e, fmt::format("{}: array '{}'", place, name)));
    arrays.emplace_back(std::move(name), std::move(array));
  }
  return arrays;
}

Result<Arrays> read_npz(const std::string& path) {
  HASTEN_TRY(const MappedFile file, MappedFile::open(path));
  auto arrays = parse_npz(file.bytes(), path);
  HASTEN_CHECK(file.check_intact());
  return arrays;
}

Status write_npz(const std::string& path,
                 std::span<const std::pair<std::string, TensorView>> arrays) {
  std::string out, directory;
  if (arrays.size() >= UINT16_MAX) {
    return fail(Code::kInvalidArgument, "'{}': {} arrays are too many for one file", path,
                arrays.size());
  }
  for (const auto& [name, tensor] : arrays) {
    auto made = npy_bytes(tensor);
    if (!made) {
      return fail(made.error().code, "'{}': array '{}': {}", path, name, made.error().message);
    }
    const std::string bytes = std::move(*made);
    if (name.size() + 4 > UINT16_MAX || out.size() + bytes.size() > UINT32_MAX / 2) {
      return fail(Code::kInvalidArgument, "'{}': array '{}' makes it too large for a .npz", path,
                  name);
    }
    Entry e;
    e.name = name + ".npy";
    e.offset = out.size();
    e.bytes = bytes.size();
    e.crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    store(out, kLocalMagic);
    store_entry(out, e);
    out += e.name;
    out += bytes;
    store(directory, kEntryMagic);
    store<uint16_t>(directory, 20);
    store_entry(directory, e);
    directory.append(10, '\0');  // comment, disk, attributes
    store<uint32_t>(directory, static_cast<uint32_t>(e.offset));
    directory += e.name;
  }
  const auto offset = static_cast<uint32_t>(out.size());
  out += directory;
  store(out, kEndMagic);
  store<uint32_t>(out, 0);
  store(out, static_cast<uint16_t>(arrays.size()));
  store(out, static_cast<uint16_t>(arrays.size()));
  store(out, static_cast<uint32_t>(directory.size()));
  store(out, offset);
  store<uint16_t>(out, 0);
  return write_file_atomic(path, out);
}

}  // namespace hasten
