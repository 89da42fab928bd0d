#include "base/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/cgroup.h"
#include "tests/base/recorded_tree.h"

namespace hasten {
namespace {

/// A recorded /proc and /sys.
class Tree : public test::RecordedTree {
 protected:
  void cpus(const std::string& online, const std::string& allowed, int threads_per_core = 1) {
    put("/sys/devices/system/cpu/online", online + "\n");
    put("/proc/self/status",
        "Name:\thasten\nCpus_allowed:\tff\nCpus_allowed_list:\t" + allowed + "\n");
    for (int cpu = 0; cpu < 8; ++cpu) {
      int first = cpu / threads_per_core * threads_per_core;
      std::string siblings = threads_per_core == 2 ? fmt::format("{}-{}\n", first, first + 1)
                                                   : fmt::format("{}\n", first);
      put(fmt::format("/sys/devices/system/cpu/cpu{}/topology/core_cpus_list", cpu), siblings);
    }
  }

  void cgroup_v2(const std::string& group, const std::string& mount_group = "/") {
    put("/proc/self/cgroup", "0::" + group + "\n");
    put("/proc/self/mountinfo", "24 1 0:22 / /proc rw - proc proc rw\n30 23 0:26 " + mount_group +
                                    " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }

  ThreadChoice choice() { return choose_threads(read_cpu_facts(root_)); }
};

TEST_F(Tree, AvailableMemoryIsWhatBothAllow) {
  EXPECT_EQ(available_memory(root_), 0);
  put("/proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:    4000000 kB\n");
  EXPECT_EQ(available_memory(root_), 4096000000);
  cgroup_v2("/a");
  put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
  EXPECT_EQ(available_memory(root_), 1073741824);
}

TEST_F(Tree, QuotaOf200PercentOnEightCpus) {
  cpus("0-7", "0-7");
  cgroup_v2("/system.slice/run-7.service");
  put("/sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/system.slice/run-7.service/cpu.max", "200000 100000\n");
  EXPECT_EQ(choice().threads, 2);
  EXPECT_EQ(choice().why,
            "2: 8 CPUs in the affinity mask, 8 physical cores, cgroup quota of 2 CPUs");
}

TEST_F(Tree, CpusetAlone) {
  cpus("0-7", "0-1");
  EXPECT_EQ(choice().threads, 2);
  EXPECT_EQ(choice().why, "2: 2 CPUs in the affinity mask, 2 physical cores, no cgroup quota");
}

TEST_F(Tree, CpusetAndQuota) {
  cpus("0-7", "2,5");
  cgroup_v2("/");
  put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(choice().threads, 2);
}

TEST_F(Tree, HalfACpu) {
  cpus("0-7", "0-7");
  cgroup_v2("/");
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(read_cpu_facts(root_).quota_cpus, 0.5);
  EXPECT_EQ(choice().threads, 1);
}

TEST_F(Tree, FractionsAreRoundedUp) {
  cpus("0-7", "0-7");
  cgroup_v2("/");
  put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(choice().threads, 3);
}

TEST_F(Tree, ParentsQuotaBinds) {
  cpus("0-7", "0-7");
  cgroup_v2("/kubepods/pod1/main");
  put("/sys/fs/cgroup/kubepods/cpu.max", "600000 100000\n");
  put("/sys/fs/cgroup/kubepods/pod1/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/kubepods/pod1/main/cpu.max", "max 100000\n");
  EXPECT_EQ(read_cpu_facts(root_).quota_cpus, 1.5);
  EXPECT_EQ(choice().threads, 2);
}

TEST_F(Tree, V1WithoutCgroupNamespace) {
  // Docker on v1: the process sees the host's name of its group, the mount shows only that group.
  cpus("0-7", "0-7");
  put("/proc/self/cgroup",
      "12:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n2:cpuset:/docker/1f\n0::/docker/1f\n");
  put("/proc/self/mountinfo",
      "31 30 0:27 /docker/1f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
      "32 30 0:28 /docker/1f /sys/fs/cgroup/memory ro master:15 - cgroup cgroup rw,memory\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  CpuFacts facts = read_cpu_facts(root_);
  EXPECT_EQ(facts.quota_cpus, 2);
  EXPECT_EQ(facts.memory_limit, 536870912);
}

TEST_F(Tree, V1NestedAndUnlimited) {
  cpus("0-7", "0-7");
  put("/proc/self/cgroup", "4:cpu,cpuacct:/a/b\n3:memory:/a/b\n");
  put("/proc/self/mountinfo",
      "31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 7000\n");
  CpuFacts facts = read_cpu_facts(root_);
  EXPECT_EQ(facts.quota_cpus, 3);
  EXPECT_EQ(facts.memory_limit, 0);
  EXPECT_TRUE(cgroup_throttling(root_).known);
  EXPECT_EQ(cgroup_throttling(root_).count, 4);
  EXPECT_EQ(cgroup_throttling(root_).ns, 7000);
}

TEST_F(Tree, V1HalfACpuBesideACpuset) {
  cpus("0-7", "4-5");
  put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/1f\n2:cpuset:/docker/1f\n");
  put("/proc/self/mountinfo",
      "31 30 0:27 /docker/1f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  const std::string quota = "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us";
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  put(quota, "50000\n");
  EXPECT_EQ(choice().threads, 1);
  put(quota, "800000\n");
  EXPECT_EQ(choice().threads, 2);
}

TEST_F(Tree, TheMaskOfTheCallingThreadCounts) {
  cpus("0-7", "0-7");
  put("/proc/thread-self/status", "Name:\thasten\nCpus_allowed_list:\t3\n");
  EXPECT_EQ(choice().threads, 1);
}

TEST_F(Tree, GroupOutsideOfTheMountFallsBackToTheMountPoint) {
  cpus("0-7", "0-7");
  cgroup_v2("/../../other");
  put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  put("/sys/fs/cgroup/cpu.stat", "usage_usec 1\nnr_throttled 3\nthrottled_usec 20\n");
  EXPECT_EQ(choice().threads, 4);
  EXPECT_EQ(cgroup_throttling(root_).ns, 20000);
}

TEST_F(Tree, HardwareThreadsOfACoreCountOnce) {
  cpus("0-7", "0-7", 2);
  CpuFacts facts = read_cpu_facts(root_);
  EXPECT_EQ(facts.logical_cpus, 8);
  EXPECT_EQ(facts.physical_cores, 4);
  EXPECT_EQ(choice().threads, 4);
}

TEST_F(Tree, ModelFeaturesAndCaches) {
  cpus("0-1", "0-1");
  put("/proc/cpuinfo",
      "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu fma avx2 "
      "sse2\n\n");
  for (auto [index, level, type, size] : {std::tuple{"0", "1", "Data", "32K"},
                                          {"1", "1", "Instruction", "64K"},
                                          {"2", "2", "Unified", "512K"},
                                          {"3", "3", "Unified", "32M"}}) {
    std::string folder = std::string("/sys/devices/system/cpu/cpu0/cache/index") + index;
    put(folder + "/level", std::string(level) + "\n");
    put(folder + "/type", std::string(type) + "\n");
    put(folder + "/size", std::string(size) + "\n");
  }
  CpuFacts facts = read_cpu_facts(root_);
  EXPECT_EQ(facts.model, "AMD EPYC 7763");
  EXPECT_EQ(facts.features, (std::vector<std::string>{"avx2", "fma"}));
  EXPECT_EQ(facts.l1d_bytes, 32 * 1024);
  EXPECT_EQ(facts.l2_bytes, 512 * 1024);
  EXPECT_EQ(facts.l3_bytes, 32 * 1024 * 1024);
}

TEST_F(Tree, EmptyOrBrokenFilesGiveOneThread) {
  EXPECT_EQ(choice().threads, 1);
  put("/sys/devices/system/cpu/online", "junk\n");
  put("/proc/self/cgroup", "no colons\n::\n");
  put("/proc/self/mountinfo", "- \n 1 2 3 - cgroup2\n");
  EXPECT_EQ(choice().threads, 1);
}

TEST(Cpu, RealMachineIsReadable) {
  CpuFacts facts = read_cpu_facts();
  EXPECT_GE(facts.logical_cpus, 1);
  EXPECT_GE(facts.affinity_cpus, 1);
  EXPECT_GE(choose_threads(facts).threads, 1);
}

TEST(Cpu, AffinityIsHonoured) {
  // In a thread of its own, whose mask ends with it. Workers would inherit it.
  std::thread([] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    const int before = CPU_COUNT(&mask);
    EXPECT_EQ(read_cpu_facts().affinity_cpus, before);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &mask)) --last;
    CPU_ZERO(&mask);
    CPU_SET(last, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    const CpuFacts facts = read_cpu_facts();
    EXPECT_EQ(facts.affinity_cpus, 1);
    EXPECT_EQ(choose_threads(facts).threads, 1);
  }).join();
}

TEST(Cpu, IsaFromTheEnvironment) {
  const char* before = std::getenv("HASTEN_ISA");
  std::string saved = before ? before : "";
  setenv("HASTEN_ISA", "scalar", 1);
  ASSERT_TRUE(choose_isa());
  EXPECT_EQ(*choose_isa(), Isa::kScalar);
  setenv("HASTEN_ISA", "mmx", 1);
  ASSERT_FALSE(choose_isa());
  EXPECT_EQ(choose_isa().error().code, Code::kInvalidArgument);
  std::vector<Isa> isas = supported_isas();
  if (std::find(isas.begin(), isas.end(), Isa::kAvx512) == isas.end()) {
    setenv("HASTEN_ISA", "avx512", 1);
    ASSERT_FALSE(choose_isa());
    EXPECT_EQ(choose_isa().error().code, Code::kUnsupported);
  }
  unsetenv("HASTEN_ISA");
  EXPECT_EQ(*choose_isa(), isas.back());
  if (before) setenv("HASTEN_ISA", saved.c_str(), 1);
}

}  // namespace
}  // namespace hasten
