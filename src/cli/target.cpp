#include "cli/target.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/mapped_file.h"

namespace hasten {

namespace fs = std::filesystem;

namespace {

constexpr const char* kKeys =
    "engine=native|onnxruntime|openvino, threads=N, precision=fp32|bf16, math=fast|exact, "
    "shape=NAME:1x3x224x224, disable_pass=NAME, passes=on|off, reference=on|off, "
    "spin=bounded|always|never";

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

/// Does `tail` start as `key=` does?
bool starts_with_key(std::string_view tail) {
  const auto end = std::find_if_not(tail.begin(), tail.end(), is_key_char);
  return end != tail.begin() && end != tail.end() && *end == '=';
}

/// Where the `@` of the options is, or npos. The last one counts: folders may have one in their
/// names.
size_t find_options(std::string_view text) {
  for (size_t at = text.rfind('@'); at != text.npos;
       at = at == 0 ? text.npos : text.rfind('@', at - 1)) {
    if (starts_with_key(text.substr(at + 1))) return at;
  }
  return text.npos;
}

tl::unexpected<Error> bad_value(std::string_view key, std::string_view value,
                                std::string_view wanted) {
  return fail(Code::kInvalidArgument, "{}={}: want {}", key, value, wanted);
}

/// The value for one of a few words.
template <class T>
Status choose(T& to, std::string_view key, std::string_view value,
              std::initializer_list<std::pair<const char*, T>> words) {
  std::string wanted;
  for (const auto& [word, meaning] : words) {
    if (value == word) {
      to = meaning;
      return {};
    }
    wanted += (wanted.empty() ? "" : "|") + std::string(word);
  }
  return bad_value(key, value, wanted);
}

Status set_threads(EngineOptions& options, std::string_view value) {
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 1 || n > 1024) {
    return bad_value("threads", value, "a number from 1 to 1024");
  }
  options.threads = n;
  return {};
}

Status set_input_shape(EngineOptions& options, std::string_view value) {
  const size_t colon = value.rfind(':');  // names may have colons: "input:0"
  if (colon == value.npos || colon == 0) return bad_value("shape", value, "NAME:1x3x224x224");
  HASTEN_TRY(options.shapes[std::string(value.substr(0, colon))],
             parse_shape(value.substr(colon + 1)));
  return {};
}

/// Sets the options of a text "key=value,key=value". `engine` comes first wherever it stands, since
/// the other keys depend on it.
Status set_options(EngineOptions& options, std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, comma - at);
    const size_t equals = part.find('=');
    if (equals == part.npos || equals == 0) {
      return fail(Code::kInvalidArgument, "'{}' is not key=value; keys: {}", part, kKeys);
    }
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    at = comma + 1;
  }
  std::stable_partition(pairs.begin(), pairs.end(),
                        [](const auto& p) { return p.first == "engine"; });
  std::set<std::string_view> shaped;
  for (const auto& [key, value] : pairs) {
    const std::string_view input = value.substr(0, value.rfind(':'));
    if (key == "shape" && !shaped.insert(input).second)
      return fail(Code::kInvalidArgument, "shape={}: a shape of '{}' is given twice", value, input);
    HASTEN_CHECK(set_target_option(options, key, value));
  }
  return {};
}

/// The target that <folder>/bundle.json names: {"target": "model.onnx@engine=…"}, the model beside
/// it.
Status resolve_bundle(Target& target, const std::string& folder) {
  const std::string path = folder + "/bundle.json";
  if (!fs::exists(path)) {
    return fail(Code::kIo,
                "'{}' is a folder without a bundle.json: name the .onnx file, or a bundle that "
                "`hasten optimize` wrote",
                folder);
  }
  HASTEN_TRY(const std::string text, read_file(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("target") ||
      !json["target"].is_string()) {
    return fail(Code::kInvalidModel, "'{}' is not a bundle.json: it has no \"target\" text", path);
  }
  if (json.contains("schema") && json["schema"] != 1) {
    return fail(Code::kUnsupported, "'{}' is of schema {}, this hasten reads 1", path,
                json["schema"].dump());
  }
  const std::string chosen = json["target"].get<std::string>();
  const size_t at = find_options(chosen);
  const std::string model = chosen.substr(0, at);
  if (model.empty() || model.find('/') != model.npos || model.front() == '.') {
    return fail(Code::kInvalidModel, "'{}': target '{}' must name a file of the bundle", path,
                chosen);
  }
  if (at != chosen.npos)
    HASTEN_CHECK(set_options(target.options, std::string_view(chosen).substr(at + 1)));
  target.bundle = folder;
  target.model = folder + "/" + model;
  return {};
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  if (text.empty()) return shape;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part == "?") {
      shape.push_back(Dim::fresh());
    } else if (error == std::errc() && stop == part.data() + part.size() && value >= 0) {
      shape.emplace_back(value);
    } else {
      return fail(Code::kInvalidArgument,
                  "shape '{}': '{}' is not a dim; want numbers with an x between: 1x3x224x224",
                  text, part);
    }
    at = end + 1;
  }
  return shape;
}

Status set_target_option(EngineOptions& options, std::string_view key, std::string_view value) {
  if (key == "engine") {
    return choose(options.kind, key, value,
                  {{"native", EngineKind::kNative},
                   {"onnxruntime", EngineKind::kOnnxRuntime},
                   {"openvino", EngineKind::kOpenVino}});
  }
  if (key == "threads") return set_threads(options, value);
  if (key == "precision") {
    if (value == "int8") {  // no engine makes a float model int8, and each says so by name
      options.precision = Precision::kInt8;
      return {};
    }
    return choose(options.precision, key, value,
                  {{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}});
  }
  if (key == "math") {
    return choose(options.math, key, value,
                  {{"fast", MathMode::kFast}, {"exact", MathMode::kExact}});
  }
  if (key == "shape") return set_input_shape(options, value);
  const bool native = options.kind == EngineKind::kNative;
  if (native && key == "disable_pass") {
    options.disabled_passes.emplace_back(value);
    return {};
  }
  if (native && key == "spin") {
    return choose(
        options.spin, key, value,
        {{"bounded", Spin::kBounded}, {"always", Spin::kAlways}, {"never", Spin::kNever}});
  }
  if (native && key == "passes")
    return choose(options.enable_passes, key, value, {{"on", true}, {"off", false}});
  if (native && key == "reference") {
    return choose(options.reference_only, key, value, {{"on", true}, {"off", false}});
  }
  if (native)
    return fail(Code::kInvalidArgument, "unknown key '{}' in a target; keys: {}", key, kKeys);
  options.extra[std::string(key)] = value;
  return {};
}

Result<Target> parse_target(std::string_view text) {
  Target target;
  target.text = text;
  std::error_code ignored;
  const size_t at = fs::exists(text, ignored) ? text.npos : find_options(text);
  std::string path(text.substr(0, at));
  if (path.empty())
    return fail(Code::kInvalidArgument, "'{}' names no model: want MODEL[@key=value,...]", text);
  if (fs::is_directory(path, ignored)) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    HASTEN_CHECK(resolve_bundle(target, path));
  } else {
    target.model = path;
  }
  if (at != text.npos) HASTEN_CHECK(set_options(target.options, text.substr(at + 1)));
  if (target.options.kind != EngineKind::kNative && target.model.ends_with(".hplan")) {
    // A plan is of our own engine; the bundle has the model for the others.
    if (target.bundle.empty()) {
      return fail(Code::kInvalidArgument,
                  "'{}': a .hplan file is for engine=native; name the .onnx file", text);
    }
    target.model = target.bundle + "/model.onnx";
  }
  const size_t sign = path.rfind('@');
  if (at == text.npos && sign != path.npos && path.find('/', sign) == path.npos &&
      !fs::exists(path, ignored)) {
    return fail(Code::kInvalidArgument,
                "'{}': there is no such file, and '{}' is not key=value; keys: {}", text,
                path.substr(sign + 1), kKeys);
  }
  return target;
}

}  // namespace hasten
