#include "engine/onnx/external.h"

#include <charconv>
#include <filesystem>
#include <system_error>

namespace hasten::onnx {

namespace {

namespace fs = std::filesystem;

Result<uint64_t> number(std::string_view key, std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(Code::kInvalidModel, "external data has the {} '{}', not a number of bytes", key,
                text);
  }
  return value;
}

/// Is `path` inside `folder`? Both canonical.
bool is_inside(const fs::path& path, const fs::path& folder) {
  auto p = path.begin();
  for (const fs::path& part : folder) {
    if (part.empty()) continue;
    if (p == path.end() || *p != part) return false;
    ++p;
  }
  return p != path.end();
}

}  // namespace

Result<std::shared_ptr<MappedFile>> ExternalFiles::open(std::string_view location) {
  if (auto it = files_.find(location); it != files_.end()) return it->second;
  if (!folder_) {
    return fail(Code::kInvalidModel,
                "external data '{}' can't be found: the model came as bytes, without a folder",
                location);
  }
  if (location.empty() || location.find('\0') != std::string_view::npos) {
    return fail(Code::kInvalidModel, "external data without a location");
  }
  const fs::path relative{std::string(location)};
  if (relative.is_absolute()) {
    return fail(Code::kInvalidModel, "external data '{}' has an absolute path", location);
  }
  for (const fs::path& part : relative) {
    if (part == "..") {
      return fail(Code::kInvalidModel, "external data '{}' leaves the folder of the model",
                  location);
    }
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_->empty() ? "." : *folder_, error);
  if (error) return fail(Code::kIo, "cannot open folder '{}': {}", *folder_, error.message());
  const fs::path file = fs::canonical(folder / relative, error);
  if (error) {
    return fail(Code::kIo, "cannot open external data '{}': {}", location, error.message());
  }
  if (!allow_symlinks_out_ && !is_inside(file, folder)) {
    return fail(Code::kInvalidModel,
                "external data '{}' is a link that leaves the folder of the model (see "
                "--allow-external-links)",
                location);
  }
  HASTEN_TRY(MappedFile mapped, MappedFile::open(file.string()));
  auto shared = std::make_shared<MappedFile>(std::move(mapped));
  files_.emplace(std::string(location), shared);
  return shared;
}

Result<ExternalFiles::Slice> ExternalFiles::slice(const TensorProto& tensor, size_t size) {
  std::optional<std::string_view> location;
  std::optional<uint64_t> offset, length;
  for (const auto& [key, value] : tensor.external_data) {
    bool again = false;
    if (key == "location") {
      again = location.has_value();
      location = value;
    } else if (key == "offset") {
      again = offset.has_value();
      HASTEN_TRY(offset, number(key, value));
    } else if (key == "length") {
      again = length.has_value();
      HASTEN_TRY(length, number(key, value));
    } else if (key != "checksum") {
      return fail(Code::kUnsupported, "external data has the unknown entry '{}'", key);
    }
    if (again) return fail(Code::kInvalidModel, "external data has two entries '{}'", key);
  }
  HASTEN_TRY(const auto file, open(location.value_or("")));
  const Bytes bytes = file->bytes();
  const uint64_t from = offset.value_or(0);
  if (from > bytes.size()) {
    return fail(Code::kInvalidModel, "external data '{}' starts at byte {}, the file has {} bytes",
                *location, from, bytes.size());
  }
  if (length && *length != size) {
    return fail(Code::kInvalidModel, "external data '{}' has length {}, the tensor needs {} bytes",
                *location, *length, size);
  }
  if (size > bytes.size() - from) {
    return fail(Code::kInvalidModel,
                "external data '{}' needs {} bytes at byte {}, the file has {} bytes", *location,
                size, from, bytes.size());
  }
  return Slice{bytes.subspan(from, size), file};
}

std::vector<std::shared_ptr<const MappedFile>> ExternalFiles::files() const {
  std::vector<std::shared_ptr<const MappedFile>> out;
  for (const auto& [location, file] : files_) out.push_back(file);
  return out;
}

}  // namespace hasten::onnx
