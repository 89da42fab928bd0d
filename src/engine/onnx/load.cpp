#include "engine/onnx/load.h"

#include <filesystem>
#include <optional>

#include "base/mapped_file.h"
#include "engine/onnx/build.h"
#include "engine/onnx/unsupported.h"

namespace hasten {

namespace {

// Published so far: IR 14 goes with ONNX 1.23 (opset 28). What is new in it since 10 (opset 21) are
// dtypes and operators, both refused by name, and annotations.
constexpr int64_t kLastIrVersion = 14;

Result<onnx::ModelProto> read(onnx::Bytes bytes, const LoadOptions& options) {
  if (bytes.empty()) return fail(Code::kInvalidModel, "the file is empty");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("version https://git-lfs")) {
    return fail(Code::kInvalidModel,
                "this is a Git LFS pointer, not the model itself: get it with `git lfs pull`");
  }
  HASTEN_TRY(onnx::ModelProto model,
             onnx::read_model(bytes, {options.limits.nodes, options.max_depth, options.clock}));
  if (!model.has_graph) {
    return fail(Code::kInvalidModel, "not an ONNX file, or a damaged one: it holds no graph");
  }
  if (model.ir_version < 1) {
    return fail(Code::kInvalidModel, "the ir_version is {}, it must be 1 to {}", model.ir_version,
                kLastIrVersion);
  }
  if (model.ir_version > kLastIrVersion) {
    return fail(Code::kUnsupported, "the ir_version is {}, the newest known is {}",
                model.ir_version, kLastIrVersion);
  }
  if (model.opsets.empty()) return fail(Code::kInvalidModel, "the model has no opset_import");
  return model;
}

Result<Graph> load(onnx::Bytes bytes, std::optional<std::string> folder, const LoadOptions& options,
                   const std::shared_ptr<const void>& owner) {
  HASTEN_TRY(const onnx::ModelProto model, read(bytes, options));
  if (!options.keep_unsupported) HASTEN_CHECK(onnx::refuse(onnx::find_unsupported(model)));
  onnx::ExternalFiles external(std::move(folder), options.limits.allow_external_links);
  auto graph = onnx::build_graph(model, options, owner, external);
  const auto files = external.files();
  for (const auto& file : files) HASTEN_CHECK(file->check_intact());
  if (graph) graph->files = files;
  return graph;
}

}  // namespace

Result<Graph> load_onnx(const std::string& path, const LoadOptions& options) {
  HASTEN_TRY(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<MappedFile>(std::move(mapped));
  auto graph =
      load(file->bytes(), std::filesystem::path(path).parent_path().string(), options, file);
  HASTEN_CHECK(file->check_intact());
  if (!graph) return fail(graph.error().code, "'{}': {}", path, graph.error().message);
  graph->files.push_back(std::move(file));
  return graph;
}

Result<Graph> load_onnx_bytes(std::span<const std::byte> bytes, const std::string& folder,
                              const LoadOptions& options,
                              const std::shared_ptr<const void>& owner) {
  return load(bytes, folder.empty() ? std::nullopt : std::optional(folder), options, owner);
}

Result<std::vector<Unsupported>> list_unsupported(const std::string& path) {
  HASTEN_TRY(const MappedFile file, MappedFile::open(path));
  auto list = list_unsupported(file.bytes());
  HASTEN_CHECK(file.check_intact());
  if (!list) return fail(list.error().code, "'{}': {}", path, list.error().message);
  return list;
}

Result<std::vector<Unsupported>> list_unsupported(std::span<const std::byte> bytes) {
  HASTEN_TRY(const onnx::ModelProto model, read(bytes, {}));
  return onnx::find_unsupported(model);
}

}  // namespace hasten
