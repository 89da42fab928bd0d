// Rows by index. An index outside its axis is reported and nothing is read for it.
#include "engine/kernels/elements.h"
#include "engine/kernels/kernels.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

HASTEN_INLINE int64_t index_at(const void* indices, int64_t i64, int64_t i) {
  return i64 ? static_cast<const int64_t*>(indices)[i] : static_cast<const int32_t*>(indices)[i];
}

/// From the front, or -1 after reporting item i.
HASTEN_INLINE int64_t checked(int64_t index, int64_t rows, int64_t i, int64_t* bad) {
  if (index < 0) index += rows;
  if (index >= 0 && index < rows) return index;
  if (*bad == 0) *bad = i + 1;
  return -1;
}

}  // namespace

void gather(const GatherArgs* a, int64_t begin, int64_t end) {
  with_size(a->row_bytes, [&](auto size) {
    constexpr int64_t kSize = decltype(size)::value;
    int64_t outer = begin / a->count, at = begin % a->count;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = checked(index_at(a->indices, a->indices_i64, at), a->rows, at, a->bad);
      if (row >= 0) {
        move_element<kSize>(a->out + i * a->row_bytes,
                            a->in + (outer * a->rows + row) * a->row_bytes, a->row_bytes);
      }
      if (++at == a->count) {
        at = 0;
        ++outer;
      }
    }
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
