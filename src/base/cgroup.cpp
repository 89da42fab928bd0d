#include "base/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace hasten {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool parse(std::string_view text, int64_t& value) {
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

/// mountinfo writes blanks and backslashes as \ooo.
std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Mount {
  std::string group;  // the group that the mount point shows
  std::string point;
};

/// The mount of a v1 controller, or of v2 when `controller` is empty.
bool find_mount(const std::string& mountinfo, const std::string& controller, Mount& mount) {
  for (const std::string& line : split(mountinfo, '\n')) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::vector<std::string> head = split(std::string_view(line).substr(0, dash), ' ');
    std::vector<std::string> tail = split(std::string_view(line).substr(dash + 3), ' ');
    if (head.size() < 5 || tail.size() < 3) continue;
    bool match = controller.empty() ? tail[0] == "cgroup2"
                                    : tail[0] == "cgroup" && has(split(tail[2], ','), controller);
    if (!match) continue;
    mount = {unescape(head[3]), unescape(head[4])};
    return true;
  }
  return false;
}

/// The folder of `group` and its parents below the mount, leaf first.
void append_chain(const std::string& root, const Mount& mount, const std::string& group,
                  std::vector<std::string>& folders) {
  // What the mount shows is `mount.group` and below. A group elsewhere (seen from another
  // namespace,
  // "/../x") isn't visible: the mount point is the nearest that is.
  std::string below;
  if (mount.group == "/") {
    below = group;
  } else if (group == mount.group || group.starts_with(mount.group + "/")) {
    below = group.substr(mount.group.size());
  }
  if (below.find("/..") != std::string::npos) below.clear();
  while (!below.empty() && below.back() == '/') below.pop_back();
  while (!below.empty()) {
    folders.push_back(root + mount.point + below);
    below.resize(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
  }
  folders.push_back(root + mount.point);
}

/// CPUs that one folder allows, 0: no limit.
double folder_quota(const std::string& folder) {
  int64_t quota = 0, period = 0;
  std::string v2 = slurp(folder + "/cpu.max");
  if (!v2.empty()) {
    std::vector<std::string> words = split(v2, ' ');
    if (words.size() < 2 || !parse(words[0], quota) || !parse(words[1], period)) return 0;
  } else if (!parse(slurp(folder + "/cpu.cfs_quota_us"), quota) ||
             !parse(slurp(folder + "/cpu.cfs_period_us"), period)) {
    return 0;
  }
  return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : 0;
}

}  // namespace

std::vector<std::string> cgroup_folders(const std::string& controller, const std::string& root) {
  std::string mountinfo = slurp(root + "/proc/self/mountinfo");
  std::vector<std::string> v1, v2;
  for (const std::string& line : split(slurp(root + "/proc/self/cgroup"), '\n')) {
    // "4:cpu,cpuacct:/docker/1f", v2: "0::/user.slice"
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    Mount mount;
    if (controllers.empty()) {
      if (find_mount(mountinfo, "", mount)) append_chain(root, mount, group, v2);
    } else if (has(split(controllers, ','), controller)) {
      if (find_mount(mountinfo, controller, mount)) append_chain(root, mount, group, v1);
    }
  }
  v1.insert(v1.end(), v2.begin(), v2.end());
  return v1;
}

double cgroup_cpu_quota(const std::string& root) {
  double least = 0;
  for (const std::string& folder : cgroup_folders("cpu", root)) {
    double quota = folder_quota(folder);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

int64_t cgroup_memory_limit(const std::string& root) {
  // v1 says "no limit" as the largest multiple of a page below 2^63.
  constexpr int64_t kNone = int64_t{1} << 60;
  int64_t least = 0;
  for (const std::string& folder : cgroup_folders("memory", root)) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
      int64_t bytes = 0;
      if (!parse(slurp(folder + file), bytes) || bytes <= 0 || bytes >= kNone) continue;
      if (least == 0 || bytes < least) least = bytes;
    }
  }
  return least;
}

int64_t available_memory(const std::string& root) {
  int64_t available = 0;
  for (const std::string& line : split(slurp(root + "/proc/meminfo"), '\n')) {
    if (!line.starts_with("MemAvailable:")) continue;
    const size_t digits = line.find_first_of("0123456789");
    if (digits == line.npos) break;
    const std::string number = line.substr(digits, line.find(' ', digits) - digits);
    if (parse(number, available)) available *= 1024;
  }
  const int64_t limit = cgroup_memory_limit(root);
  return limit > 0 && (available == 0 || limit < available) ? limit : available;
}

Throttling cgroup_throttling(const std::string& root) {
  Throttling sum;
  for (const std::string& folder : cgroup_folders("cpu", root)) {
    for (const std::string& line : split(slurp(folder + "/cpu.stat"), '\n')) {
      std::vector<std::string> words = split(line, ' ');
      int64_t value = 0;
      if (words.size() != 2 || !parse(words[1], value)) continue;
      if (words[0] == "nr_throttled") {
        sum.known = true;
        sum.count += value;
      } else if (words[0] == "throttled_usec") {  // v2
        sum.ns += value * 1000;
      } else if (words[0] == "throttled_time") {  // v1, nanoseconds
        sum.ns += value;
      }
    }
  }
  return sum;
}

}  // namespace hasten
