#include <gtest/gtest.h>

#include <random>

#include "engine/plan/plan.h"

namespace hasten {
namespace {

bool overlap(const Storage& a, const Storage& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  if (a.last < b.first || b.last < a.first) return false;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(PlaceStorages, NoTwoLiveOnesOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Storage> storages(1 + random() % 60);
    int64_t sum = 0;
    for (Storage& s : storages) {
      s.bytes = static_cast<int64_t>(random() % 5000);
      s.first = static_cast<int>(random() % 40);
      s.last = s.first + static_cast<int>(random() % 10);
      sum += (s.bytes + 63) / 64 * 64;
    }
    const int64_t total = place_storages(storages);
    EXPECT_LE(total, sum);
    for (size_t i = 0; i < storages.size(); ++i) {
      EXPECT_EQ(storages[i].offset % 64, 0);
      EXPECT_LE(storages[i].offset + storages[i].bytes, total);
      for (size_t k = 0; k < i; ++k) EXPECT_FALSE(overlap(storages[i], storages[k]));
    }
  }
}

TEST(PlaceStorages, AChainTakesTwoBuffers) {
  std::vector<Storage> storages;
  for (int i = 0; i < 10; ++i) storages.push_back({1024, i, i + 1, 0});
  EXPECT_EQ(place_storages(storages), 2048);
}

}  // namespace
}  // namespace hasten
