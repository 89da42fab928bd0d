// Facts about this machine: instruction sets, cores we may use, cgroup limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hasten {

/// The tiers that kernels are compiled for, weakest first.
enum class Isa { kScalar, kAvx2, kAvx512 };

const char* isa_name(Isa isa);  // "scalar", "avx2", "avx512"

/// Tiers that this CPU and operating system can run, weakest first.
std::vector<Isa> supported_isas();

/// The tier to use: the best one, or the one named in HASTEN_ISA.
/// Errors: invalid_argument (unknown name), unsupported (this CPU lacks it).
Result<Isa> choose_isa();

struct CpuFacts {
  std::string model;  // as the CPU names itself
  std::vector<std::string>
      features;          // of those that matter here: avx2, fma, avx512f, avx512_vnni, …
  int logical_cpus = 1;  // online
  int physical_cores = 1;
  int affinity_cpus = 1;                              // in our affinity mask
  double quota_cpus = 0;                              // cgroup CPU quota in CPUs; 0: none
  int64_t memory_limit = 0;                           // cgroup memory limit in bytes; 0: none
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // per instance; 0: unknown
};

/// Reads /proc and /sys below `root` ("" is the real system; tests pass a recorded tree).
CpuFacts read_cpu_facts(const std::string& root = "");

struct ThreadChoice {
  int threads = 1;
  std::string why;  // "2: 2 CPUs in the affinity mask, 2 physical cores, no cgroup quota"
};

/// min(affinity mask, ceil of the cgroup quota, physical cores).
ThreadChoice choose_threads(const CpuFacts& facts);

}  // namespace hasten
