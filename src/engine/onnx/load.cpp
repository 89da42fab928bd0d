#include "engine/onnx/load.h"

#include <filesystem>
#include <optional>

#include "base/mapped_file.h"
#include "engine/onnx/build.h"

namespace hasten {

namespace {

// Published so far: IR 14 goes with ONNX 1.23 (opset 28). What is new in it since 10 (opset 21) are
// dtypes and operators, both refused by name, and annotations.
constexpr int64_t kLastIrVersion = 14;

Result<Graph> load(onnx::Bytes bytes, std::optional<std::string> folder, const LoadOptions& options,
                   const std::shared_ptr<const void>& owner) {
  if (bytes.empty()) return fail(Code::kInvalidModel, "the file is empty");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("version https://git-lfs")) {
    return fail(Code::kInvalidModel,
                "this is a Git LFS pointer, not the model itself: get it with `git lfs pull`");
  }
  HASTEN_TRY(const onnx::ModelProto model,
             onnx::read_model(bytes, {options.max_nodes, options.max_depth}));
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
  onnx::ExternalFiles external(std::move(folder), options.allow_external_links);
  return onnx::build_graph(model, options, owner, external);
}

}  // namespace

Result<Graph> load_onnx(const std::string& path, const LoadOptions& options) {
  HASTEN_TRY(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<MappedFile>(std::move(mapped));
  auto graph =
      load(file->bytes(), std::filesystem::path(path).parent_path().string(), options, file);
  if (!graph) return fail(graph.error().code, "'{}': {}", path, graph.error().message);
  return graph;
}

Result<Graph> load_onnx_bytes(std::span<const std::byte> bytes, const std::string& folder,
                              const LoadOptions& options, std::shared_ptr<const void> owner) {
  return load(bytes, folder.empty() ? std::nullopt : std::optional(folder), options, owner);
}

}  // namespace hasten
