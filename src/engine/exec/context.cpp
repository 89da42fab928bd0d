#include <map>
#include <mutex>

#include "base/thread_pool.h"
#include "engine/exec/engine.h"
#include "engine/kernels/select.h"

namespace hasten {

const char* engine_kind_name(EngineKind kind) {
  constexpr const char* kNames[] = {"native", "onnxruntime", "openvino"};
  return kNames[static_cast<int>(kind)];
}

const char* spin_name(Spin spin) {
  constexpr const char* kNames[] = {"bounded", "always", "never"};
  return kNames[static_cast<int>(spin)];
}

const char* precision_name(Precision precision) {
  constexpr const char* kNames[] = {"model", "fp32", "bf16", "int8"};
  return kNames[static_cast<int>(precision)];
}

std::string options_text(const EngineOptions& options) {
  std::string text = fmt::format("engine={}", engine_kind_name(options.kind));
  auto add = [&text](std::string_view key, std::string_view value) {
    text += fmt::format(",{}={}", key, value);
  };
  if (options.threads > 0) add("threads", std::to_string(options.threads));
  if (options.spin != Spin::kBounded) add("spin", spin_name(options.spin));
  if (options.precision != Precision::kModel) add("precision", precision_name(options.precision));
  if (options.math == MathMode::kExact) add("math", "exact");
  for (const auto& [name, shape] : options.shapes) {
    std::string dims;
    for (Dim d : shape) dims += (dims.empty() ? "" : "x") + (d.known() ? d.text() : "?");
    add("shape", name + ":" + dims);
  }
  for (const std::string& pass : options.disabled_passes) add("disable_pass", pass);
  if (!options.enable_passes) add("passes", "off");
  if (options.reference_only) add("reference", "on");
  for (const auto& [key, value] : options.extra) add(key, value);
  return text;
}

namespace {

class ContextImpl final : public Context {
 public:
  ContextImpl(LogSink& log, Isa isa) : log_(log), cpu_(read_cpu_facts()), isa_(isa) {}

  LogSink& log() override { return log_; }
  const CpuFacts& cpu() const override { return cpu_; }
  Isa isa() const override { return isa_; }
  const KernelTable& kernels() const override { return kernel_table(isa_); }

  ThreadPool* pool(int threads, Spin spin) override {
    if (threads <= 1) return nullptr;
    std::lock_guard lock(mutex_);
    auto& pool = pools_[{threads, spin}];
    if (!pool) pool = std::make_unique<ThreadPool>(threads, spin);
    return pool.get();
  }

 private:
  LogSink& log_;
  CpuFacts cpu_;
  Isa isa_;
  std::mutex mutex_;
  std::map<std::pair<int, Spin>, std::unique_ptr<ThreadPool>> pools_;
};

}  // namespace

Result<std::unique_ptr<Context>> Context::make(LogSink& log) {
  HASTEN_TRY(const Isa isa, choose_isa());
  return std::unique_ptr<Context>(new ContextImpl(log, isa));
}

}  // namespace hasten
