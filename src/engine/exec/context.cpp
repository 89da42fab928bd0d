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

const char* precision_name(Precision precision) {
  constexpr const char* kNames[] = {"model", "fp32", "bf16", "int8"};
  return kNames[static_cast<int>(precision)];
}

namespace {

class ContextImpl final : public Context {
 public:
  ContextImpl(LogSink& log, Isa isa) : log_(log), cpu_(read_cpu_facts()), isa_(isa) {}

  LogSink& log() override { return log_; }
  const CpuFacts& cpu() const override { return cpu_; }
  Isa isa() const override { return isa_; }
  const KernelTable& kernels() const override { return kernel_table(isa_); }

  ThreadPool* pool(int threads) override {
    if (threads <= 1) return nullptr;
    std::lock_guard lock(mutex_);
    auto& pool = pools_[threads];
    if (!pool) pool = std::make_unique<ThreadPool>(threads);
    return pool.get();
  }

 private:
  LogSink& log_;
  CpuFacts cpu_;
  Isa isa_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<ThreadPool>> pools_;
};

}  // namespace

Result<std::unique_ptr<Context>> Context::make(LogSink& log) {
  HASTEN_TRY(const Isa isa, choose_isa());
  return std::unique_ptr<Context>(new ContextImpl(log, isa));
}

}  // namespace hasten
