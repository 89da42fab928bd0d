// What every engine looks like from outside: ours, ONNX Runtime, OpenVINO.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "engine/ir/load_limits.h"
#include "engine/ir/tensor.h"
#include "engine/plan/step_info.h"

namespace hasten {

/// One input or output of a model.
struct Port {
  std::string name;
  DType dtype = DType::kNone;
  bool has_shape = false;
  Shape shape;
};

/// Watches the steps of runs. Called on the thread that runs; must be quick.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the first step of a run.
  virtual void run_begin(int64_t now_ns) = 0;
  /// A step took [begin_ns, end_ns]. `step` stays valid and the same for the same step while the
  /// engine lives.
  virtual void step(const StepInfo& step, int64_t begin_ns, int64_t end_ns) = 0;
  virtual void run_end(int64_t now_ns) = 0;
};

/// The state of one caller: bound inputs, buffers, outputs. Not shared between threads; several
/// runners of one engine may run at the same time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Sets the inputs, in the order of Engine::inputs(); elements are read in place at each run and
  /// must outlive them. Errors: invalid_argument (count, dtype, rank, dims against the model's).
  virtual Status bind(std::span<const TensorView> inputs) = 0;
  /// Runs once on what is bound. After the first run on given shapes nothing is allocated.
  virtual Status run(Observer* observer = nullptr) = 0;
  /// The outputs of the last run, in the order of Engine::outputs(); valid until the next bind or
  /// run.
  virtual std::span<const TensorView> outputs() const = 0;
};

/// A model loaded by an engine, shared by runners.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  virtual Result<std::unique_ptr<Runner>> make_runner() = 0;
  /// "native 0.1.0 avx2", "onnxruntime 1.32.0"
  virtual std::string version() const = 0;
  virtual int threads() const = 0;
  /// The steps of what a runner bound last; empty where an engine doesn't tell.
  virtual std::vector<StepInfo> steps(const Runner&) const { return {}; }
};

enum class EngineKind { kNative, kOnnxRuntime, kOpenVino };
enum class Precision { kModel, kFp32, kBf16, kInt8 };
enum class MathMode { kFast, kExact };

const char* engine_kind_name(EngineKind kind);    // "native", "onnxruntime", "openvino"
const char* spin_name(Spin spin);                 // "bounded", "always", "never"
const char* precision_name(Precision precision);  // "model", "fp32", "bf16", "int8"

/// How to open a model.
struct EngineOptions {
  EngineKind kind = EngineKind::kNative;
  int threads = 0;  // 0: the machine's choice (see choose_threads); for peers their own default
  Spin spin = Spin::kBounded;  // native only
  Precision precision = Precision::kModel;
  MathMode math = MathMode::kFast;
  int64_t memory_limit = 0;                  // bytes; 0: none
  bool verify_plan = false;                  // a .hplan file's weights are hashed before use
  LoadLimits limits;                         // native only
  std::map<std::string, Shape> shapes;       // overrides of declared input shapes
  std::vector<std::string> disabled_passes;  // native only
  bool enable_passes = true;                 // native only; false: the graph as it is in the file
  bool reference_only = false;               // native only: every op on its oracle
  std::map<std::string, std::string> extra;  // options of a peer, by its own names
};

/// The part of a target behind the `@`: "engine=onnxruntime,threads=2"; what is unset is left
/// out, but for the engine.
std::string options_text(const EngineOptions& options);

/// Was this engine found when hasten was built?
bool engine_built_in(EngineKind kind);

struct KernelTable;

/// What engines of one process share. Owns the thread pools, the kernel table and the log sink.
class Context {
 public:
  /// Errors: those of choose_isa().
  static Result<std::unique_ptr<Context>> make(LogSink& log = silent_log());
  virtual ~Context() = default;
  virtual LogSink& log() = 0;
  virtual const CpuFacts& cpu() const = 0;
  virtual Isa isa() const = 0;
  virtual const KernelTable& kernels() const = 0;
  /// The team of that size; made on first use. Null for 1 thread.
  virtual ThreadPool* pool(int threads, Spin spin = Spin::kBounded) = 0;
};

/// Opens an .onnx file, an .hplan file, or bytes of an ONNX file, with the engine that the options
/// name. Errors: io, invalid_model, unsupported (naming what, and the nearest fix), out_of_memory.
/// Peers that are not built in: unsupported, saying how to get them.
Result<std::unique_ptr<Engine>> open_engine(Context& context, const std::string& path,
                                            const EngineOptions& options);

}  // namespace hasten
