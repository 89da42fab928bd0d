// Something that can be timed run by run: a model, or a simulated one in tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/exec/engine.h"

namespace hasten {

/// The inputs of one run, in the order of Engine::inputs(). Elements are read in place.
using InputSet = std::vector<TensorView>;

class Timed {
 public:
  virtual ~Timed() = default;
  /// Runs once on the next inputs in turn; wall milliseconds of the run alone (binding excluded).
  virtual Result<double> run_once_ms() = 0;
  /// Which shapes the last run had: runs of one number warm up together.
  virtual int shape_group() const { return 0; }
  /// Runs until every shape was met once.
  virtual int64_t rotation() const { return 1; }
};

/// Times a runner over input sets bound in turn, so that no cache line of an input is warm merely
/// because nobody else's request came between.
class TimedRunner : public Timed {
 public:
  /// Neither is owned. `sets` must not be empty.
  TimedRunner(Runner& runner, std::span<const InputSet> sets);
  Result<double> run_once_ms() override;
  int shape_group() const override { return group_of_[last_]; }
  int64_t rotation() const override;

 private:
  Runner& runner_;
  std::span<const InputSet> sets_;
  std::vector<int> group_of_;  // of each set: sets with the same shapes share a number
  size_t next_ = 0, last_ = 0;
  bool bound_ = false;
};

/// A model opened afresh, for comparisons that recreate both sides.
class Instance : public Timed {
 public:
  /// Milliseconds that opening took, up to the first run.
  virtual double load_ms() const = 0;
};
using OpenInstance = std::function<Result<std::unique_ptr<Instance>>()>;

/// An engine with one runner and the time that opening both took.
struct OpenedModel {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Runner> runner;
  double load_ms = 0;
};
/// Errors: those of open_engine and Engine::make_runner.
Result<OpenedModel> open_model(Context& context, const std::string& path,
                               const EngineOptions& options);

/// Opens the same model again at each call. `sets` must outlive the instances, like `context`.
OpenInstance instance_opener(Context& context, std::string path, EngineOptions options,
                             std::span<const InputSet> sets);

/// What was done so far, for a progress line.
struct Progress {
  std::string stage;    // "cold", "measuring", "round 7"
  int64_t runs = 0;     // so far
  double seconds = 0;   // since the start
  double fraction = 0;  // of the work, 0 … 1, at best a guess
};

/// Common to everything that measures: when to stop, whom to tell, and what time it is (tests
/// bring their own clock).
struct MeasureControl {
  const std::atomic<bool>* stop = nullptr;  // set: end soon and return what there is
  std::function<void(const Progress&)> progress;
  std::function<int64_t()> clock_ns;            // empty: now_ns
  std::function<void(int64_t)> sleep_until_ns;  // by that clock; empty: the thread sleeps
  int64_t now() const;
  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

}  // namespace hasten
