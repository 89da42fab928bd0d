// Rows by index. An index outside its axis is reported and nothing is read for it.
#include "engine/kernels/copy_args.h"
#include "engine/kernels/elements.h"

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

namespace {

/// One outer item of gather_elements or scatter_elements.
template <int64_t N, bool kScatter>
void along_axis(const AxisIndexArgs* a, int64_t outer) {
  const int64_t per_outer = a->count * a->inner;
  const char* in = a->in + outer * (kScatter ? per_outer : a->rows * a->inner) * N;
  char* out = a->out + outer * (kScatter ? a->rows * a->inner : per_outer) * N;
  for (int64_t k = 0; k < a->count; ++k) {
    for (int64_t i = 0; i < a->inner; ++i) {
      const int64_t flat = k * a->inner + i;
      const int64_t position = outer * per_outer + flat;
      const int64_t row =
          checked(index_at(a->indices, a->indices_i64, position), a->rows, position, a->bad);
      if (row < 0) continue;
      const int64_t indexed = row * a->inner + i;
      move_one<N>(out + (kScatter ? indexed : flat) * N, in + (kScatter ? flat : indexed) * N);
    }
  }
}

template <bool kScatter>
void elements(const AxisIndexArgs* a, int64_t begin, int64_t end) {
  for (int64_t outer = begin; outer < end; ++outer) {
    switch (a->size) {
      case 1:
        along_axis<1, kScatter>(a, outer);
        break;
      case 2:
        along_axis<2, kScatter>(a, outer);
        break;
      case 4:
        along_axis<4, kScatter>(a, outer);
        break;
      default:
        along_axis<8, kScatter>(a, outer);
        break;
    }
  }
}

/// Offset in bytes of tuple t, or -1 after reporting an index outside.
HASTEN_INLINE int64_t tuple_offset(const TupleIndexArgs* a, int64_t t) {
  int64_t offset = 0;
  for (int64_t d = 0; d < a->width; ++d) {
    const int64_t position = t * a->width + d;
    const int64_t at = checked(a->indices[position], a->dims[d], position, a->bad);
    if (at < 0) return -1;
    offset += at * a->strides[d];
  }
  return offset;
}

}  // namespace

void gather_elements(const AxisIndexArgs* a, int64_t begin, int64_t end) {
  elements<false>(a, begin, end);
}

void scatter_elements(const AxisIndexArgs* a, int64_t begin, int64_t end) {
  elements<true>(a, begin, end);
}

void gather_nd(const TupleIndexArgs* a, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t offset = tuple_offset(a, t);
    if (offset < 0) continue;
    memcpy(a->out + t * a->row_bytes, a->in + t / a->tuples_per_batch * a->batch_bytes + offset,
           static_cast<size_t>(a->row_bytes));
  }
}

void scatter_nd(const TupleIndexArgs* a, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t offset = tuple_offset(a, t);
    if (offset < 0) continue;
    memcpy(a->out + offset, a->in + t * a->row_bytes, static_cast<size_t>(a->row_bytes));
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
