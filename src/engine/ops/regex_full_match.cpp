// https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html, opsets 20-21. The syntax is that of
// RE2, which takes time in proportion to the text and bounded memory, whatever the pattern.
#include <re2/re2.h>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Result<std::unique_ptr<RE2>> pattern_of(const OpContext& c) {
  if (c.node().find_attr("pattern") == nullptr) return c.invalid("attribute 'pattern' is missing");
  RE2::Options options;
  options.set_log_errors(false);
  const std::string pattern = c.node().attr_string("pattern", "");
  auto re = std::make_unique<RE2>(pattern, options);
  if (!re->ok()) return c.invalid("attribute 'pattern' is '{}': {}", pattern, re->error());
  return re;
}

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kStrings));
  HASTEN_CHECK(pattern_of(c));
  if (c.in(0).has_shape) {
    c.set(0, DType::kBool, c.in(0).shape);
  } else {
    c.set_unknown(0, DType::kBool);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const auto re, pattern_of(c));
  HASTEN_TRY(void* out, c.out(0, DType::kBool, x.dims));
  for (int64_t i = 0; i < x.count(); ++i) {
    static_cast<bool*>(out)[i] = RE2::FullMatch(x.as<std::string>()[i], *re);
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_regex_full_match() {
  return {{"", "RegexFullMatch", 20, kLastOpset, 1, 1, 1, 1, {"pattern"}, infer, reference}};
}

}  // namespace hasten
