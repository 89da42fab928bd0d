// The fields of one protobuf message. A shell around protozero that checks wire types (protozero
// asserts them) and lengths (protozero casts them to 32 bits). Throws: only for reader.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <string>

#include "engine/onnx/proto.h"

namespace hasten::onnx {

class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Fields {
 public:
  explicit Fields(Bytes bytes)
      : reader_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  bool next() { return reader_.next(); }
  uint32_t tag() const { return reader_.tag(); }
  /// Where the next byte to read is.
  const char* at() const { return reader_.data().data(); }

  int64_t int64() {
    expect(protozero::pbf_wire_type::varint);
    return reader_.get_int64();
  }
  int32_t int32() {
    const int64_t value = int64();
    // Protobuf writes negative int32 as 64-bit varints; anything else beyond 32 bits is a lie.
    if (value < INT32_MIN || value > INT32_MAX) throw ReadError("an int32 beyond 32 bits");
    return static_cast<int32_t>(value);
  }
  float float32() {
    expect(protozero::pbf_wire_type::fixed32);
    return reader_.get_float();
  }
  /// A submessage, string or bytes.
  Bytes bytes() {
    expect(protozero::pbf_wire_type::length_delimited);
    return take();
  }
  /// A name: must be UTF-8, as it ends up in messages and JSON.
  std::string_view text();

  void ints(std::vector<int64_t>& out) {
    if (!packed()) return out.push_back(int64());
    const Bytes chunk = take();
    const char* p = reinterpret_cast<const char*>(chunk.data());
    const char* end = p + chunk.size();
    while (p != end) out.push_back(static_cast<int64_t>(protozero::decode_varint(&p, end)));
  }
  void floats(std::vector<float>& out) {
    if (!packed()) return out.push_back(float32());
    const Bytes chunk = take();
    if (chunk.size() % 4 != 0) throw ReadError("packed floats of a broken length");
    const size_t old = out.size();
    out.resize(old + chunk.size() / 4);
    if (!chunk.empty()) std::memcpy(out.data() + old, chunk.data(), chunk.size());
  }
  /// The encoded elements of a repeated number, to be decoded later.
  void chunks(Chunks& out, protozero::pbf_wire_type element) {
    if (packed()) {
      out.push_back(take());
      return;
    }
    expect(element);
    const char* begin = at();
    skip();
    out.emplace_back(reinterpret_cast<const std::byte*>(begin), static_cast<size_t>(at() - begin));
  }
  void skip() {
    if (packed()) {
      take();
    } else {
      reader_.skip();
    }
  }

 private:
  bool packed() const { return reader_.has_wire_type(protozero::pbf_wire_type::length_delimited); }
  void expect(protozero::pbf_wire_type type) const {
    if (!reader_.has_wire_type(type)) {
      throw ReadError(fmt::format("field {} has wire type {} instead of {}", reader_.tag(),
                                  static_cast<int>(reader_.wire_type()), static_cast<int>(type)));
    }
  }
  Bytes take() {
    const protozero::data_view rest = reader_.data();
    const char* p = rest.data();
    const char* end = p + rest.size();
    const uint64_t length = protozero::decode_varint(&p, end);
    const auto left = static_cast<uint64_t>(end - p);
    if (length > left) {
      throw ReadError(
          fmt::format("field {} says that {} bytes follow, {} do", reader_.tag(), length, left));
    }
    reader_ = protozero::pbf_reader(p + length, static_cast<size_t>(left - length));
    return {reinterpret_cast<const std::byte*>(p), static_cast<size_t>(length)};
  }

  protozero::pbf_reader reader_;
};

/// Is it well-formed UTF-8 (no surrogates, no overlong forms)?
bool is_utf8(std::string_view text);

}  // namespace hasten::onnx
