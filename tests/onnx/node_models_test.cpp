// The node models that ONNX ships with its tests: each loads, or is refused by name.
#include <algorithm>

#include "base/cache_dir.h"
#include "engine/ir/text.h"
#include "engine/ops/infer_graph.h"
#include "tests/onnx/load_util.h"

namespace hasten::test {
namespace {

void load_all(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    models.push_back(entry.path() / "model.onnx");
  }
  std::sort(models.begin(), models.end());
  size_t loaded = 0, refused = 0;
  for (const auto& path : models) {
    auto g = load_onnx(path.string());
    if (!g) {
      // Only for what we say that we don't do.
      EXPECT_EQ(g.error().code, Code::kUnsupported) << message(g);
      ++refused;
      continue;
    }
    ++loaded;
    const Status inferred = infer_graph(*g, nullptr);
    EXPECT_TRUE(inferred || inferred.error().code == Code::kUnsupported)
        << path << ": " << inferred.error().message;
    // Text and back.
    const std::string text = print_graph(*g, 1 << 20);
    auto parsed = parse_graph(text);
    ASSERT_TRUE(parsed) << path << ": " << parsed.error().message << "\n" << text;
    EXPECT_EQ(print_graph(*parsed, 1 << 20), text) << path;
  }
  testing::Test::RecordProperty("loaded", static_cast<int>(loaded));
  testing::Test::RecordProperty("refused", static_cast<int>(refused));
  EXPECT_GT(loaded, refused);
}

TEST(NodeModels, LoadOrAreRefusedByName) {
  const std::filesystem::path folder = "/usr/share/libonnx-testdata/data/node";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "libonnx-testdata is not installed";
  load_all(folder);
}

TEST(NodeModels, OfTheOnnxPackage) {
  const auto folder = std::filesystem::path(cache_dir()) / "node_tests" / "within";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "tools/node_tests has not been run";
  load_all(folder);
}

}  // namespace
}  // namespace hasten::test
