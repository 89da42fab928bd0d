// The control groups this process is in, v1 and v2, seen through mounts and namespaces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hasten {

/// The folder of our group for a controller ("cpu", "memory") and those of its parents, leaf first,
/// as far as the mount shows them. A limit of any of them binds. Empty without cgroups. With both
/// versions mounted, the folders of the v1 controller come first, then the v2 ones. Source:
/// cgroups(7), proc_pid_mountinfo(5).
std::vector<std::string> cgroup_folders(const std::string& controller,
                                        const std::string& root = "");

/// The tightest CPU quota in CPUs (1.5: 150 % of one CPU), 0 if none.
double cgroup_cpu_quota(const std::string& root = "");

/// The tightest memory limit in bytes, 0 if none.
int64_t cgroup_memory_limit(const std::string& root = "");

/// Bytes that could be allocated now: what the kernel calls available, within the cgroup's limit;
/// 0: not known.
int64_t available_memory(const std::string& root = "");

/// How often, and for how long, the quota stopped our group or one above it.
struct Throttling {
  bool known = false;  // false: no quota accounting here
  int64_t count = 0;
  int64_t ns = 0;
};
Throttling cgroup_throttling(const std::string& root = "");

}  // namespace hasten
