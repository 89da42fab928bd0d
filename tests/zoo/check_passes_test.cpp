// Every pass on and off over the models of the cache folder (tools/zoo --data) on one real input
// each: what `hasten check` does. Big ones are left out, so that all take a minute or two: see
// kMaxFlops. By hand: hasten check MODEL --data DATA.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/cache_dir.h"
#include "base/clock.h"
#include "engine/exec/native.h"
#include "engine/onnx/load.h"
#include "measure/check_passes.h"
#include "measure/inputs.h"

namespace hasten {
namespace {

/// A check compiles and runs a model some thirty times.
constexpr double kMaxFlops = 3e9;
constexpr uintmax_t kMaxFileBytes = 100'000'000;

std::vector<std::string> models() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(cache_dir() + "/models", error)) {
    if (file.path().extension() == ".onnx") names.push_back(file.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

double flops_of(const Engine& engine, const Runner& runner) {
  double flops = 0;
  for (const StepInfo& step : engine.steps(runner)) flops += step.flops;
  return flops;
}

class CheckedZoo : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CheckedZoo);

TEST_P(CheckedZoo, EveryPassKeepsTheAnswers) {
  const std::string path = fmt::format("{}/models/{}.onnx", cache_dir(), GetParam());
  InputRequest request;
  request.data = fmt::format("{}/data/{}.npz", cache_dir(), GetParam());
  if (!std::filesystem::exists(request.data)) GTEST_SKIP() << request.data << " is not there";
  if (const auto bytes = std::filesystem::file_size(path); bytes > kMaxFileBytes) {
    GTEST_SKIP() << bytes / 1e6 << " MB are more than this test takes";
  }
  const int64_t start = now_ns();
  const auto context = *Context::make();
  const auto graph = load_onnx(path);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto engine = NativeEngine::compile(*context, *graph, {});
  ASSERT_TRUE(engine) << engine.error().message;
  auto samples = gather_inputs((*engine)->inputs(), request, nullptr, nullptr);
  ASSERT_TRUE(samples) << samples.error().message;
  samples->rows.resize(1);
  const auto sets = samples->sets((*engine)->inputs());
  ASSERT_TRUE(sets) << sets.error().message;
  const auto runner = *(*engine)->make_runner();
  ASSERT_TRUE(runner->bind((*sets)[0]));
  ASSERT_TRUE(runner->run());
  const double flops = flops_of(**engine, *runner);
  if (flops > kMaxFlops) GTEST_SKIP() << flops * 1e-9 << " GFLOP are more than this test takes";

  const auto result = check_passes(*context, *graph, {}, *sets, {});
  ASSERT_TRUE(result) << result.error().message;
  double worst = 0;
  for (const PassCheck& p : result->passes) {
    EXPECT_TRUE(p.ok) << p.name << ": " << p.reason;
    worst = std::max(worst, p.max_err);
  }
  printf("%s: %.2g GFLOP, moved by at most %.2g%s, %.1f s\n", GetParam().c_str(), flops * 1e-9,
         worst,
         result->cut ? fmt::format(" between {} nodes that round", result->cut->nodes).c_str() : "",
         static_cast<double>(now_ns() - start) * 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Models, CheckedZoo, testing::ValuesIn(models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hasten
