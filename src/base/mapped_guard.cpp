#include "base/mapped_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace hasten {

/// Read by the signal handler, so: a list that only grows, whose entries are used again.
struct MappedGuard::Range {
  std::atomic<uintptr_t> begin{0}, end{0};  // end 0: free
  std::atomic<bool> lost{false};
  Range* next = nullptr;
};

namespace {

using Range = MappedGuard::Range;

// Signal handlers can reach nothing else.
std::atomic<Range*> g_ranges{nullptr};
std::mutex g_mutex;  // of whoever adds or frees one
struct sigaction g_before;

/// Only what is safe in a signal handler: atomics, and the system call mmap.
void on_sigbus(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Range* r = g_ranges.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    const uintptr_t begin = r->begin.load(), end = r->end.load();
    if (at < begin || at >= end) continue;
    r->lost.store(true);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t from = at / page * page;
    // What lies behind is gone too.
    void* zeros = mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros != MAP_FAILED) return;
  }
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else {
    sigaction(SIGBUS, &g_before, nullptr);  // the access is tried again, and ends as it always did
  }
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &g_before);
  });
}

}  // namespace

MappedGuard::MappedGuard(const void* data, size_t size) {
  if (size == 0) return;
  install();
  const std::lock_guard lock(g_mutex);
  Range* range = g_ranges.load();
  while (range != nullptr && range->end.load() != 0) range = range->next;
  if (range == nullptr) {
    range = new Range;
    range->next = g_ranges.load();
    g_ranges.store(range, std::memory_order_release);
  }
  range->lost = false;
  range->begin = reinterpret_cast<uintptr_t>(data);
  range->end = reinterpret_cast<uintptr_t>(data) + size;
  range_ = range;
}

MappedGuard::MappedGuard(MappedGuard&& other) noexcept { *this = std::move(other); }

MappedGuard& MappedGuard::operator=(MappedGuard&& other) noexcept {
  std::swap(range_, other.range_);
  return *this;
}

MappedGuard::~MappedGuard() {
  if (range_ == nullptr) return;
  const std::lock_guard lock(g_mutex);
  range_->end = 0;
}

bool MappedGuard::intact() const {
  return range_ == nullptr || !range_->lost.load(std::memory_order_relaxed);
}

}  // namespace hasten
