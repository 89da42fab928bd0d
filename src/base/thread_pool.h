// Fork-join over a small team of threads.
#pragma once

#include <cstdint>
#include <memory>

namespace hasten {

/// Splits ranges over a team. One caller at a time per pool; the caller takes part in the work and
/// also takes what a worker that the system has not scheduled would have taken.
/// Workers spin for a bounded time after a job, then sleep: an idle pool burns nothing.
class ThreadPool {
 public:
  /// `threads` counts the caller; 1 means no worker at all.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

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
