// Strided copies: Concat, Slice, Split, Expand, Tile, and transposes that keep runs together.
#include "engine/kernels/copy_args.h"
#include "engine/kernels/elements.h"

namespace hasten {
namespace HASTEN_NS {

void copy(const CopyArgs* a, int64_t begin, int64_t end) {
  const int64_t last = a->rank - 1;
  const int64_t in_step = a->in_strides[last], out_step = a->out_strides[last];
  int64_t at[kMaxCopyRank];
  const char* in = a->in;
  char* out = a->out;
  int64_t rest = begin;
  for (int64_t d = last; d >= 0; --d) {
    at[d] = rest % a->dims[d];
    rest /= a->dims[d];
    in += at[d] * a->in_strides[d];
    out += at[d] * a->out_strides[d];
  }
  with_size(a->size, [&](auto size) {
    constexpr int64_t kSize = decltype(size)::value;
    for (int64_t i = begin; i < end;) {
      const int64_t left = a->dims[last] - at[last];
      const int64_t n = left < end - i ? left : end - i;
      move_run<kSize>(out, out_step, in, in_step, n, a->size);
      i += n;
      // To the start of the next run.
      in -= at[last] * in_step;
      out -= at[last] * out_step;
      at[last] = 0;
      for (int64_t d = last; d-- > 0;) {
        in += a->in_strides[d];
        out += a->out_strides[d];
        if (++at[d] < a->dims[d]) break;
        in -= at[d] * a->in_strides[d];
        out -= at[d] * a->out_strides[d];
        at[d] = 0;
      }
    }
  });
}

namespace {

/// One row of the map: the runs of its last dimension.
template <int64_t N>
void map_row(const MapArgs* a, const char* in, char* out) {
  const int64_t* table = a->tables[a->rank - 1];
  const int64_t size = N == 0 ? a->size : N;
  for (int64_t r = 0; r < a->run_count; ++r) {
    const MapRun& run = a->runs[r];
    char* to = out + run.begin * size;
    if (run.kind == 3) {
      for (int64_t i = 0; i < run.count; ++i) {
        move_element<N>(to + i * size, in + table[run.begin + i], size);
      }
    } else {
      const char* from = run.kind == 1 ? a->fill : in + run.offset;
      move_run<N>(to, size, from, run.kind == 0 ? size : 0, run.count, size);
    }
  }
}

}  // namespace

void map_axes(const MapArgs* a, int64_t begin, int64_t end) {
  const int64_t last = a->rank - 1;
  const int64_t row_bytes = a->dims[last] * a->size;
  with_size(a->size, [&](auto size) {
    constexpr int64_t kSize = decltype(size)::value;
    int64_t before = kMapFill;  // source of the row above
    for (int64_t row = begin; row < end; ++row) {
      char* out = a->out + row * row_bytes;
      int64_t source = 0, rest = row;
      for (int64_t d = last; d-- > 0;) {
        const int64_t step = a->tables[d][rest % a->dims[d]];
        rest /= a->dims[d];
        source = step == kMapFill || source == kMapFill ? kMapFill : source + step;
      }
      if (source == kMapFill) {
        move_run<kSize>(out, a->size, a->fill, 0, a->dims[last], a->size);
      } else if (source == before) {
        memcpy(out, out - row_bytes, static_cast<size_t>(row_bytes));
      } else {
        map_row<kSize>(a, a->in + source, out);
      }
      before = source;
    }
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
