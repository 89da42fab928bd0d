// What the tests of the loader share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/onnx/load.h"
#include "tests/onnx/proto_writer.h"

namespace hasten::test {

/// Loads bytes; they are copied into memory of exactly their size, so that sanitizers see any read
/// behind them.
inline Result<Graph> load(const std::string& bytes, const LoadOptions& options = {},
                          const std::string& folder = "") {
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  return load_onnx_bytes({copy->data(), copy->size()}, folder, options, copy);
}
inline Result<Graph> load(const ModelSpec& model, const LoadOptions& options = {}) {
  return load(model.bytes(), options);
}

/// The message of the error; "loads" if there is none.
inline std::string message(const Result<Graph>& graph) {
  return graph ? "loads"
               : fmt::format("{}: {}", code_name(graph.error().code), graph.error().message);
}

/// EXPECT_HAS(text, part), EXPECT_STARTS(text, start): with both in the message.
inline ::testing::AssertionResult has_part(const char*, const char*, const std::string& text,
                                           const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}
inline ::testing::AssertionResult has_start(const char*, const char*, const std::string& text,
                                            const std::string& start) {
  if (text.starts_with(start)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << start << "' doesn't start: " << text;
}
#define EXPECT_HAS(text, part) EXPECT_PRED_FORMAT2(::hasten::test::has_part, text, part)
#define EXPECT_STARTS(text, start) EXPECT_PRED_FORMAT2(::hasten::test::has_start, text, start)

/// The value of that name; fails the test if there is none.
inline const Value& find_value(const Graph& graph, std::string_view name) {
  for (const Value& v : graph.values) {
    if (v.name == name) return v;
  }
  ADD_FAILURE() << "no value " << name;
  static const Value none;
  return none;
}

template <class T>
std::vector<T> elements(const Tensor& t) {
  return {t.as<T>(), t.as<T>() + t.count()};
}

/// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hasten_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::string write(const std::string& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace hasten::test
