// What this machine can do at most, measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/exec/engine.h"
#include "measure/system_watch.h"
#include "measure/timed.h"

namespace hasten {

/// The best of many short trials. GFLOP/s (a multiply-add is two), or GB/s (10^9 bytes).
struct Peak {
  std::optional<double> one;  // thread
  std::optional<double> all;  // threads together
  std::string how;            // the kernel, or why there is no figure
};

struct Machine {
  std::string fingerprint;  // 16 hex digits: equal for machines on which peaks may be shared
  CpuFacts cpu;
  std::string isa;
  int threads = 1;
  std::string why;  // that many threads
  Peak fp32, bf16, int8;
  Peak l1, l2, l3, dram;          // reading
  std::string version;            // of hasten that measured
  std::vector<Warning> warnings;  // what disturbed the measurement; those who read it back get none
};

/// From the CPU's name, features, caches, cores we may use, ISA tier and hasten's version.
std::string machine_fingerprint(const CpuFacts& cpu, Isa isa, int threads);

/// Measures for one to two seconds. When control.stop is set: the error `cancelled`.
Result<Machine> measure_machine(Context& context, const MeasureControl& control = {});

/// Can the peaks of all threads be true? Cores share neither arithmetic nor L1: where together they
/// did hardly more than one alone, something else ran on them.
bool plausible(const Machine& machine);

/// The peaks out of the cache folder ($HASTEN_CACHE/machine-<fingerprint>.json), or measured
/// (`again`: in any case) and put there, unless something disturbed that; a cache that can't be
/// read or written is measured around. A second process at the same time does no harm.
Result<Machine> cached_machine(Context& context, const MeasureControl& control = {},
                               bool again = false);

std::string to_json(const Machine& machine);
/// Errors: io (not what to_json writes).
Result<Machine> machine_from_json(const std::string& text);

/// For people, several lines.
std::string text(const Machine& machine);

/// The peak for a number of threads, between those of one and of all; nothing if unknown.
std::optional<double> peak_for(const Peak& peak, int threads, int all_threads);

}  // namespace hasten
