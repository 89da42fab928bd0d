#include "engine/ir/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/mapped_file.h"

namespace hasten {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The header is the text of a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
/// 4), }
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  bool eat(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::optional<std::string_view> string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }
  std::optional<bool> boolean() {
    skip_space();
    if (text_.substr(at_, 4) == "True") return at_ += 4, true;
    if (text_.substr(at_, 5) == "False") return at_ += 5, false;
    return std::nullopt;
  }
  std::optional<int64_t> integer() {
    skip_space();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ += static_cast<size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
    return value;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

struct Dict {
  std::string_view descr;
  bool fortran_order = false;
  Dims shape;
};

/// Nothing if the text isn't such a dict.
std::optional<Dict> parse_dict(std::string_view text) {
  DictReader r(text);
  Dict dict;
  bool has_descr = false, has_order = false, has_shape = false;
  if (!r.eat('{')) return std::nullopt;
  while (!r.peek('}')) {
    const auto key = r.string();
    if (!key || !r.eat(':')) return std::nullopt;
    if (*key == "descr" && !has_descr) {
      const auto value = r.string();
      if (!value) return std::nullopt;
      dict.descr = *value;
      has_descr = true;
    } else if (*key == "fortran_order" && !has_order) {
      const auto value = r.boolean();
      if (!value) return std::nullopt;
      dict.fortran_order = *value;
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      if (!r.eat('(')) return std::nullopt;
      while (!r.peek(')')) {
        const auto dim = r.integer();
        if (!dim) return std::nullopt;
        dict.shape.push_back(*dim);
        if (!r.eat(',') && !r.peek(')')) return std::nullopt;
      }
      r.eat(')');
      has_shape = true;
    } else {
      return std::nullopt;
    }
    if (!r.eat(',') && !r.peek('}')) return std::nullopt;
  }
  r.eat('}');
  if (!r.at_end() || !has_descr || !has_order || !has_shape) return std::nullopt;
  return dict;
}

struct Kind {
  char letter;
  int64_t bytes;
  DType dtype;
};
constexpr Kind kKinds[] = {
    {'f', 4, DType::kF32}, {'f', 8, DType::kF64}, {'f', 2, DType::kF16}, {'i', 1, DType::kI8},
    {'i', 2, DType::kI16}, {'i', 4, DType::kI32}, {'i', 8, DType::kI64}, {'u', 1, DType::kU8},
    {'u', 2, DType::kU16}, {'u', 4, DType::kU32}, {'u', 8, DType::kU64}, {'b', 1, DType::kBool},
};

/// "<f4" -> dtype, kind and bytes.
Status parse_descr(std::string_view descr, NpyHeader& header, const std::string& place) {
  int64_t bytes = 0;
  bool valid = descr.size() >= 3 && std::string_view("<>=|").find(descr[0]) != descr.npos;
  if (valid) {
    auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), bytes);
    valid = error == std::errc() && end == descr.data() + descr.size() && bytes >= 0;
  }
  if (descr == "|O") {
    return fail(Code::kUnsupported,
                "{}: it holds Python objects (dtype object): save it with a plain dtype", place);
  }
  if (!valid) return fail(Code::kUnsupported, "{}: dtype '{}' is not supported", place, descr);
  header.kind = descr[1];
  header.item_bytes = bytes;
  if ((descr[1] == 'S' || descr[1] == 'U') && bytes < (int64_t{1} << 31)) {
    header.dtype = DType::kString;
    if (descr[1] == 'U') header.item_bytes = bytes * 4;
  } else {
    for (const Kind& kind : kKinds) {
      if (kind.letter == descr[1] && kind.bytes == bytes) header.dtype = kind.dtype;
    }
  }
  const bool has_order = header.item_bytes > 1 && header.kind != 'S';
  if (header.dtype == DType::kNone || (descr[0] == '>' && has_order)) {
    return fail(Code::kUnsupported, "{}: dtype '{}' is not supported{}", place, descr,
                descr[0] == '>' ? ": save it little-endian" : "");
  }
  return {};
}

void append_utf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

/// One element of kind 'S' or 'U': padded with zeros at its end.
Result<std::string> decode_string(char kind, std::span<const std::byte> item,
                                  const std::string& place) {
  std::string out;
  if (kind == 'S') {
    const std::string_view text = as_text(item);
    return std::string(text.substr(0, text.find_last_not_of('\0') + 1));
  }
  std::vector<uint32_t> codes(item.size() / 4);
  if (!item.empty()) std::memcpy(codes.data(), item.data(), codes.size() * 4);
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  for (uint32_t c : codes) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
      return fail(Code::kInvalidArgument, "{}: {:#x} is no Unicode character", place, c);
    }
    append_utf8(c, out);
  }
  return out;
}

/// For each element in C order, its position in a Fortran-ordered file.
class FortranOrder {
 public:
  explicit FortranOrder(const Dims& dims)
      : dims_(dims), at_(dims.size(), 0), strides_(dims.size()) {
    int64_t stride = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      strides_[i] = stride;
      stride *= dims[i];
    }
  }
  int64_t next() {
    const int64_t position = position_;
    for (size_t d = dims_.size(); d-- > 0;) {
      position_ += strides_[d];
      if (++at_[d] < dims_[d]) break;
      position_ -= strides_[d] * dims_[d];
      at_[d] = 0;
    }
    return position;
  }

 private:
  Dims dims_, at_, strides_;
  int64_t position_ = 0;
};

Status check_bools(const Tensor& tensor, const std::string& place) {
  const auto* bytes = tensor.as<uint8_t>();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (bytes[i] > 1) {
      return fail(Code::kInvalidArgument, "{}: element {} is {}, a bool is 0 or 1", place, i,
                  bytes[i]);
    }
  }
  return {};
}

std::string descr_of(const TensorView& tensor, int64_t string_bytes) {
  if (tensor.dtype == DType::kString) return fmt::format("|S{}", string_bytes);
  const DType dtype = tensor.dtype == DType::kBF16 ? DType::kU16 : tensor.dtype;
  for (const Kind& kind : kKinds) {
    if (kind.dtype == dtype) {
      return fmt::format("{}{}{}", kind.bytes == 1 ? '|' : '<', kind.letter, kind.bytes);
    }
  }
  return "";
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const std::string& place) {
  const std::string_view text = as_text(bytes);
  if (bytes.empty()) return fail(Code::kInvalidArgument, "{}: the file is empty", place);
  if (text.size() < 10 || text.substr(0, 6) != kMagic) {
    return fail(Code::kInvalidArgument, "{}: not a .npy file", place);
  }
  const int major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3) {
    return fail(Code::kUnsupported, "{}: version {} of .npy is not supported", place, major);
  }
  const size_t start = major == 1 ? 10 : 12;
  uint32_t length = 0;
  if (text.size() < start) return fail(Code::kInvalidArgument, "{}: its header is cut off", place);
  std::memcpy(&length, text.data() + 8, start - 8);
  if (length > text.size() - start) {
    return fail(Code::kInvalidArgument, "{}: its header has {} bytes, {} are there", place, length,
                text.size() - start);
  }
  const auto dict = parse_dict(text.substr(start, length));
  if (!dict) {
    return fail(Code::kInvalidArgument,
                "{}: its header is damaged, or of a structured dtype, which is not supported",
                place);
  }
  NpyHeader header;
  HASTEN_CHECK(parse_descr(dict->descr, header, place));
  header.fortran_order = dict->fortran_order;
  header.dims = dict->shape;
  auto count = checked_count(header.dims);
  const auto widest = std::max<int64_t>(header.item_bytes, sizeof(std::string));
  if (!count || *count > INT64_MAX / 2 / widest) {
    return fail(Code::kInvalidArgument, "{}: impossible shape {}", place, dims_text(header.dims));
  }
  header.count = *count;
  header.header_bytes = start + length;
  header.data_bytes = static_cast<size_t>(header.count * header.item_bytes);
  return header;
}

Result<Tensor> decode_npy(const NpyHeader& header, std::span<const std::byte> data,
                          const std::string& place) {
  if (data.size() != header.data_bytes) {
    return fail(Code::kInvalidArgument, "{}: {}{} needs {} bytes of elements, it has {}", place,
                dtype_name(header.dtype), dims_text(header.dims), header.data_bytes, data.size());
  }
  if (header.item_bytes == 0 && header.count > (int64_t{1} << 16)) {
    return fail(Code::kInvalidArgument, "{}: {} empty strings", place, header.count);
  }
  HASTEN_TRY(Tensor tensor, Tensor::make(header.dtype, header.dims));
  const auto item = static_cast<size_t>(header.item_bytes);
  FortranOrder order(header.dims);
  if (header.dtype == DType::kString) {
    for (int64_t i = 0; i < header.count; ++i) {
      const auto from = static_cast<size_t>(header.fortran_order ? order.next() : i);
      HASTEN_TRY(tensor.mutable_as<std::string>()[i],
                 decode_string(header.kind, data.subspan(from * item, item), place));
    }
    return tensor;
  }
  auto* to = tensor.mutable_as<std::byte>();
  if (!header.fortran_order) {
    if (!data.empty()) std::memcpy(to, data.data(), data.size());
  } else {
    for (int64_t i = 0; i < header.count; ++i) {
      std::memcpy(to + static_cast<size_t>(i) * item,
                  data.data() + static_cast<size_t>(order.next()) * item, item);
    }
  }
  if (header.dtype == DType::kBool) HASTEN_CHECK(check_bools(tensor, place));
  return tensor;
}

Result<Tensor> parse_npy(std::span<const std::byte> bytes, const std::string& place) {
  HASTEN_TRY(const NpyHeader header, parse_npy_header(bytes, place));
  return decode_npy(header, bytes.subspan(header.header_bytes), place);
}

Result<Tensor> read_npy(const std::string& path) {
  HASTEN_TRY(const MappedFile file, MappedFile::open(path));
  auto array = parse_npy(file.bytes(), path);
  HASTEN_CHECK(file.check_intact());
  return array;
}

Result<std::string> npy_bytes(const TensorView& tensor) {
  if (tensor.layout != Layout::kPlain) {
    return fail(Code::kInvalidArgument, "a tensor of layout {} can't be saved",
                layout_name(tensor.layout));
  }
  const auto count = static_cast<size_t>(tensor.count());
  const auto* strings = tensor.as<std::string>();
  size_t string_bytes = 1;
  if (tensor.dtype == DType::kString) {
    for (size_t i = 0; i < count; ++i) string_bytes = std::max(string_bytes, strings[i].size());
  }
  const std::string descr = descr_of(tensor, static_cast<int64_t>(string_bytes));
  if (descr.empty()) {
    return fail(Code::kInvalidArgument, "dtype {} can't be saved", dtype_name(tensor.dtype));
  }
  std::string shape = fmt::format("{}", fmt::join(tensor.dims, ", "));
  if (tensor.dims.size() == 1) shape += ',';
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // Elements start at a multiple of 64 bytes.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  const auto length = static_cast<uint16_t>(dict.size());
  std::string out(kMagic);
  out += {1, 0, static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  out += dict;
  if (tensor.dtype == DType::kString) {
    for (size_t i = 0; i < count; ++i) {
      out += strings[i];
      out.append(string_bytes - strings[i].size(), '\0');
    }
  } else {
    out.append(tensor.as<char>(), count * dtype_size(tensor.dtype));
  }
  return out;
}

Status write_npy(const std::string& path, const TensorView& tensor) {
  auto bytes = npy_bytes(tensor);
  if (!bytes) return fail(bytes.error().code, "'{}': {}", path, bytes.error().message);
  return write_file_atomic(path, *bytes);
}

}  // namespace hasten
