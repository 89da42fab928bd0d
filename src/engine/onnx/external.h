// The files beside a model that hold its large weights.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mapped_file.h"
#include "engine/onnx/proto.h"

namespace hasten::onnx {

/// Resolves external_data entries against one folder; maps each file once.
class ExternalFiles {
 public:
  /// Without a folder every external tensor is refused. `allow_symlinks_out`: a file may be a link
  /// that leaves the folder (the Hugging Face cache keeps models so).
  ExternalFiles(std::optional<std::string> folder, bool allow_symlinks_out)
      : folder_(std::move(folder)), allow_symlinks_out_(allow_symlinks_out) {}

  struct Slice {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  /// The `size` bytes of a tensor. Errors: invalid_model (a location that escapes the folder, junk
  /// numbers, offset or length that don't fit), io (the file).
  Result<Slice> slice(const TensorProto& tensor, size_t size);

  /// The files that slices were cut from.
  std::vector<std::shared_ptr<const MappedFile>> files() const;

 private:
  Result<std::shared_ptr<MappedFile>> open(std::string_view location);

  std::optional<std::string> folder_;
  bool allow_symlinks_out_;
  std::map<std::string, std::shared_ptr<MappedFile>, std::less<>> files_;
};

}  // namespace hasten::onnx
