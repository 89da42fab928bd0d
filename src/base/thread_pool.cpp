#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"

// How it works. A job is cut into chunks, dealt out evenly to one lane per member of the team; a
// member empties its own lane first (the same member meets the same part of a tensor in step after
// step, in its own cache) and then takes from the others, so nobody waits for a worker that the
// system has not scheduled.
//
// Of a lane's chunks only how many are left is counted. Taking one is a decrement that found a
// positive count. Whoever succeeds holds a chunk of the *current* job, however long ago it looked
// last: the job can't end before that chunk is reported done, so what the lane says of the job is
// stable, and was published by the store that filled the lane. Nothing is allocated, no member need
// ever have "joined" a job.
//
// What costs is a cache line that travels between cores (up to 300 ns there and back). So a lane is
// one line with all that its worker needs to know; the caller begins with a chunk that is in no
// lane, since an atomic decrement would wait until the lines that it has just written arrived; and
// each member counts what it did where only it writes.

namespace hasten {
namespace {

constexpr int64_t kSpinNs = 50'000;  // longer than the gap between steps, far below a time slice
// Waking a worker costs its caller some microseconds, and on a virtual machine the worker arrives
// 25 to 75 us later: it has to find enough left to do.
constexpr double kWorthWakingNs = 100'000;

// Callers that run models at the same time pause between their runs: for so long they count as
// being at it still.
constexpr int64_t kCalmNs = 1'000'000;

constexpr int64_t kMeasureEveryNs = 20'000'000;  // the distance; measuring takes a microsecond
constexpr int64_t kProbeEveryNs = 50'000'000;    // while nobody is woken for work
constexpr int64_t kPatienceNs = 5000;            // longer: somebody else has the worker's core
constexpr int64_t kNoAnswerNs = 500;             // then: long steps are worth a try even so
constexpr int64_t kLoopNs = 40;                  // of an answer: the loops that wait for it
constexpr double kFirstGuessNs = 100, kAsleepNs = 10'000;
constexpr int kChunksPerMember = 4;  // enough to level out members of unequal speed

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int64_t spin_ns(Spin spin) {
  if (spin == Spin::kNever) return 0;
  return spin == Spin::kAlways ? INT64_MAX / 2 : kSpinNs;
}

/// Spins until `ready` or the time is over.
template <class F>
bool spin_until(const F& ready, int64_t most_ns) {
  if (most_ns == 0) return ready();
  int64_t end = 0;
  while (true) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      relax();
    }
    int64_t now = now_ns();
    if (end == 0) end = now + most_ns;
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
  struct alignas(64) Lane {
    std::atomic<int64_t> left{0};  // chunks not taken; may fall below zero
    // The job; written by the caller only while all lanes are empty and all chunks are done.
    int64_t end = 0;  // index after the lane's last chunk
    int64_t chunk = 0, count = 0;
    Body body = nullptr;
    void* context = nullptr;

    std::atomic<int64_t> done{0};   // chunks that this member did, of any lane, of all jobs
    std::atomic<uint32_t> jobs{0};  // calls of the lane's worker; its futex
    std::atomic<uint32_t> seen{0};  // the last one that it noticed
    alignas(64) std::atomic<bool> asleep{false};
  };

  std::vector<Lane> lanes;  // the caller's first
  int64_t all_done = 0;     // what the workers' counts come to once the current job is done
  alignas(64) std::atomic<uint32_t> caller_sleeps{0};
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false};
  std::vector<std::thread> workers;
  int64_t spin_ns = kSpinNs;

  std::atomic<int> series{0};        // under way
  std::atomic<int64_t> last_end{0};  // of a series, now_ns()
  // As the series that began last says.
  std::atomic<bool> may_share{true}, may_wake{true};
  std::atomic<int64_t> crowded{INT64_MIN / 2};  // when as many were under way as there are members

  std::atomic<int> avoided_cpu{-1};
  std::atomic<double> distance_ns{kFirstGuessNs};
  std::atomic<int64_t> measured{0};  // when, now_ns()

  /// Does chunks of a lane until it has none. Returns how many.
  int64_t empty(Lane& lane) {
    int64_t done = 0;
    while (lane.left.load(std::memory_order_relaxed) > 0) {
      const int64_t left = lane.left.fetch_sub(1, std::memory_order_acquire);
      if (left <= 0) break;
      const int64_t begin = (lane.end - left) * lane.chunk;
      lane.body(lane.context, begin, std::min(begin + lane.chunk, lane.count));
      ++done;
    }
    return done;
  }

  void report(Lane& lane, int64_t done) {
    if (done == 0) return;
    // Paired with the caller's "say that I sleep, then count again": one of us sees the other.
    lane.done.store(lane.done.load(std::memory_order_relaxed) + done, std::memory_order_seq_cst);
    if (caller_sleeps.load(std::memory_order_seq_cst) == 1) {
      caller_sleeps.store(0, std::memory_order_relaxed);
      futex_wake(caller_sleeps, 1);
    }
  }

  void worker(size_t self) {
    Lane& lane = lanes[self];
    uint32_t seen = 0;
    while (true) {
      auto changed = [&] { return lane.jobs.load(std::memory_order_acquire) != seen; };
      if (!spin_until(changed, spin_ns)) {
        lane.asleep.store(true, std::memory_order_seq_cst);
        sleepers.fetch_add(1, std::memory_order_relaxed);
        while (lane.jobs.load(std::memory_order_seq_cst) == seen) futex_wait(lane.jobs, seen);
        sleepers.fetch_sub(1, std::memory_order_relaxed);
        lane.asleep.store(false, std::memory_order_relaxed);
      }
      seen = lane.jobs.load(std::memory_order_acquire);
      lane.seen.store(seen, std::memory_order_release);
      if (stop.load(std::memory_order_acquire)) return;
      report(lane, empty(lane));
      int64_t taken = 0;
      for (size_t i = 1; i < lanes.size(); ++i) taken += empty(lanes[(self + i) % lanes.size()]);
      report(lane, taken);
    }
  }

  /// Makes a worker look. One that falls asleep at this very moment may miss it, as no fence keeps
  /// the load behind the store: then the others do its work, and the next call wakes it.
  void call(Lane& lane) {
    lane.jobs.store(lane.jobs.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (lane.asleep.load(std::memory_order_relaxed)) futex_wake(lane.jobs, 1);
  }

  /// Keeps the workers off the CPU that the calling thread is on: where no CPU is idle, Linux would
  /// wake them right there, in its way.
  void keep_apart() {
    const int cpu = sched_getcpu();
    if (cpu < 0 || cpu == avoided_cpu) return;
    cpu_set_t mask;  // the caller's, which may have changed
    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_COUNT(&mask) < 2) return;
    CPU_CLR(static_cast<size_t>(cpu), &mask);
    for (std::thread& worker : workers) {
      pthread_setaffinity_np(worker.native_handle(), sizeof mask, &mask);
    }
    avoided_cpu = cpu;
  }

  /// Calls all workers without a job, and waits for their answers; a few times in a row, as the
  /// clock takes as long. The best of two such rows.
  void measure_distance() {
    constexpr int kRows = 2, kCalls = 4;
    const auto answered = [&] {
      for (size_t i = 1; i <= workers.size(); ++i) {
        const uint32_t last = lanes[i].jobs.load(std::memory_order_relaxed);
        if (lanes[i].seen.load(std::memory_order_acquire) != last) return false;
      }
      return true;
    };
    int64_t least = kNoAnswerNs;
    for (int row = 0; row < kRows; ++row) {
      const int64_t begin = now_ns();
      bool all = true;
      for (int i = 0; i < kCalls && all; ++i) {
        for (size_t k = 1; k <= workers.size(); ++k) call(lanes[k]);
        all = spin_until(answered, kPatienceNs);
      }
      if (!all) continue;
      least = std::min(least, std::max<int64_t>((now_ns() - begin) / kCalls - kLoopNs, 1));
    }
    distance_ns.store(static_cast<double>(least), std::memory_order_relaxed);
  }

  /// Would a job of this moment be done by its caller in any case?
  bool alone() const {
    const int helpers = static_cast<int>(workers.size());
    if (series.load(std::memory_order_relaxed) > helpers) return true;
    if (!may_share.load(std::memory_order_relaxed)) return true;
    return !may_wake.load(std::memory_order_relaxed) &&
           sleepers.load(std::memory_order_relaxed) == helpers;
  }

  bool done() const {
    int64_t sum = 0;
    for (size_t i = 1; i < lanes.size(); ++i) sum += lanes[i].done.load(std::memory_order_seq_cst);
    return sum == all_done;
  }

  void wait_done() {
    while (!spin_until([&] { return done(); }, spin_ns)) {
      caller_sleeps.store(1, std::memory_order_seq_cst);
      if (!done()) futex_wait(caller_sleeps, 1);
      caller_sleeps.store(0, std::memory_order_relaxed);
    }
  }
};

ThreadPool::ThreadPool(int threads, Spin spin)
    : threads_(std::max(threads, 1)), impl_(std::make_unique<Impl>()) {
  if (threads_ == 1) return;
  impl_->spin_ns = spin_ns(spin);
  if (spin == Spin::kNever) impl_->distance_ns = kAsleepNs;
  impl_->lanes = std::vector<Impl::Lane>(static_cast<size_t>(threads_));
  // Signals belong to the threads of the program, not to ours.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 1; i < threads_; ++i) {
    try {
      impl_->workers.emplace_back(
          [impl = impl_.get(), i] { impl->worker(static_cast<size_t>(i)); });
    } catch (const std::system_error&) {
      break;  // the system's limit of threads: fewer do the same work, their lanes are emptied too
    }
    pthread_setname_np(impl_->workers.back().native_handle(), "hasten-pool");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  threads_ = static_cast<int>(impl_->workers.size()) + 1;
}

ThreadPool::~ThreadPool() {
  impl_->stop.store(true, std::memory_order_release);
  for (size_t i = 1; i < impl_->lanes.size(); ++i) {
    impl_->lanes[i].jobs.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(impl_->lanes[i].jobs, 1);
  }
  for (std::thread& worker : impl_->workers) worker.join();
}

ThreadPool::Series::Series(ThreadPool* pool, double work_ns)
    : pool_(pool != nullptr && pool->threads_ > 1 ? pool : nullptr) {
  if (pool_ == nullptr) return;
  Impl& impl = *pool_->impl_;
  const int64_t now = now_ns();
  if (impl.series.fetch_add(1, std::memory_order_relaxed) + 1 >= pool_->threads_) {
    impl.crowded.store(now, std::memory_order_relaxed);
  }
  const bool calm = now - impl.crowded.load(std::memory_order_relaxed) > kCalmNs;
  impl.may_share.store(calm, std::memory_order_relaxed);
  const bool close = now - impl.last_end.load(std::memory_order_relaxed) < kSpinNs;
  const bool probe = now - impl.measured.load(std::memory_order_relaxed) > kProbeEveryNs;
  const bool wake = calm && ((close && (work_ns > 0 || probe)) || work_ns >= kWorthWakingNs);
  impl.may_wake.store(wake, std::memory_order_relaxed);
  if (!wake || impl.sleepers.load(std::memory_order_relaxed) == 0) return;
  impl.keep_apart();
  for (size_t i = 1; i < impl.lanes.size(); ++i) {
    if (impl.lanes[i].asleep.load(std::memory_order_relaxed)) impl.call(impl.lanes[i]);
  }
}

ThreadPool::Series::~Series() {
  if (pool_ == nullptr) return;
  Impl& impl = *pool_->impl_;
  const int64_t now = now_ns();
  impl.last_end.store(now, std::memory_order_relaxed);
  if (now - impl.measured.load(std::memory_order_relaxed) > kMeasureEveryNs &&
      impl.sleepers.load(std::memory_order_relaxed) == 0 &&
      !impl.busy.exchange(true, std::memory_order_acquire)) {
    impl.measured.store(now, std::memory_order_relaxed);
    impl.measure_distance();
    impl.busy.store(false, std::memory_order_release);
  }
  if (impl.series.fetch_sub(1, std::memory_order_relaxed) == 1) {
    impl.may_share.store(true, std::memory_order_relaxed);
    impl.may_wake.store(true, std::memory_order_relaxed);
  }
}

double ThreadPool::distance_ns() const {
  return impl_->distance_ns.load(std::memory_order_relaxed);
}

void ThreadPool::run(int64_t count, int64_t grain, Body body, void* context) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  Impl& pool = *impl_;
  // A second caller, or a body that calls run itself, does its work alone.
  if (threads_ == 1 || count <= grain || pool.alone() ||
      pool.busy.exchange(true, std::memory_order_acquire)) {
    body(context, 0, count);
    return;
  }

  // Whole grains, so that only the last chunk is ragged.
  const int64_t grains = (count + grain - 1) / grain;
  const auto members = static_cast<int64_t>(pool.lanes.size());
  const int64_t per_chunk =
      (grains + members * kChunksPerMember - 1) / (members * kChunksPerMember);
  const int64_t chunk = per_chunk * grain;
  const int64_t chunks = (grains + per_chunk - 1) / per_chunk;
  int64_t begin = 1;  // the first one is in no lane
  for (int64_t i = 0; i < members; ++i) {
    Impl::Lane& lane = pool.lanes[static_cast<size_t>(i)];
    const int64_t end = (chunks * (i + 1) + members - 1) / members;
    if (end <= begin) continue;
    lane.end = end;
    lane.chunk = chunk;
    lane.count = count;
    lane.body = body;
    lane.context = context;
    lane.left.store(end - begin, std::memory_order_release);
    if (i > 0) pool.call(lane);
    begin = end;
  }
  body(context, 0, chunk);
  int64_t done = 1;
  for (Impl::Lane& lane : pool.lanes) done += pool.empty(lane);
  pool.all_done += chunks - done;
  pool.wait_done();
  pool.busy.store(false, std::memory_order_release);
}

}  // namespace hasten
