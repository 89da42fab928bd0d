// From a profile to what to do about it (declared in profile.h). One function a cause.
#include <algorithm>
#include <functional>
#include <map>

#include "measure/profile.h"

namespace hasten {
namespace {

constexpr double kWorthIt = 0.01;   // of the wall time: less isn't worth a line
constexpr double kReachable = 0.7;  // of the roof: what good kernels reach

struct Ops {
  std::vector<const OpProfile*> list;
  double ms = 0, gain_ms = 0;
  void add(const OpProfile& op, double gain) {
    list.push_back(&op);
    ms += op.ms;
    gain_ms += std::clamp(gain, 0.0, op.ms);
  }
};

/// "12 Conv: conv1, conv2, conv3, …"
std::string where(const Ops& ops) {
  std::map<std::string, int> types;
  for (const OpProfile* op : ops.list) ++types[op->op];
  std::string out;
  for (const auto& [type, count] : types) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, type);
  }
  std::vector<const OpProfile*> longest = ops.list;
  std::stable_sort(longest.begin(), longest.end(),
                   [](const OpProfile* a, const OpProfile* b) { return a->ms > b->ms; });
  out += ": ";
  for (size_t i = 0; i < std::min<size_t>(3, longest.size()); ++i) {
    out += fmt::format("{}{}", i ? ", " : "", longest[i]->name);
  }
  return longest.size() > 3 ? out + ", …" : out;
}

class Finder {
 public:
  Finder(const Profile& profile, const Machine* machine) : profile_(profile), machine_(machine) {}

  std::vector<Finding> run() {
    reference_kernels();
    slow_kernels();
    copies();
    memory_bound();
    overhead();
    too_many_threads();
    first_shape();
    unattributed();
    interruptions();
    std::stable_sort(out_.begin(), out_.end(), [](const Finding& a, const Finding& b) {
      return a.expected_gain.value_or(-1) > b.expected_gain.value_or(-1);
    });
    for (size_t i = 0; i < out_.size(); ++i) out_[i].rank = static_cast<int>(i) + 1;
    return std::move(out_);
  }

 private:
  double share(double ms) const {
    return profile_.wall_ms > 0 ? std::min(1.0, ms / profile_.wall_ms) : 0;
  }
  void add(const char* cause, const Ops& ops, std::string why, std::string next) {
    if (share(ops.ms) < kWorthIt) return;
    out_.push_back(
        {0, cause, where(ops), share(ops.ms), share(ops.gain_ms), std::move(why), std::move(next)});
  }
  /// What an op would save if it reached what good kernels reach.
  static double to_reachable(const OpProfile& op) {
    return op.roof_ms ? op.ms - *op.roof_ms / kReachable : 0.5 * op.ms;
  }
  static bool copies(const OpProfile& op) {
    for (const char* name : {"Transpose", "Cast", "Reorder", "Reshape", "Concat", "Slice", "Split",
                             "Identity", "Expand", "Tile", "Pad", "Squeeze", "Unsqueeze"}) {
      if (op.op == name) return true;
    }
    return false;
  }

  void reference_kernels() {
    std::map<std::string, Ops> by_type;
    for (const OpProfile& op : profile_.ops) {
      if (op.reference) by_type[op.op].add(op, to_reachable(op));
    }
    for (const auto& [type, ops] : by_type) {
      add("reference kernel", ops, "no fast kernel took these: they run on plain loops",
          fmt::format("see why with `hasten explain` (refused kernels of {}), and try "
                      "engine=onnxruntime or engine=openvino",
                      type));
    }
  }

  void slow_kernels() {
    std::map<std::string, Ops> by_kernel;
    for (const OpProfile& op : profile_.ops) {
      if (op.reference || copies(op) || op.bound == "overhead") continue;
      if (op.roof_pct && *op.roof_pct < 35) by_kernel[op.kernel].add(op, to_reachable(op));
    }
    for (const auto& [kernel, ops] : by_kernel) {
      double roof = 0;
      for (const OpProfile* op : ops.list) roof += *op->roof_ms;
      add("slow kernel", ops,
          fmt::format("{} reaches {:.0f} % of the measured roof here", kernel, 100 * roof / ops.ms),
          "compare with another engine (hasten compare MODEL MODEL@engine=onnxruntime)");
    }
  }

  void copies() {
    Ops ops;
    for (const OpProfile& op : profile_.ops) {
      if (copies(op) && !op.reference) ops.add(op, 0.9 * op.ms);
    }
    add("copies", ops, "these compute nothing: they move, cast or re-arrange data",
        "run with all passes on; export the model in the layout and type it "
        "computes in");
  }

  /// Can an engine here run a float model in a smaller type?
  bool has_bf16() const {
    if (machine_ == nullptr || !engine_built_in(EngineKind::kOpenVino)) return false;
    const auto& features = machine_->cpu.features;
    return std::any_of(features.begin(), features.end(),
                       [](const std::string& f) { return f == "avx512_bf16" || f == "amx_bf16"; });
  }

  void memory_bound() {
    Ops ops;
    for (const OpProfile& op : profile_.ops) {
      const bool far = op.bound == "L3" || op.bound == "DRAM";
      if (!far || copies(op) || op.reference || op.roof_pct.value_or(0) < 35) continue;
      // Half the bytes (a 16-bit type) is half the time at best.
      ops.add(op, 0.5 * op.ms);
    }
    if (share(ops.ms) < 0.05) return;
    add("memory bound", ops, "these wait for data from L3 or memory, not for arithmetic",
        fmt::format("fuse them with their neighbours, {}or use a larger batch so that weights are "
                    "read less often",
                    has_bf16() ? "try a smaller type (engine=openvino,precision=bf16), " : ""));
  }

  void overhead() {
    Ops ops;
    for (const OpProfile& op : profile_.ops) {
      if (op.bound == "overhead" && !copies(op)) ops.add(op, op.ms - op.roof_ms.value_or(0));
    }
    if (share(ops.ms) < 0.1) return;
    add("tiny ops", ops, "the cost of starting them exceeds their work",
        "fuse them, use a larger batch, or fewer threads");
  }

  void too_many_threads() {
    if (machine_ == nullptr || profile_.threads <= machine_->threads) return;
    out_.push_back({0,
                    "too many threads",
                    fmt::format("{} threads", profile_.threads),
                    1.0,
                    {},
                    fmt::format("this process may use {}", machine_->why),
                    fmt::format("threads={}", machine_->threads)});
  }

  void first_shape() {
    if (profile_.plain_wall_ms <= 0 || profile_.first_ms < 3 * profile_.plain_wall_ms) return;
    if (profile_.first_ms < 1) return;
    out_.push_back({0,
                    "first run",
                    "the first run on a shape",
                    0,
                    {},
                    fmt::format("it took {:.4g} ms, {:.0f} times as long as later ones",
                                profile_.first_ms, profile_.first_ms / profile_.plain_wall_ms),
                    "run each shape once before taking traffic, or open a saved plan (.hplan)"});
  }

  void unattributed() {
    const double part = share(profile_.unattributed_ms);
    if (part < 0.05) return;
    out_.push_back({0, "between the ops", "the engine itself", part, part,
                    fmt::format("{:.4g} ms of each run belong to no op", profile_.unattributed_ms),
                    "report it with this profile; a larger batch makes it matter less"});
  }

  /// Medians of ops don't feel what stops a run once, somewhere; the wall time does.
  void interruptions() {
    double sum = profile_.unattributed_ms;
    for (const OpProfile& op : profile_.ops) sum += op.ms;
    const double part = share(profile_.wall_ms - sum);
    if (part < 0.1) return;
    out_.push_back(
        {0, "interruptions", "anywhere", part, part,
         fmt::format("the typical times of the ops add up to {:.4g} of {:.4g} ms: something "
                     "stops most runs somewhere",
                     sum, profile_.wall_ms),
         "see the warnings about other load, stolen time and quotas; use fewer threads"});
  }

  const Profile& profile_;
  const Machine* machine_;
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> find_causes(const Profile& profile, const Machine* machine) {
  return Finder(profile, machine).run();
}

}  // namespace hasten
