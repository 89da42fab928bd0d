#include "engine/ir/shape.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace hasten {

namespace {

// Symbols are interned for the whole process: they are names, not state.
struct SymbolTable {
  std::mutex mutex;
  std::unordered_map<std::string, int64_t> ids;
  std::vector<std::string> names;

  static SymbolTable& instance() {
    static SymbolTable table;
    return table;
  }
};

}  // namespace

Dim Dim::symbol(const std::string& name) {
  SymbolTable& table = SymbolTable::instance();
  std::lock_guard lock(table.mutex);
  auto [it, is_new] = table.ids.try_emplace(name, static_cast<int64_t>(table.names.size()));
  if (is_new) table.names.push_back(name);
  return from_code(kSymbolBase - it->second);
}

Dim Dim::fresh() {
  SymbolTable& table = SymbolTable::instance();
  std::lock_guard lock(table.mutex);
  table.names.push_back(fmt::format("?{}", table.names.size()));
  return from_code(kSymbolBase - static_cast<int64_t>(table.names.size() - 1));
}

Dim Dim::from_code(int64_t code) {
  Dim dim;
  dim.code_ = code;
  return dim;
}

std::string Dim::text() const {
  if (known()) return fmt::format("{}", code_);
  SymbolTable& table = SymbolTable::instance();
  std::lock_guard lock(table.mutex);
  const auto id = static_cast<size_t>(kSymbolBase - code_);
  return id < table.names.size() ? table.names[id] : "?";
}

bool is_known(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim d) { return d.known(); });
}

Dims to_dims(const Shape& shape) {
  Dims dims;
  dims.reserve(shape.size());
  for (Dim d : shape) dims.push_back(d.value());
  return dims;
}

Shape to_shape(std::span<const int64_t> dims) { return Shape(dims.begin(), dims.end()); }

std::string shape_text(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ',';
    out += shape[i].text();
  }
  return out + "]";
}

std::string dims_text(std::span<const int64_t> dims) {
  return fmt::format("[{}]", fmt::join(dims, ","));
}

Result<int64_t> checked_count(std::span<const int64_t> dims) {
  int64_t n = 1;
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return fail(Code::kInvalidModel, "negative dimension in {}", dims_text(dims));
    if (d == 0) {
      zero = true;
      continue;
    }
    if (n > (int64_t{1} << 62) / d) {
      return fail(Code::kInvalidModel, "shape {} has too many elements", dims_text(dims));
    }
    n *= d;
  }
  return zero ? 0 : n;
}

const char* layout_name(Layout layout) { return layout == Layout::kPlain ? "plain" : "nchw16c"; }

int64_t storage_count(std::span<const int64_t> dims, Layout layout) {
  int64_t n = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    n *= layout == Layout::kNchw16c && i == 1 ? (dims[i] + 15) / 16 * 16 : dims[i];
  }
  return n;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim da = i + a.size() >= rank ? a[i + a.size() - rank] : Dim(1);
    const Dim db = i + b.size() >= rank ? b[i + b.size() - rank] : Dim(1);
    if (da == db || db == Dim(1)) {
      out[i] = da;
    } else if (da == Dim(1)) {
      out[i] = db;
    } else if (!da.known() || !db.known()) {
      out[i] = da.known() ? da : db.known() ? db : Dim::fresh();
    } else {
      return fail(Code::kInvalidModel,
                  "shapes {} and {} do not broadcast (dimension {}: {} and {})", shape_text(a),
                  shape_text(b), i, da.value(), db.value());
    }
  }
  return out;
}

}  // namespace hasten
