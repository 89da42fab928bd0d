// What the rest of the machine did to a measurement, read from /proc and the cgroup files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hasten {

/// Something that makes a measurement less than it seems.
struct Warning {
  std::string what;  // "throttled", "other load", "stolen time", …: fixed words
  std::string why;   // the evidence, with figures
  std::string next;  // what to do about it
};

/// Counters of one moment.
struct SystemSample {
  int64_t wall_ns = 0;
  int64_t own_cpu_ns = 0;         // of this process
  int64_t busy_ns = 0;            // of all CPUs and everybody, steal excluded
  int64_t steal_ns = 0;           // taken by the hypervisor, all CPUs
  int64_t queued_ns = 0;          // our threads were runnable but waited for a CPU
  bool throttling_known = false;  // a cgroup's cpu.stat was readable
  int64_t throttled_count = 0;    // by the cgroup's CPU quota
  int64_t throttled_ns = 0;
  double load_average = 0;  // over the last minute
  int cpus = 1;
  bool known = false;  // /proc/stat was readable
};

/// Reads below `root` ("" is the real system). What is unreadable stays 0.
/// Source: proc_stat(5), Documentation/scheduler/sched-stats.rst, cgroups(7).
SystemSample read_system(const std::string& root = "");

/// What happened between two samples, where it is enough to matter: throttled at all, at least 2 %
/// of CPU time stolen, 10 % of one CPU taken by others, 3 % of our time spent waiting for a CPU.
std::vector<Warning> disturbances(const SystemSample& before, const SystemSample& after);

/// Resident memory of this process in MiB; 0 if unknown.
double resident_mb(const std::string& root = "");

}  // namespace hasten
