#include <algorithm>
#include <numeric>

#include "engine/plan/plan.h"

namespace hasten {

int64_t place_storages(std::vector<Storage>& storages) {
  std::vector<size_t> order(storages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return storages[a].bytes > storages[b].bytes; });
  std::vector<size_t> placed;  // by offset
  int64_t total = 0;
  for (size_t id : order) {
    Storage& storage = storages[id];
    const int64_t bytes = (storage.bytes + 63) / 64 * 64;
    if (bytes == 0) continue;
    int64_t offset = 0;
    for (size_t other_id : placed) {
      const Storage& other = storages[other_id];
      if (other.last < storage.first || storage.last < other.first) continue;
      if (other.offset - offset >= bytes) break;
      offset = std::max(offset, other.offset + (other.bytes + 63) / 64 * 64);
    }
    storage.offset = offset;
    total = std::max(total, offset + bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](int64_t at, size_t other) { return at < storages[other].offset; }),
        id);
  }
  return total;
}

}  // namespace hasten
