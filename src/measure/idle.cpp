#include "measure/idle.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/clock.h"

namespace hasten {

namespace {

/// Is that thread of this process running, or ready to? Its state follows the name in parentheses.
bool runs(const char* thread) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t n = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'R';
}

/// The clock of the process would not do: time of threads on other CPUs is added at their next
/// tick, up to 10 ms later.
bool another_thread_runs() {
  DIR* threads = ::opendir("/proc/self/task");
  if (threads == nullptr) return false;
  const pid_t self = ::gettid();
  bool found = false;
  while (const dirent* entry = found ? nullptr : ::readdir(threads)) {
    if (entry->d_name[0] == '.' || std::atoi(entry->d_name) == self) continue;
    found = runs(entry->d_name);
  }
  ::closedir(threads);
  return found;
}

}  // namespace

bool wait_until_idle(double most_ms) {
  const int64_t end = now_ns() + static_cast<int64_t>(most_ms * 1e6);
  while (another_thread_runs()) {
    if (now_ns() >= end) return false;
    const timespec nap = {0, 200'000};
    nanosleep(&nap, nullptr);
  }
  return true;
}

}  // namespace hasten
