#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace hasten {
namespace {

TEST(ThreadPool, CoversEveryItemOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000}) {
      for (int64_t grain : {0, 1, 3, 16, 5000}) {
        std::vector<int> hits(static_cast<size_t>(count), 0);
        pool.parallel(count, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
        });
        for (int hit : hits) ASSERT_EQ(hit, 1) << count << " by " << grain;
      }
    }
  }
}

TEST(ThreadPool, RangesAreWholeGrains) {
  ThreadPool pool(3);
  std::atomic<int> ragged{0};
  pool.parallel(1003, 16, [&](int64_t begin, int64_t end) {
    if (begin % 16 != 0 || (end % 16 != 0 && end != 1003)) ++ragged;
  });
  EXPECT_EQ(ragged, 0);
}

TEST(ThreadPool, ManySmallJobsInARow) {
  // Late wake-ups meet the next job: each job has its own counter, none may leak into another.
  ThreadPool pool(4);
  for (int job = 0; job < 20000; ++job) {
    std::atomic<int64_t> sum{0};
    int64_t count = 1 + job % 40;
    pool.parallel(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum.fetch_add(i + job, std::memory_order_relaxed);
    });
    ASSERT_EQ(sum, count * (count - 1) / 2 + count * job);
  }
}

TEST(ThreadPool, ResultsAreVisibleToTheCallerWithoutAtomics) {
  ThreadPool pool(2);
  std::vector<int64_t> data(4096, 0);
  for (int round = 0; round < 200; ++round) {
    pool.parallel(4096, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) data[static_cast<size_t>(i)] += i;
    });
  }
  EXPECT_EQ(std::accumulate(data.begin(), data.end(), int64_t{0}), int64_t{200} * 4095 * 4096 / 2);
}

TEST(ThreadPool, NestedAndConcurrentCallersDoTheirWorkAlone) {
  ThreadPool pool(2);
  std::atomic<int> inner{0};
  auto use = [&] {
    for (int i = 0; i < 200; ++i) {
      pool.parallel(8, 1, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
          pool.parallel(4, 1, [&](int64_t b, int64_t e) { inner += static_cast<int>(e - b); });
        }
      });
    }
  };
  std::thread other(use);
  use();
  other.join();
  EXPECT_EQ(inner, 2 * 200 * 8 * 4);
}

TEST(ThreadPool, WorkersReallyHelp) {
  // The first chunk doesn't end before another one began: needs a second thread.
  ThreadPool pool(2);
  std::atomic<int> begun{0};
  pool.parallel(8, 1, [&](int64_t, int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 8);
}

TEST(ThreadPool, WakesUpAfterSleep) {
  ThreadPool pool(4);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // far beyond the spin: all asleep
    std::atomic<int> begun{0};
    pool.parallel(4, 1, [&](int64_t, int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 4);
  }
}

TEST(ThreadPool, IdlePoolBurnsNothing) {
  ThreadPool pool(4);
  pool.parallel(100, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int64_t before = process_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  // Three spinning workers would burn up to 300 ms; asleep they burn none.
  EXPECT_LT(process_cpu_ns() - before, 20'000'000);
}

}  // namespace
}  // namespace hasten
