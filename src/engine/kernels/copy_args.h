// Arguments of kernels that only move elements: by strides, by tables, by indices.
#pragma once

#include <stdint.h>

namespace hasten {

/// Copies a block of elements from one strided place to another; the caller has merged what can be
/// merged. copy: items are elements in row-major order. transpose: in_strides[rank - 2] and
/// out_strides[rank - 1] are `size`; items are transpose_items() tiles.
constexpr int kMaxCopyRank = 8;
struct CopyArgs {
  const char* in;
  char* out;
  int64_t size;  // bytes of an element: any number; for transpose 1, 2, 4 or 8
  int64_t rank;  // >= 1; for transpose >= 2
  int64_t dims[kMaxCopyRank];
  int64_t in_strides[kMaxCopyRank], out_strides[kMaxCopyRank];  // bytes, of any sign
};
/// A tile of transpose: one cache line of rows, and as many columns as to make a step worth it.
constexpr int64_t kTransposeLine = 64, kTransposeColumns = 256;
inline int64_t transpose_items(const CopyArgs* a) {
  int64_t n = 1;
  for (int64_t d = 0; d + 2 < a->rank; ++d) n *= a->dims[d];
  const int64_t rows = kTransposeLine / a->size;
  n *= (a->dims[a->rank - 2] + rows - 1) / rows;
  return n * ((a->dims[a->rank - 1] + kTransposeColumns - 1) / kTransposeColumns);
}

/// out[i0]…[ik] = in + tables[0][i0] + … + tables[k][ik], or the fill where a table says kMapFill:
/// padding, and resizing to the nearest element. Items: rows of the last dimension.
constexpr int64_t kMapFill = INT64_MIN;
struct MapRun {
  int64_t begin, count;  // of the last dimension
  int64_t offset;        // bytes from the row's source: where a copied or repeated run starts
  int64_t kind;          // 0: neighbours, 1: the fill, 2: one element repeated, 3: by the table
};
struct MapArgs {
  const char* in;
  char* out;
  const char* fill;  // one element
  int64_t size;      // bytes of an element
  int64_t rank;      // 1 … kMaxCopyRank
  int64_t dims[kMaxCopyRank];
  const int64_t* tables[kMaxCopyRank];  // bytes
  const MapRun* runs;                   // the last dimension once more, as runs
  int64_t run_count;
};

/// Rows of `in` [outer, rows] by index. Items: outer * count rows of `out`.
struct GatherArgs {
  const char* in;
  const void* indices;
  char* out;
  int64_t indices_i64;  // 1: int64, 0: int32
  int64_t rows, count, row_bytes;
  int64_t* bad;  // gets the position + 1 of the first index outside [-rows, rows-1]
};

/// One element per index along one axis. gather_elements: out[o][k][i] = in[o][index[o][k][i]][i];
/// scatter_elements: out[o][index[o][k][i]][i] = in[o][k][i], in ascending k. Items: outer.
struct AxisIndexArgs {
  const char* in;
  const void* indices;
  char* out;
  int64_t indices_i64;         // 1: int64, 0: int32
  int64_t rows, count, inner;  // of the indexed axis, of k, of i
  int64_t size;                // bytes of an element: 1, 2, 4 or 8
  int64_t* bad;                // as in GatherArgs
};

/// Rows at tuples of int64 indices. gather_nd: out[t] = in[batch][tuple t]; scatter_nd:
/// out[tuple t] = in[t], in ascending t. Items: tuples.
struct TupleIndexArgs {
  const char* in;
  const int64_t* indices;  // [tuples, width]
  char* out;
  int64_t width;  // 0 … kMaxCopyRank
  int64_t dims[kMaxCopyRank];
  int64_t strides[kMaxCopyRank];  // bytes
  int64_t row_bytes;
  int64_t tuples_per_batch, batch_bytes;  // gather_nd
  int64_t* bad;                           // position + 1 of the first index outside its axis
};

}  // namespace hasten
