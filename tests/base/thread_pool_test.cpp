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

/// CPU time of the process while this thread sleeps.
int64_t idle_cpu_ns(int milliseconds) {
  const int64_t before = process_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return process_cpu_ns() - before;
}

TEST(ThreadPool, IdlePoolBurnsNothing) {
  for (Spin spin : {Spin::kBounded, Spin::kNever}) {
    ThreadPool pool(4, spin);
    pool.parallel(100, 1, [](int64_t, int64_t) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // Three spinning workers would burn up to 1,500 ms; asleep they burn none.
    EXPECT_LT(idle_cpu_ns(500), 20'000'000);
  }
}

TEST(ThreadPool, AlwaysSpinningPoolBurnsAndEnds) {
  ThreadPool pool(2, Spin::kAlways);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GT(idle_cpu_ns(300), 3'000'000);  // of 300 ms, if others leave it anything
}

/// How many pieces a job of eight items is done in: one where its caller does it alone.
int pieces(ThreadPool& pool) {
  std::atomic<int> calls{0};
  pool.parallel(8, 1, [&](int64_t, int64_t) { ++calls; });
  return calls;
}

TEST(ThreadPool, AsManySeriesAsMembersWorkAlone) {
  ThreadPool pool(2);
  const ThreadPool::Series one(&pool, 1e9);
  EXPECT_EQ(pieces(pool), 8);
  {
    const ThreadPool::Series two(&pool, 1e9);
    EXPECT_EQ(pieces(pool), 1);
  }
  EXPECT_EQ(pieces(pool), 1) << "the second may be back at once";
}

TEST(ThreadPool, SeriesAreSharedAgainOnceOthersAreGone) {
  ThreadPool pool(2);
  {
    const ThreadPool::Series one(&pool, 1e9), two(&pool, 1e9);
    EXPECT_EQ(pieces(pool), 1);
  }
  EXPECT_EQ(pieces(pool), 8) << "jobs outside of a series are shared";
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const ThreadPool::Series one(&pool, 1e9);
  EXPECT_EQ(pieces(pool), 8);
}

TEST(ThreadPool, AShortSeriesAfterAPauseWakesNobody) {
  ThreadPool pool(3);
  // More than one attempt, as the workers may have had no CPU on which to fall asleep.
  int least = 8;
  for (int attempt = 0; attempt < 100 && least > 1; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const ThreadPool::Series series(&pool, 10'000);
    least = std::min(least, pieces(pool));
  }
  EXPECT_EQ(least, 1);
  EXPECT_EQ(pieces(pool), 8) << "jobs outside of a series are shared";
}

TEST(ThreadPool, ALongSeriesOrACloseOneWakesWorkers) {
  ThreadPool pool(2);
  const auto needs_two = [&pool] {
    std::atomic<int> begun{0};
    pool.parallel(8, 1, [&](int64_t, int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    return begun.load();
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    const ThreadPool::Series series(&pool, 1e6);
    EXPECT_EQ(needs_two(), 8);
  }
  // Short ones in close succession: sooner or later one follows within microseconds.
  int most = 0;
  for (int i = 0; i < 100'000 && most < 8; ++i) {
    const ThreadPool::Series series(&pool, 1000);
    most = std::max(most, pieces(pool));
  }
  EXPECT_EQ(most, 8);
}

TEST(ThreadPool, TheDistanceIsMeasuredBetweenSeries) {
  ThreadPool pool(2);
  const double guess = pool.distance_ns();
  // Of a worker that is awake: as it is after a job, if it gets a core.
  for (int i = 0; i < 1000 && pool.distance_ns() == guess; ++i) {
    const ThreadPool::Series series(&pool, 1e9);
    EXPECT_GE(pieces(pool), 1);
  }
  EXPECT_NE(pool.distance_ns(), guess);
  EXPECT_GT(pool.distance_ns(), 0);
  EXPECT_LE(pool.distance_ns(), 500);
  EXPECT_GE(ThreadPool(2, Spin::kNever).distance_ns(), 5000) << "who sleeps at once is far away";
}

TEST(ThreadPool, SeriesOfNoPool) {
  const ThreadPool::Series series(nullptr, 1e9);
  ThreadPool one(1);
  const ThreadPool::Series alone(&one, 1e9);
  EXPECT_EQ(pieces(one), 1);
}

TEST(ThreadPool, MoreThreadsThanCpusStillDoEveryItemOnce) {
  // Workers lose their CPU in the middle of a chunk, or before their first.
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    others.emplace_back([&stop] {
      while (!stop) {
      }
    });
  }
  for (Spin spin : {Spin::kBounded, Spin::kNever}) {
    ThreadPool pool(8, spin);
    for (int job = 0; job < 200; ++job) {
      const ThreadPool::Series series(&pool, job % 2 ? 1e9 : 0);
      std::vector<int> hits(100, 0);
      pool.parallel(100, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
      });
      for (int hit : hits) ASSERT_EQ(hit, 1) << "job " << job;
    }
  }
  stop = true;
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace hasten
