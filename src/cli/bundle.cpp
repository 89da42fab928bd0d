#include "cli/bundle.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "base/mapped_file.h"
#include "engine/ir/npy.h"
#include "engine/onnx/proto.h"
#include "engine/plan/plan_file.h"
#include "report/json.h"

namespace hasten {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSavedSamples = 16;
constexpr size_t kSavedBytes = size_t{32} << 20;

Result<std::string> hash_file(const std::string& path) {
  HASTEN_TRY(const MappedFile file, MappedFile::open(path));
  return hash_hex(file.bytes());
}

void collect(const onnx::TensorProto& tensor, std::set<std::string>& locations) {
  if (tensor.data_location != 1) return;
  for (const auto& [key, value] : tensor.external_data) {
    if (key == "location") locations.emplace(value);
  }
}

void collect(const onnx::GraphProto& graph, std::set<std::string>& locations);

void collect(const std::vector<onnx::NodeProto>& nodes, std::set<std::string>& locations) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attributes) {
      for (const onnx::TensorProto& tensor : attribute.t) collect(tensor, locations);
      for (const onnx::GraphProto& inner : attribute.g) collect(inner, locations);
    }
  }
}

void collect(const onnx::GraphProto& graph, std::set<std::string>& locations) {
  for (const onnx::TensorProto& tensor : graph.initializers) collect(tensor, locations);
  collect(graph.nodes, locations);
}

/// Paths of external data, relative to the model. The model has been loaded, so they are checked.
Result<std::set<std::string>> external_files(const MappedFile& model) {
  HASTEN_TRY(const onnx::ModelProto proto, onnx::read_model(model.bytes()));
  std::set<std::string> locations;
  collect(proto.graph, locations);
  for (const onnx::FunctionProto& function : proto.functions) collect(function.nodes, locations);
  return locations;
}

Status copy_into(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) {
    return fail(Code::kIo, "cannot make '{}': {}", to.parent_path().string(), error.message());
  }
  // fs::copy_file calls a full disk an input/output error.
  HASTEN_TRY(const MappedFile file, MappedFile::open(from));
  return write_file_atomic(to, file.bytes());
}

}  // namespace

Result<BundleInfo> read_bundle(const std::string& folder) {
  const std::string path = folder + "/bundle.json";
  HASTEN_TRY(const std::string text, read_file(path));
  // Exceptions of the JSON library (a missing or mistyped member) stay inside.
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != 1) {
      return fail(Code::kUnsupported, "'{}' is of schema {}, this hasten reads 1", path,
                  json.at("schema").dump());
    }
    BundleInfo info;
    json.at("target").get_to(info.target);
    json.at("machine").get_to(info.fingerprint);
    json.at("files").get_to(info.files);
    return info;
  } catch (const Json::exception& e) {
    return fail(Code::kInvalidModel, "'{}' is not a bundle.json that hasten wrote: {}", path,
                json_problem(e));
  }
}

Result<std::string> changed_file(const std::string& folder, const BundleInfo& info) {
  for (const auto& [name, expected] : info.files) {
    if (name.find("..") != name.npos || name.starts_with('/')) {
      return fail(Code::kInvalidModel, "'{}/bundle.json' names a file outside: '{}'", folder, name);
    }
    std::error_code ignored;
    if (!fs::exists(folder + "/" + name, ignored)) return fmt::format("'{}' is missing", name);
    HASTEN_TRY(const std::string found, hash_file(folder + "/" + name));
    if (found != expected)
      return fmt::format("'{}' has changed: hash {}, recorded {}", name, found, expected);
  }
  return std::string();
}

Result<BundleWriter> BundleWriter::open(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::error_code error;
  if (fs::exists(folder, error) && !fs::exists(folder + "/bundle.json", error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    return fail(Code::kInvalidArgument, "'{}' exists and is no bundle: name another folder",
                folder);
  }
  const fs::path parent = fs::absolute(folder).parent_path();
  fs::create_directories(parent, error);
  std::string work = folder + fmt::format(".new-{}", getpid());
  if (!error) fs::create_directory(work, error);
  if (error) return fail(Code::kIo, "cannot make folder '{}': {}", folder, error.message());
  return BundleWriter(std::move(folder), std::move(work));
}

BundleWriter::BundleWriter(BundleWriter&& other) noexcept
    : folder_(std::move(other.folder_)),
      work_(std::exchange(other.work_, "")),
      files_(std::move(other.files_)) {}

BundleWriter::~BundleWriter() {
  std::error_code ignored;
  if (!work_.empty()) fs::remove_all(work_, ignored);
}

Status BundleWriter::record(const std::string& name) {
  HASTEN_TRY(files_[name], hash_file(work_ + "/" + name));
  return {};
}

Status BundleWriter::add_model(const std::string& path) {
  HASTEN_TRY(const MappedFile model, MappedFile::open(path));
  HASTEN_TRY(const std::set<std::string> locations, external_files(model));
  HASTEN_CHECK(copy_into(path, work_ + "/model.onnx"));
  HASTEN_CHECK(record("model.onnx"));
  for (const std::string& location : locations) {
    HASTEN_CHECK(copy_into(fs::path(path).parent_path() / location, fs::path(work_) / location));
    HASTEN_CHECK(record(location));
  }
  return {};
}

Status BundleWriter::add_plan(const NativeEngine& engine, const std::string& model_hash) {
  HASTEN_CHECK(save_plan(work_ + "/model.hplan", engine.graph(), engine.packed(),
                         isa_name(engine.context().isa()), model_hash,
                         engine.options().math == MathMode::kExact));
  return record("model.hplan");
}

Status BundleWriter::add_text(const std::string& name, std::string_view text) {
  HASTEN_CHECK(write_file_atomic(work_ + "/" + name, text));
  return record(name);
}

Status BundleWriter::add_inputs(const Samples& samples) {
  size_t bytes = 0;
  for (const Tensor& tensor : samples.rows[0]) {
    if (tensor.dtype() == DType::kString) return {};
    bytes += tensor.bytes();
  }
  const auto count =
      std::min<int64_t>({static_cast<int64_t>(samples.rows.size()), kSavedSamples,
                         static_cast<int64_t>(kSavedBytes / std::max<size_t>(bytes, 1))});
  if (count == 0) return {};
  std::vector<Tensor> stacked;
  std::vector<std::pair<std::string, TensorView>> arrays;
  for (size_t input = 0; input < samples.names.size(); ++input) {
    const Tensor& first = samples.rows[0][input];
    Dims dims = first.dims();
    dims.insert(dims.begin(), count);
    HASTEN_TRY(Tensor all, Tensor::make(first.dtype(), dims));
    for (int64_t i = 0; i < count; ++i) {
      const Tensor& one = samples.rows[static_cast<size_t>(i)][input];
      if (one.dims() != first.dims()) return {};  // ragged samples don't go into one file
      if (one.bytes() > 0) {
        std::memcpy(all.mutable_as<std::byte>() + static_cast<size_t>(i) * one.bytes(), one.data(),
                    one.bytes());
      }
    }
    stacked.push_back(std::move(all));
    arrays.emplace_back(samples.names[input], stacked.back().view());
  }
  HASTEN_CHECK(write_npz(work_ + "/inputs.npz", arrays));
  return record("inputs.npz");
}

Status BundleWriter::commit(const std::string& target, const std::string& fingerprint) {
  const Json json = {{"schema", 1},
                     {"target", target},
                     {"machine", fingerprint},
                     {"hasten", HASTEN_VERSION},
                     {"files", files_}};
  HASTEN_CHECK(write_file_atomic(work_ + "/bundle.json", json.dump(2) + "\n"));
  std::error_code error;
  const std::string old = folder_ + fmt::format(".old-{}", getpid());
  const bool replaces = fs::exists(folder_, error);
  if (replaces) fs::rename(folder_, old, error);
  if (!error) fs::rename(work_, folder_, error);
  if (error)
    return fail(Code::kIo, "cannot put the bundle into '{}': {}", folder_, error.message());
  work_.clear();
  if (replaces) fs::remove_all(old, error);
  return {};
}

}  // namespace hasten
