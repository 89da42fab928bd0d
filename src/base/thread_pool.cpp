#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"

// How it works. A job is cut into chunks, dealt out evenly to one queue per member of the team; a
// member empties its own queue first (the same member meets the same part of a tensor in step after
// step, in its own cache) and then takes from the others, so nobody waits for a worker that the
// system has not scheduled.
//
// A queue is nothing but the count of chunks left in it. Taking one is a decrement that found a
// positive count. Whoever succeeds holds a chunk of the *current* job, however long ago it looked
// last: the job can't end before that chunk is reported done, so the job's fields are stable and
// were published by the store that filled the queue. Nothing is allocated, no member need ever
// have "joined" a job.

namespace hasten {
namespace {

constexpr int64_t kSpinNs = 50'000;  // longer than the gap between steps, far below a time slice
constexpr int kChunksPerMember = 4;  // enough to level out members of unequal speed

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Spins until `ready` or the time is over.
template <class F>
bool spin_until(const F& ready) {
  int64_t end = 0;
  while (true) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      relax();
    }
    int64_t now = now_ns();
    if (end == 0) end = now + kSpinNs;
    if (now >= end) return ready();
  }
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr,
          nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr,
          nullptr, 0);
}

}  // namespace

struct ThreadPool::Impl {
  struct alignas(64) Queue {
    std::atomic<int64_t> left{0};  // chunks not taken; may fall below zero
    int64_t end = 0;               // index after its last chunk
  };

  // The current job; written by the caller only while all queues are empty and nothing is pending.
  Body body = nullptr;
  void* context = nullptr;
  int64_t count = 0, chunk = 0;
  std::vector<Queue> queues;

  alignas(64) std::atomic<int64_t> pending{0};  // chunks not reported done
  alignas(64) std::atomic<uint32_t> caller_sleeps{0};
  alignas(64) std::atomic<uint32_t> jobs{0};  // futex of the workers
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false};
  std::vector<std::thread> workers;

  /// Does chunks until no queue has any.
  void work(size_t self) {
    int64_t done = 0;
    for (size_t i = 0; i < queues.size(); ++i) {
      Queue& queue = queues[(self + i) % queues.size()];
      while (queue.left.load(std::memory_order_relaxed) > 0) {
        int64_t left = queue.left.fetch_sub(1, std::memory_order_acquire);
        if (left <= 0) break;
        int64_t begin = (queue.end - left) * chunk;
        body(context, begin, std::min(begin + chunk, count));
        ++done;
      }
    }
    // All chunks since the last report are of one job, as it waited for this very report.
    if (done > 0 && pending.fetch_sub(done, std::memory_order_seq_cst) == done &&
        caller_sleeps.exchange(0, std::memory_order_seq_cst) == 1) {
      futex_wake(caller_sleeps, 1);
    }
  }

  void worker(size_t self) {
    uint32_t seen = 0;
    while (true) {
      auto changed = [&] { return jobs.load(std::memory_order_acquire) != seen; };
      if (!spin_until(changed)) {
        sleepers.fetch_add(1, std::memory_order_seq_cst);
        while (jobs.load(std::memory_order_seq_cst) == seen) futex_wait(jobs, seen);
        sleepers.fetch_sub(1, std::memory_order_relaxed);
      }
      seen = jobs.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire)) return;
      work(self);
    }
  }

  void announce(int wanted) {
    // Paired with the worker's "count me as asleep, then look again": one of us sees the other.
    jobs.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) > 0) futex_wake(jobs, wanted);
  }

  void wait_done() {
    auto done = [&] { return pending.load(std::memory_order_acquire) == 0; };
    while (!spin_until(done)) {
      caller_sleeps.store(1, std::memory_order_seq_cst);
      if (pending.load(std::memory_order_seq_cst) != 0) futex_wait(caller_sleeps, 1);
      caller_sleeps.store(0, std::memory_order_relaxed);
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)), impl_(std::make_unique<Impl>()) {
  if (threads_ == 1) return;
  impl_->queues = std::vector<Impl::Queue>(static_cast<size_t>(threads_));
  // Signals belong to the threads of the program, not to ours.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 1; i < threads_; ++i) {
    try {
      impl_->workers.emplace_back(
          [impl = impl_.get(), i] { impl->worker(static_cast<size_t>(i)); });
    } catch (const std::system_error&) {
      break;  // the system's limit of threads: fewer do the same work, their queues are emptied too
    }
    pthread_setname_np(impl_->workers.back().native_handle(), "hasten-pool");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  threads_ = static_cast<int>(impl_->workers.size()) + 1;
}

ThreadPool::~ThreadPool() {
  impl_->stop.store(true, std::memory_order_release);
  impl_->announce(INT_MAX);
  for (std::thread& worker : impl_->workers) worker.join();
}

void ThreadPool::run(int64_t count, int64_t grain, Body body, void* context) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  Impl& pool = *impl_;
  // A second caller, or a body that calls run itself, does its work alone.
  if (threads_ == 1 || count <= grain || pool.busy.exchange(true, std::memory_order_acquire)) {
    body(context, 0, count);
    return;
  }

  // Whole grains, so that only the last chunk is ragged.
  int64_t grains = (count + grain - 1) / grain;
  int64_t members = static_cast<int64_t>(pool.queues.size());
  int64_t per_chunk = (grains + members * kChunksPerMember - 1) / (members * kChunksPerMember);
  pool.chunk = per_chunk * grain;
  pool.count = count;
  pool.body = body;
  pool.context = context;
  int64_t chunks = (grains + per_chunk - 1) / per_chunk;
  pool.pending.store(chunks, std::memory_order_relaxed);
  int64_t begin = 0;
  for (int64_t i = 0; i < members; ++i) {
    Impl::Queue& queue = pool.queues[static_cast<size_t>(i)];
    int64_t end = chunks * (i + 1) / members;
    queue.end = end;
    queue.left.store(end - begin, std::memory_order_release);
    begin = end;
  }
  pool.announce(static_cast<int>(std::min(chunks - 1, members - 1)));
  pool.work(0);
  pool.wait_done();
  pool.busy.store(false, std::memory_order_release);
}

}  // namespace hasten
