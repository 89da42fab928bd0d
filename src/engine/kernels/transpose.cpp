// Transposes of matrices of 1, 2, 4 and 8-byte elements, in tiles that stay in the L1 cache.
#include "engine/kernels/copy_args.h"
#include "engine/kernels/elements.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// out[r][c] = in[c][r] for one small square; strides in bytes.
template <int64_t N>
HASTEN_INLINE void square(const char* in, int64_t in_stride, char* out, int64_t out_stride) {
  constexpr int64_t kSide = 8;
  char tile[kSide * kSide * N];
  _Pragma("GCC unroll 8") for (int64_t c = 0; c < kSide; ++c) {
    _Pragma("GCC unroll 8") for (int64_t r = 0; r < kSide; ++r) {
      move_one<N>(tile + (r * kSide + c) * N, in + c * in_stride + r * N);
    }
  }
  _Pragma("GCC unroll 8") for (int64_t r = 0; r < kSide; ++r) {
    move_one<kSide * N>(out + r * out_stride, tile + r * kSide * N);
  }
}

#if HASTEN_TIER >= 1
using Lanes8 = float __attribute__((vector_size(32), aligned(4)));

/// Two lines of four floats, one under the other.
HASTEN_INLINE Lanes8 load_halves(const char* low, const char* high) {
  Lanes8 x;
  __builtin_memcpy(&x, low, 16);
  __builtin_memcpy(reinterpret_cast<char*>(&x) + 16, high, 16);
  return x;
}

template <>
HASTEN_INLINE void square<4>(const char* in, int64_t in_stride, char* out, int64_t out_stride) {
  // Rows of 4-float halves: the lower half of lane group g holds column c, the upper c + 4.
  Lanes8 half[2][4];
  _Pragma("GCC unroll 4") for (int c = 0; c < 4; ++c) {
    const char* low = in + c * in_stride;
    const char* high = in + (c + 4) * in_stride;
    half[0][c] = load_halves(low, high);
    half[1][c] = load_halves(low + 16, high + 16);
  }
  _Pragma("GCC unroll 2") for (int h = 0; h < 2; ++h) {
    const Lanes8* x = half[h];
    const Lanes8 a = __builtin_shufflevector(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const Lanes8 b = __builtin_shufflevector(x[2], x[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const Lanes8 c = __builtin_shufflevector(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const Lanes8 d = __builtin_shufflevector(x[2], x[3], 2, 10, 3, 11, 6, 14, 7, 15);
    const Lanes8 row[4] = {__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
                           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15),
                           __builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13),
                           __builtin_shufflevector(c, d, 2, 3, 10, 11, 6, 7, 14, 15)};
    _Pragma("GCC unroll 4") for (int r = 0; r < 4; ++r) {
      __builtin_memcpy(out + (h * 4 + r) * out_stride, &row[r], 32);
    }
  }
}
#endif

/// One tile of rows x columns; rows lie next to each other in `in`, columns in `out`.
template <int64_t N>
void tile(const char* in, int64_t in_stride, char* out, int64_t out_stride, int64_t rows,
          int64_t columns) {
  int64_t c = 0;
  for (; c + 8 <= columns; c += 8) {
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8) {
      square<N>(in + c * in_stride + r * N, in_stride, out + r * out_stride + c * N, out_stride);
    }
    for (; r < rows; ++r) {
      for (int64_t k = c; k < c + 8; ++k) {
        move_one<N>(out + r * out_stride + k * N, in + k * in_stride + r * N);
      }
    }
  }
  for (; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      move_one<N>(out + r * out_stride + c * N, in + c * in_stride + r * N);
    }
  }
}

template <int64_t N>
void tiles(const CopyArgs* a, int64_t begin, int64_t end) {
  const int64_t rank = a->rank;
  const int64_t rows = a->dims[rank - 2], columns = a->dims[rank - 1];
  const int64_t tile_rows = kTransposeLine / N;
  const int64_t row_tiles = (rows + tile_rows - 1) / tile_rows;
  const int64_t column_tiles = (columns + kTransposeColumns - 1) / kTransposeColumns;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i % row_tiles * tile_rows;
    int64_t rest = i / row_tiles;
    const int64_t column = rest % column_tiles * kTransposeColumns;
    rest /= column_tiles;
    const char* in = a->in + row * N + column * a->in_strides[rank - 1];
    char* out = a->out + row * a->out_strides[rank - 2] + column * N;
    for (int64_t d = rank - 2; d-- > 0;) {
      const int64_t at = rest % a->dims[d];
      rest /= a->dims[d];
      in += at * a->in_strides[d];
      out += at * a->out_strides[d];
    }
    tile<N>(in, a->in_strides[rank - 1], out, a->out_strides[rank - 2],
            rows - row < tile_rows ? rows - row : tile_rows,
            columns - column < kTransposeColumns ? columns - column : kTransposeColumns);
  }
}

}  // namespace

void transpose(const CopyArgs* a, int64_t begin, int64_t end) {
  switch (a->size) {
    case 1:
      return tiles<1>(a, begin, end);
    case 2:
      return tiles<2>(a, begin, end);
    case 4:
      return tiles<4>(a, begin, end);
    default:
      return tiles<8>(a, begin, end);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
