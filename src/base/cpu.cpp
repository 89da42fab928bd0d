#include "base/cpu.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "base/cgroup.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hasten {
namespace {

#if defined(__x86_64__)
struct X86 {
  bool avx2 = false, avx512 = false;
};

/// What the CPU has *and* the operating system saves on a context switch (XCR0): a kernel or
/// hypervisor may hide the registers of an instruction set that CPUID shows.
/// Source: Intel SDM vol. 1, 14.3 (AVX) and 15.2 (AVX-512 detection).
X86 detect_x86() {
  X86 have;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return have;
  const unsigned leaf1 = bit_FMA | bit_F16C | bit_AES | bit_PCLMUL | bit_AVX | bit_OSXSAVE |
                         bit_MOVBE | bit_POPCNT | bit_SSE4_2;
  if ((c & leaf1) != leaf1) return have;
  unsigned xcr0, high;
  __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  if ((xcr0 & 0x6) != 0x6) return have;  // XMM and the upper halves of YMM
  unsigned ext_a, ext_b, ext_c = 0, ext_d;
  if (!__get_cpuid(0x80000001, &ext_a, &ext_b, &ext_c, &ext_d) || !(ext_c & bit_LZCNT)) return have;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return have;
  const unsigned avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
  have.avx2 = (b & avx2) == avx2;
  const unsigned avx512 = bit_AVX512F | bit_AVX512CD | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  // Opmasks, the upper halves of ZMM0-15, and ZMM16-31.
  have.avx512 = have.avx2 && (b & avx512) == avx512 && (xcr0 & 0xe0) == 0xe0;
  return have;
}
#endif

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (in) std::getline(in, line);
  return line;
}

/// "0-3,8" -> 0 1 2 3 8. Stops at what it doesn't understand.
std::set<int> parse_cpu_list(const std::string& text) {
  std::set<int> cpus;
  const char* at = text.c_str();
  while (true) {
    char* end = nullptr;
    long first = std::strtol(at, &end, 10);
    if (end == at || first < 0) return cpus;
    long last = first;
    at = end;
    if (*at == '-') {
      last = std::strtol(at + 1, &end, 10);
      at = end;
    }
    constexpr long kMost = 1 << 16;
    for (long cpu = first; cpu <= last && cpu < kMost; ++cpu) cpus.insert(static_cast<int>(cpu));
    if (*at != ',') return cpus;
    ++at;
  }
}

/// The value of the first line "key<blanks>: value"; empty if there is none.
std::string field(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  std::string line;
  while (in && std::getline(in, line)) {
    if (!line.starts_with(key)) continue;
    size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

/// "32K", "1M" in bytes; 0 if unreadable.
int64_t parse_size(const std::string& text) {
  char* end = nullptr;
  long long n = std::strtoll(text.c_str(), &end, 10);
  if (n <= 0) return 0;
  return n * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
}

void read_caches(const std::string& cpu_folder, bool real, CpuFacts& facts) {
  for (int i = 0; i < 8; ++i) {
    std::string folder = cpu_folder + "/cache/index" + std::to_string(i);
    std::string level = slurp(folder + "/level");
    if (level.empty()) break;
    if (slurp(folder + "/type") == "Instruction") continue;
    int64_t bytes = parse_size(slurp(folder + "/size"));
    if (level == "1") facts.l1d_bytes = bytes;
    if (level == "2") facts.l2_bytes = bytes;
    if (level == "3") facts.l3_bytes = bytes;
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  // Some virtual machines have no cache folder; the C library asks CPUID.
  auto ask = [&](int name, int64_t& bytes) {
    if (real && bytes == 0) bytes = std::max<int64_t>(0, sysconf(name));
  };
  ask(_SC_LEVEL1_DCACHE_SIZE, facts.l1d_bytes);
  ask(_SC_LEVEL2_CACHE_SIZE, facts.l2_bytes);
  ask(_SC_LEVEL3_CACHE_SIZE, facts.l3_bytes);
#endif
}

void read_model(const std::string& cpuinfo, CpuFacts& facts) {
  facts.model = field(cpuinfo, "model name");
  static const char* const kKnown[] = {
      "avx2",     "fma",      "f16c",     "avx_vnni",    "avx512f",     "avx512cd",
      "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
      "amx_tile", "amx_int8", "amx_bf16", "asimd",       "asimddp",     "asimdhp",
      "i8mm",     "bf16",     "sve",      "sve2"};
  std::string all = field(cpuinfo, "flags");
  if (all.empty()) all = field(cpuinfo, "Features");  // ARM
  std::istringstream words(all);
  std::set<std::string> present;
  for (std::string word; words >> word;) present.insert(word);
  for (const char* name : kKnown) {
    if (present.count(name)) facts.features.push_back(name);
  }
}

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "?";
}

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas = {Isa::kScalar};
#if defined(__x86_64__)
  static const X86 have = detect_x86();
  if (have.avx2) isas.push_back(Isa::kAvx2);
  if (have.avx512) isas.push_back(Isa::kAvx512);
#endif
  return isas;
}

Result<Isa> choose_isa() {
  std::vector<Isa> isas = supported_isas();
  const char* wanted = std::getenv("HASTEN_ISA");
  if (wanted == nullptr || *wanted == '\0') return isas.back();
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (std::string_view(wanted) != isa_name(isa)) continue;
    if (std::find(isas.begin(), isas.end(), isa) != isas.end()) return isa;
    return fail(
        Code::kUnsupported,
        "HASTEN_ISA={}: this CPU (or its operating system) lacks it, the best it has is {}; "
        "unset HASTEN_ISA or name a lower tier",
        wanted, isa_name(isas.back()));
  }
  return fail(Code::kInvalidArgument, "HASTEN_ISA={}: unknown; known are scalar, avx2, avx512",
              wanted);
}

CpuFacts read_cpu_facts(const std::string& root) {
  CpuFacts facts;
  read_model(root + "/proc/cpuinfo", facts);

  const std::string cpu_root = root + "/sys/devices/system/cpu";
  std::set<int> online = parse_cpu_list(slurp(cpu_root + "/online"));
  // Of the calling thread rather than the process, as the workers inherit it.
  std::string mask = field(root + "/proc/thread-self/status", "Cpus_allowed_list");
  if (mask.empty()) mask = field(root + "/proc/self/status", "Cpus_allowed_list");
  std::set<int> allowed = parse_cpu_list(mask);
  if (online.empty()) online = allowed;
  if (online.empty()) online = {0};
  if (allowed.empty()) allowed = online;
  std::set<int> usable;
  std::set_intersection(online.begin(), online.end(), allowed.begin(), allowed.end(),
                        std::inserter(usable, usable.end()));
  if (usable.empty()) usable = allowed;
  facts.logical_cpus = static_cast<int>(online.size());
  facts.affinity_cpus = static_cast<int>(usable.size());

  // Cores that our mask touches: two hardware threads of one core share its multipliers.
  std::set<std::string> cores;
  for (int cpu : usable) {
    std::string topology = cpu_root + "/cpu" + std::to_string(cpu) + "/topology/";
    std::string siblings = slurp(topology + "core_cpus_list");
    if (siblings.empty()) siblings = slurp(topology + "thread_siblings_list");  // before Linux 5.2
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  facts.physical_cores = static_cast<int>(cores.size());

  facts.quota_cpus = cgroup_cpu_quota(root);
  facts.memory_limit = cgroup_memory_limit(root);
  read_caches(cpu_root + "/cpu" + std::to_string(*usable.begin()), root.empty(), facts);
  return facts;
}

ThreadChoice choose_threads(const CpuFacts& facts) {
  int threads = std::min(facts.affinity_cpus, facts.physical_cores);
  std::string quota = "no cgroup quota";
  if (facts.quota_cpus > 0) {
    // A hair of tolerance: 2.0000001 CPUs is 2.
    int most = std::max(1, static_cast<int>(std::ceil(facts.quota_cpus - 1e-6)));
    threads = std::min(threads, most);
    quota = fmt::format("cgroup quota of {:.3g} CPUs", facts.quota_cpus);
  }
  threads = std::max(threads, 1);
  auto plural = [](int n) { return n == 1 ? "" : "s"; };
  return {threads, fmt::format("{}: {} CPU{} in the affinity mask, {} physical core{}, {}", threads,
                               facts.affinity_cpus, plural(facts.affinity_cpus),
                               facts.physical_cores, plural(facts.physical_cores), quota)};
}

}  // namespace hasten
