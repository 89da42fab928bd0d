// Mutations that keep a protobuf message one: fields come, go, move and change, and the lengths of
// all messages around them are written anew. Without that nearly every mutant of a nested message
// is nothing but a wrong length.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

struct Field {
  uint32_t number = 1;
  uint32_t wire = 0;
  uint64_t value = 0;          // of a varint or fixed field
  std::string bytes;           // of wire type 2, where they are no message
  std::vector<Field> message;  // else
};
using Fields = std::vector<Field>;

constexpr int kMaxDepth = 24;

bool read_varint(Input& in, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const uint8_t byte = in[0];
    in = in.subspan(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// Bytes as fields; false where they are something else.
bool read_fields(Input in, int depth, Fields& out) {
  while (!in.empty()) {
    Field f;
    uint64_t tag = 0;
    if (!read_varint(in, tag)) return false;
    f.number = static_cast<uint32_t>(tag >> 3);
    f.wire = tag & 7;
    if (f.number == 0 || f.number > 40) return false;
    if (f.wire == 0) {
      if (!read_varint(in, f.value)) return false;
    } else if (f.wire == 1 || f.wire == 5) {
      const size_t n = f.wire == 1 ? 8 : 4;
      if (in.size() < n) return false;
      std::memcpy(&f.value, in.data(), n);
      in = in.subspan(n);
    } else if (f.wire == 2) {
      uint64_t n = 0;
      if (!read_varint(in, n) || n > in.size()) return false;
      const Input inner = in.first(n);
      in = in.subspan(n);
      if (depth >= kMaxDepth || !read_fields(inner, depth + 1, f.message) || f.message.empty()) {
        f.message.clear();
        f.bytes.assign(inner.begin(), inner.end());
      }
    } else {
      return false;
    }
    out.push_back(std::move(f));
  }
  return true;
}

void write_varint(uint64_t v, std::string& out) {
  while (v >= 0x80) {
    out += static_cast<char>(v | 0x80);
    v >>= 7;
  }
  out += static_cast<char>(v);
}

void write_fields(const Fields& fields, std::string& out) {
  for (const Field& f : fields) {
    write_varint(static_cast<uint64_t>(f.number) << 3 | f.wire, out);
    if (f.wire == 0) {
      write_varint(f.value, out);
    } else if (f.wire != 2) {
      out.append(reinterpret_cast<const char*>(&f.value), f.wire == 1 ? 8 : 4);
    } else if (f.message.empty()) {
      write_varint(f.bytes.size(), out);
      out += f.bytes;
    } else {
      std::string inner;
      write_fields(f.message, inner);
      write_varint(inner.size(), out);
      out += inner;
    }
  }
}

/// Where a field is: index in its list.
struct Spot {
  Fields* list;
  size_t at;
  Field& field() const { return (*list)[at]; }
};
void find_spots(Fields& fields, std::vector<Spot>& out) {
  for (size_t i = 0; i < fields.size(); ++i) {
    out.push_back({&fields, i});
    find_spots(fields[i].message, out);
  }
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  void once(Fields& root) {
    std::vector<Spot> spots;
    find_spots(root, spots);
    if (spots.empty()) {
      root.push_back({.number = 7, .wire = 2, .value = 0, .bytes = "", .message = {}});
      return;
    }
    const Spot spot = spots[below(spots.size())];
    switch (below(8)) {
      case 0:
        spot.list->erase(at(*spot.list, spot.at));
        return;
      case 1: {
        Field copy = spot.field();
        spot.list->insert(at(*spot.list, below(spot.list->size() + 1)), std::move(copy));
        return;
      }
      case 2: {  // a field of the same kind from elsewhere: names join what was apart
        std::vector<Spot> same;
        for (const Spot& s : spots) {
          if (s.field().wire == spot.field().wire && s.at != spot.at &&
              s.field().message.empty() == spot.field().message.empty()) {
            same.push_back(s);
          }
        }
        if (same.empty()) return;
        Field copy = same[below(same.size())].field();
        copy.number = spot.field().number;
        spot.field() = std::move(copy);
        return;
      }
      case 3: {  // one message's field in another
        Field copy = spots[below(spots.size())].field();
        spot.list->insert(at(*spot.list, spot.at), std::move(copy));
        return;
      }
      case 4:
        std::swap(spot.field(), (*spot.list)[below(spot.list->size())]);
        return;
      case 5:
        if (below(4) == 0) {
          spot.field().number = static_cast<uint32_t>(1 + below(26));
          return;
        }
        [[fallthrough]];
      default:
        change(spot.field());
    }
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  static Fields::iterator at(Fields& list, size_t i) {
    return list.begin() + static_cast<std::ptrdiff_t>(i);
  }

  void change(Field& f) {
    if (f.wire != 2) {
      change_number(f);
    } else if (f.message.empty()) {
      change_bytes(f.bytes);
    } else {
      change(f.message[below(f.message.size())]);
    }
  }

  void change_number(Field& f) {
    constexpr std::array<uint64_t, 14> kValues{
        0,        1,   2,          7,          16,         ~uint64_t{0},     ~uint64_t{0} - 1,
        1U << 31, ~0U, 1ULL << 32, 1ULL << 62, 1ULL << 63, (1ULL << 63) - 1, 100000};
    constexpr std::array<float, 6> kFloats{0, -1, 1e-30F, 3.4e38F, __builtin_inff(), 0.5F};
    switch (below(4)) {
      case 0:
        f.value =
            f.wire == 5 ? bits(kFloats[below(kFloats.size())]) : kValues[below(kValues.size())];
        return;
      case 1:
        f.value += below(2) == 0 ? 1 : ~uint64_t{0};
        return;
      case 2:
        f.value ^= uint64_t{1} << below(f.wire == 5 ? 32 : 64);
        return;
      default:
        f.value = below(24);
    }
  }
  static uint64_t bits(float x) {
    uint32_t b = 0;
    std::memcpy(&b, &x, 4);
    return b;
  }

  void change_bytes(std::string& bytes) {
    switch (below(4)) {
      case 0:
        if (!bytes.empty()) bytes.erase(below(bytes.size()), 1 + below(8));
        return;
      case 1:
        bytes.insert(below(bytes.size() + 1), 1 + below(8), static_cast<char>(random_()));
        return;
      default:
        if (bytes.empty()) {
          bytes += static_cast<char>(random_());
        } else {
          bytes[below(bytes.size())] = static_cast<char>(random_());
        }
    }
  }

  std::mt19937 random_;
};

}  // namespace

size_t mutate_proto(uint8_t* data, size_t size, size_t max_size, uint32_t seed) {
  Fields fields;
  read_fields({data, size}, 0, fields);  // what is read before the first wrong byte is kept
  Mutator mutator(seed);
  for (uint32_t i = 0; i <= seed % 3; ++i) mutator.once(fields);
  std::string out;
  write_fields(fields, out);
  if (out.size() > max_size) return size;
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

}  // namespace hasten::fuzz
