// Where the time of a run goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "measure/machine.h"
#include "measure/system_watch.h"
#include "measure/timed.h"

namespace hasten {

/// One step of the model over many runs. Per run: a step inside a loop counts with all its turns.
struct OpProfile {
  std::string name, op, kernel;
  std::vector<std::string> inputs, outputs;
  bool reference = false;
  double ms = 0;  // median
  double min_ms = 0;
  std::optional<double> p99_ms;    // nothing from too few runs
  double share = 0;                // of the sum of all ops and what is unattributed, 0 … 1
  double calls = 1;                // per run
  double flops = 0, bytes = 0;     // per run
  double gflops = 0, gbps = 0;     // reached
  std::optional<double> roof_ms;   // the least that the measured peaks allow
  std::optional<double> roof_pct;  // 100 * roof_ms / ms
  std::string bound;  // "compute", "L2", "L3", "DRAM", "overhead"; "" where peaks are unknown
};

/// Something to do, best first.
struct Finding {
  int rank = 1;
  std::string cause;                    // fixed words: "reference kernel", "slow kernel", …
  std::string where;                    // op types and names
  double share = 0;                     // of the wall time that the cause touches, 0 … 1
  std::optional<double> expected_gain;  // of the wall time, 0 … 1; nothing if it can't be told
  std::string why;                      // the figures behind it
  std::string do_next;
};

struct Profile {
  std::string target, engine;  // for the caller to fill
  int threads = 1;
  int64_t runs = 0;
  double wall_ms = 0;          // median, by a clock of its own around the runs that were observed
  double unattributed_ms = 0;  // median of what is left of each run's wall time; never below 0
  double plain_wall_ms = 0;    // median of the runs between them that nobody observed
  double first_ms = 0;         // the very first run
  std::vector<OpProfile> ops;  // in order of execution
  std::vector<Finding> findings;
  std::vector<Warning> warnings;
  bool interrupted = false;
};

struct ProfileOptions {
  int64_t runs = 0;                  // observed ones; 0: as `seconds` says
  double seconds = 2;                // at least 7 runs
  int threads = 1;                   // that the engine uses
  const Machine* machine = nullptr;  // null: no roofs
  bool steps_needed = true;          // false: an engine that shows none is timed as a whole
  MeasureControl control;
  std::string proc_root;
};

/// Collects the step times of runs. Give it to Runner::run; not for two runners at once.
class StepCollector : public Observer {
 public:
  void run_begin(int64_t now_ns) override;
  void step(const StepInfo& step, int64_t begin_ns, int64_t end_ns) override;
  void run_end(int64_t now_ns) override;

  struct Step {
    StepInfo info;
    std::vector<double> ms;  // one per run in which it ran
    int64_t calls = 0;       // in all runs
    int64_t current_ns = 0;  // in this run
    bool ran = false;        // in this run
  };
  const std::vector<Step>& steps() const { return steps_; }
  int64_t runs() const { return runs_; }
  /// Sum of the steps of the last run.
  int64_t last_sum_ns() const { return sum_ns_; }
  /// Forgets all runs (of the warm-up), not the steps.
  void forget();

 private:
  size_t find(const StepInfo& step);

  std::vector<Step> steps_;
  std::vector<std::pair<const StepInfo*, size_t>> order_;  // steps as they came in the last run
  std::unordered_map<const StepInfo*, size_t> by_info_;
  size_t at_ = 0;  // where in it we are
  int64_t runs_ = 0, sum_ns_ = 0;
};

/// Runs the model observed and plain in turn and puts the step times together. Warm-up is left
/// out. Errors: those of the runs; unsupported where the engine shows no steps; cancelled when
/// stopped before the first observed run.
Result<Profile> profile(Runner& runner, std::span<const InputSet> sets,
                        const ProfileOptions& options);

/// Which arithmetic binds a kernel, by its name: int8 (sums in _s32), bf16, else fp32.
Peak Machine::*compute_peak(std::string_view kernel);

/// The level of memory that so many bytes fit in, of those whose peak is known.
struct MemoryLevel {
  const char* name;
  Peak Machine::*peak;
};
MemoryLevel memory_level(double bytes, const Machine& machine, int threads);

/// Fills gflops, gbps, roof and bound of an op from its times, work and the machine.
///
/// The roof is max(flops / peak, bytes / bandwidth) with the bandwidth of the level that the op's
/// bytes fit in (L2, L3, else DRAM); "overhead" binds where an op below 20 us takes five times its
/// roof or has no work to speak of. Source: Williams, Waterman & Patterson 2009, Roofline.
void apply_roof(OpProfile& op, const Machine& machine, int threads);

/// What to do about it, best first.
std::vector<Finding> find_causes(const Profile& profile, const Machine* machine);

/// One op type in two profiles.
struct OpTypeDiff {
  std::string op;
  int a_count = 0, b_count = 0;
  double a_ms = 0, b_ms = 0;
};
struct ProfileDiff {
  double a_wall_ms = 0, b_wall_ms = 0;
  bool a_has_steps = true, b_has_steps = true;  // of one without only the whole is known
  std::vector<OpTypeDiff> ops;                  // what explains most of the difference first
};
/// Lines two profiles up by op type; "(unattributed)" is one of them.
ProfileDiff diff(const Profile& a, const Profile& b);

/// For people. At most `most_ops` ops, those that take longest first (0: all).
std::string text(const Profile& profile, size_t most_ops = 20);
std::string text(const ProfileDiff& diff);

}  // namespace hasten
