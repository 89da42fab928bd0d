// Fork-join over a small team of threads.
#pragma once

#include <cstdint>
#include <memory>

namespace hasten {

/// What workers do while they have no job: look for the next one for some microseconds and then
/// sleep, look for ever (a core each, for comparisons), or sleep at once.
enum class Spin { kBounded, kAlways, kNever };

/// Splits ranges over a team. One caller at a time per pool; the caller takes part in the work and
/// also takes what a worker that the system has not scheduled would have taken. An idle pool burns
/// nothing, but for Spin::kAlways.
class ThreadPool {
 public:
  /// `threads` counts the caller; 1 means no worker at all.
  explicit ThreadPool(int threads, Spin spin = Spin::kBounded);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// How long a worker takes to answer a call, in nanoseconds: 40 where cores share a cache, 250
  /// where they don't, 500 where somebody else has its core. Found anew between series, as a
  /// virtual machine's cores move under it.
  double distance_ns() const;

  /// Jobs of one caller in close succession: a run of a model. While as many are under way as the
  /// team has members, each caller does its jobs alone: more threads would only take turns on the
  /// same cores.
  class Series {
   public:
    /// Wakes sleeping workers ahead of the first job if that is likely to pay: if the series has at
    /// least some 100 us of `work_ns` (what is to be shared, on one thread), or any and follows
    /// closely upon another. Else nobody is woken, and who sleeps is left out. `pool` may be null.
    Series(ThreadPool* pool, double work_ns);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;

   private:
    ThreadPool* pool_;
  };

  /// Calls body(context, begin, end) over disjoint ranges that cover [0, count), each at least
  /// `grain` long (but for the last). Returns when all are done. `body` must not throw.
  using Body = void (*)(void* context, int64_t begin, int64_t end);
  void run(int64_t count, int64_t grain, Body body, void* context);

  template <class F>
  void parallel(int64_t count, int64_t grain, const F& f) {
    run(
        count, grain,
        [](void* context, int64_t begin, int64_t end) {
          (*static_cast<const F*>(context))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hasten
