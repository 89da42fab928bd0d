#include "measure/idle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hasten {
namespace {

TEST(WaitUntilIdle, SeesThreadsThatSpin) {
  std::atomic<bool> stop{false}, begun{false};
  std::thread spinner([&] {
    begun = true;
    while (!stop) {
    }
  });
  while (!begun) std::this_thread::yield();
  EXPECT_FALSE(wait_until_idle(5));
  stop = true;
  spinner.join();
  EXPECT_TRUE(wait_until_idle(5000));
}

TEST(WaitUntilIdle, SleepersAreIdle) {
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return stop; });
  });
  EXPECT_TRUE(wait_until_idle(5000));
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  wake.notify_one();
  sleeper.join();
}

}  // namespace
}  // namespace hasten
