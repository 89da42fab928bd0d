#include "measure/system_watch.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/cgroup.h"
#include "base/clock.h"

namespace hasten {
namespace {

void read_stat(const std::string& root, SystemSample& sample) {
  std::ifstream in(root + "/proc/stat");
  std::string line;
  const int64_t tick_ns = 1'000'000'000 / std::max<int64_t>(1, sysconf(_SC_CLK_TCK));
  int cpus = 0;
  while (std::getline(in, line) && line.starts_with("cpu")) {
    if (line[3] != ' ') {
      ++cpus;
      continue;
    }
    std::istringstream words(line.substr(4));
    int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    sample.busy_ns = (user + nice + system + irq + softirq) * tick_ns;
    sample.steal_ns = steal * tick_ns;
    sample.known = true;
  }
  sample.cpus = std::max(cpus, 1);
}

/// Time that our threads waited in run queues.
int64_t read_queued(const std::string& root) {
  const std::string folder = root + "/proc/self/task";
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return 0;
  int64_t sum = 0;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream in(folder + "/" + entry->d_name + "/schedstat");
    int64_t ran = 0, waited = 0;
    if (in >> ran >> waited) sum += waited;
  }
  closedir(dir);
  return sum;
}

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

SystemSample read_system(const std::string& root) {
  SystemSample sample;
  sample.wall_ns = now_ns();
  sample.own_cpu_ns = process_cpu_ns();
  read_stat(root, sample);
  sample.queued_ns = read_queued(root);
  const Throttling throttling = cgroup_throttling(root);
  sample.throttling_known = throttling.known;
  sample.throttled_count = throttling.count;
  sample.throttled_ns = throttling.ns;
  std::ifstream(root + "/proc/loadavg") >> sample.load_average;
  return sample;
}

std::vector<Warning> disturbances(const SystemSample& before, const SystemSample& after) {
  std::vector<Warning> warnings;
  const int64_t wall = after.wall_ns - before.wall_ns;
  if (wall <= 0) return warnings;

  const int64_t throttled = after.throttled_count - before.throttled_count;
  if (throttled > 0) {
    const double ms = static_cast<double>(after.throttled_ns - before.throttled_ns) * 1e-6;
    warnings.push_back(
        {"throttled",
         fmt::format("the cgroup's CPU quota stopped this process {} times, for {:.1f} ms in all",
                     throttled, ms),
         "raise the quota, or use fewer threads than it allows CPUs"});
  }
  if (!before.known || !after.known) return warnings;

  const int64_t capacity = wall * after.cpus;
  const int64_t stolen = after.steal_ns - before.steal_ns;
  if (percent(stolen, capacity) >= 2) {
    warnings.push_back(
        {"stolen time",
         fmt::format("the hypervisor gave {:.1f} % of this machine's CPU time to others",
                     percent(stolen, capacity)),
         "measure on a machine that isn't shared, or trust only comparisons "
         "made alternately (hasten compare)"});
  }
  // /proc/stat counts whole ticks: below a few of them the difference says nothing.
  const int64_t others = (after.busy_ns - before.busy_ns) - (after.own_cpu_ns - before.own_cpu_ns);
  if (percent(others, wall) >= 10 && others > 50'000'000) {
    warnings.push_back(
        {"other load",
         fmt::format("other processes used {:.2f} of {} CPUs meanwhile (load average {:.2f})",
                     static_cast<double>(others) / static_cast<double>(wall), after.cpus,
                     after.load_average),
         "stop them (see top), or trust only comparisons made alternately (hasten compare)"});
  }
  const int64_t queued = after.queued_ns - before.queued_ns;
  // The kernel books a wait when it ends: beside a short measurement a long one says nothing.
  if (percent(queued, wall) >= 3 && queued > 5'000'000) {
    warnings.push_back(
        {"waited for a CPU",
         fmt::format("this process's threads were ready but had no CPU for {:.0f} ms in all, "
                     "within {:.0f} ms",
                     static_cast<double>(queued) * 1e-6, static_cast<double>(wall) * 1e-6),
         "use fewer threads (threads=N), or stop what else runs"});
  }
  return warnings;
}

double resident_mb(const std::string& root) {
  int64_t total = 0, resident = 0;
  std::ifstream(root + "/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace hasten
