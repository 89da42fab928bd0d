// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html, opsets 10-21. Case is that of
// Unicode's simple mappings; locales in which letters map otherwise are refused.
#include <algorithm>
#include <set>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/unicode.h"

namespace hasten {

namespace {

using Strings = std::vector<std::string>;

struct Settings {
  std::set<std::string> stopwords;  // in lower case unless case_sensitive
  bool case_sensitive = false;
  std::string change;
};

Result<Settings> settings_of(const OpContext& c) {
  Settings s;
  s.case_sensitive = c.node().attr_int("is_case_sensitive", 0) != 0;
  s.change = c.node().attr_string("case_change_action", "NONE");
  if (s.change != "NONE" && s.change != "LOWER" && s.change != "UPPER") {
    return c.invalid("attribute 'case_change_action' is '{}', it must be NONE, LOWER or UPPER",
                     s.change);
  }
  const std::string locale = c.node().attr_string("locale", "");
  for (const char* language : {"tr", "az", "lt"}) {
    const bool starts = locale.starts_with(language);
    if (starts && (locale.size() == 2 || locale[2] == '_' || locale[2] == '-')) {
      return c.unsupported("locale '{}'", locale);
    }
  }
  if (const Attr* a = c.node().find_attr("stopwords")) {
    const auto* words = std::get_if<Strings>(a);
    for (const std::string& w : words != nullptr ? *words : Strings()) {
      s.stopwords.insert(s.case_sensitive ? w : to_lower(w));
    }
  }
  return s;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_dtype(c, 0, kStrings));
  HASTEN_TRY(const Settings settings, settings_of(c));
  if (!x.has_shape) {
    c.set_unknown(0, DType::kString);
    return {};
  }
  const bool row = x.rank() == 2 && (!x.shape[0].known() || x.shape[0] == Dim(1));
  if (x.rank() != 1 && !row) {
    return c.invalid("the input has the shape {}, it must be [C] or [1,C]", shape_text(x.shape));
  }
  Shape shape = x.shape;
  if (row) shape[0] = Dim(1);
  // How many words stay depends on them, and where none does there is an empty one.
  const Dim words = x.shape.back();
  const bool all_stay = settings.stopwords.empty() && words.known() && words != Dim(0);
  if (!all_stay) shape.back() = Dim::fresh();
  c.set(0, DType::kString, std::move(shape));
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  if (x.dims.size() == 2 && x.dims[0] != 1) {
    return c.invalid("the input has the shape {}, it must be [C] or [1,C]", dims_text(x.dims));
  }
  HASTEN_TRY(const Settings settings, settings_of(c));
  Strings words;
  for (int64_t i = 0; i < x.count(); ++i) {
    const std::string& word = x.as<std::string>()[i];
    const bool stop = !settings.stopwords.empty() &&
                      settings.stopwords.contains(settings.case_sensitive ? word : to_lower(word));
    if (stop) continue;
    words.push_back(settings.change == "LOWER"   ? to_lower(word)
                    : settings.change == "UPPER" ? to_upper(word)
                                                 : word);
  }
  if (words.empty()) words.emplace_back();
  Dims dims(x.dims.size(), 1);
  dims.back() = static_cast<int64_t>(words.size());
  HASTEN_TRY(void* out, c.out(0, DType::kString, dims));
  std::move(words.begin(), words.end(), static_cast<std::string*>(out));
  return {};
}

}  // namespace

std::vector<OpDef> ops_string_normalizer() {
  return {{"",
           "StringNormalizer",
           10,
           kLastOpset,
           1,
           1,
           1,
           1,
           {"case_change_action", "is_case_sensitive", "locale", "stopwords"},
           infer,
           reference}};
}

}  // namespace hasten
