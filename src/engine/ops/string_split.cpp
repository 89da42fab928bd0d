// https://onnx.ai/onnx/operators/onnx__StringSplit.html, opsets 20-21. Splits as Python's
// str.split() does; white space is that of Unicode.
#include <algorithm>
#include <limits>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/unicode.h"

namespace hasten {

namespace {

/// Takes a run of white space off the front.
void skip_space(std::string_view& text) {
  while (const size_t n = white_space_at(text)) text.remove_prefix(n);
}

std::vector<std::string_view> split_at_space(std::string_view text, int64_t splits) {
  std::vector<std::string_view> parts;
  for (skip_space(text); !text.empty(); skip_space(text)) {
    size_t end = 0;
    if (splits-- > 0) {
      // By bytes: none inside a code point begins white space.
      while (end < text.size() && white_space_at(text.substr(end)) == 0) ++end;
    } else {
      end = text.size();
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view delimiter,
                                       int64_t splits) {
  std::vector<std::string_view> parts;
  for (; splits > 0; --splits) {
    const size_t end = text.find(delimiter);
    if (end == text.npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_dtype(c, 0, kStrings));
  if (!x.has_shape) {
    c.set_unknown(0, DType::kString);
    c.set_unknown(1, DType::kI64);
    return {};
  }
  Shape parts = x.shape;
  parts.push_back(Dim::fresh());
  c.set(0, DType::kString, std::move(parts));
  c.set(1, DType::kI64, x.shape);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const std::string delimiter = c.node().attr_string("delimiter", "");
  int64_t splits = c.node().attr_int("maxsplit", -1);
  if (splits < 0) splits = std::numeric_limits<int64_t>::max();
  std::vector<std::vector<std::string_view>> all;
  size_t most = 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    const std::string& text = x.as<std::string>()[i];
    all.push_back(delimiter.empty() ? split_at_space(text, splits)
                                    : split_at(text, delimiter, splits));
    most = std::max(most, all.back().size());
  }
  if (c.has_out(0)) {
    Dims dims = x.dims;
    dims.push_back(static_cast<int64_t>(most));
    HASTEN_TRY(void* memory, c.out(0, DType::kString, dims));
    auto* out = static_cast<std::string*>(memory);
    for (const auto& parts : all) {
      for (size_t k = 0; k < most; ++k) *out++ = k < parts.size() ? parts[k] : std::string_view();
    }
  }
  if (c.has_out(1)) {
    HASTEN_TRY(void* counts, c.out(1, DType::kI64, x.dims));
    for (size_t i = 0; i < all.size(); ++i) {
      static_cast<int64_t*>(counts)[i] = static_cast<int64_t>(all[i].size());
    }
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_string_split() {
  return {
      {"", "StringSplit", 20, kLastOpset, 1, 1, 1, 2, {"delimiter", "maxsplit"}, infer, reference}};
}

}  // namespace hasten
