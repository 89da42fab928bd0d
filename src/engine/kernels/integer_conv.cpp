// ConvInteger and QLinearConv: each pixel's channels lie together, so that a window is a product of
// rows by panels for each of its taps.
#include "engine/kernels/integer_tile.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

template <class X>
void center(const CenterPixelsArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->pixels + kCenterPixels - 1) / kCenterPixels;
  const int64_t pitch = a->groups * a->pairs * 2;
  const int32_t zero = a->zero;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / blocks, first = item % blocks * kCenterPixels;
    const int64_t n = a->pixels - first < kCenterPixels ? a->pixels - first : kCenterPixels;
    int16_t* out = a->out + (image * a->pixels + first) * pitch;
    if (a->group_in < a->pairs * 2) memset(out, 0, static_cast<size_t>(n * pitch) * sizeof *out);
    for (int64_t g = 0; g < a->groups; ++g) {
      for (int64_t c = 0; c < a->group_in; ++c) {
        const X* x = static_cast<const X*>(a->x) +
                     ((image * a->groups + g) * a->group_in + c) * a->pixels + first;
        int16_t* to = out + g * a->pairs * 2 + c;
        for (int64_t i = 0; i < n; ++i) to[i * pitch] = static_cast<int16_t>(x[i] - zero);
      }
    }
  }
}

/// 16 channels (n of them there) of one pixel; `at`: of the first one in y.
HASTEN_INLINE void put(const IntegerConvArgs* a, const int32_t* sums, int64_t channel, int64_t at,
                       int64_t n) {
  alignas(64) int32_t x[16];
  if (a->bias) {
    for (int i = 0; i < 16; ++i) {
      x[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                  static_cast<uint32_t>(a->bias[channel + i]));
    }
    sums = x;
  }
  if (a->y_dtype == 6) {
    int32_t* y = static_cast<int32_t*>(a->y) + at;
    for (int64_t i = 0; i < n; ++i) y[i * a->out_pixels] = sums[i];
  } else if (a->y_dtype == 3) {
    requantize(sums, a->factor + channel, a->y_zero, static_cast<int8_t*>(a->y) + at, a->out_pixels,
               n);
  } else {
    requantize(sums, a->factor + channel, a->y_zero, static_cast<uint8_t*>(a->y) + at,
               a->out_pixels, n);
  }
}

}  // namespace

void center_pixels(const CenterPixelsArgs* a, int64_t begin, int64_t end) {
  if (a->is_signed) return center<int8_t>(a, begin, end);
  center<uint8_t>(a, begin, end);
}

void conv_s32(const IntegerConvArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->group_out + 15) / 16, parts = (blocks + kItemPanels - 1) / kItemPanels;
  const int64_t pitch = a->groups * a->pairs * 2, tap = a->pairs * 32;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % parts * kItemPanels, group = item / parts % a->groups;
    const int64_t chunk = item / parts / a->groups % a->chunk_count;
    const int64_t image = item / parts / a->groups / a->chunk_count;
    const int64_t panels = blocks - block < kItemPanels ? blocks - block : kItemPanels;
    const int16_t* x = a->x + image * a->in_pixels * pitch + group * a->pairs * 2;
    alignas(64) int32_t sums[kIntegerRows * kItemPanels * 16];
    IntegerTile t{};
    t.b_panel = a->taps * tap;
    t.pairs = a->pairs;
    t.c = sums;
    t.c_row = kItemPanels * 16;
    for (int d = 0; d < 3; ++d) {
      t.a_tap[d] = a->steps.in_tap[d] * pitch;
      t.b_tap[d] = a->steps.tap[d] * tap;
    }
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) {
      const WindowRect& r = a->rects[i];
      const int16_t* w = a->w + (group * blocks + block) * t.b_panel + r.tap * tap;
      for (int d = 0; d < 3; ++d) t.taps[d] = r.taps[d];
      t.a_row = r.in_col * pitch;
      for (int64_t row = 0; row < r.rows; ++row) {
        const int64_t in = r.in + row * r.in_row, out = r.out + row * r.out_row;
        for_each_integer_tile(r.cols, panels, [&](int64_t c, int64_t height, int64_t p, int64_t n) {
          t.a = x + (in + c * r.in_col) * pitch;
          t.b = w + p * t.b_panel;
          integer_tile<int16_t>(height, n)(&t);
          for (int64_t q = 0; q < n; ++q) {
            const int64_t channel = (block + p + q) * 16;
            const int64_t left = a->group_out - channel < 16 ? a->group_out - channel : 16;
            const int64_t plane = (image * a->groups + group) * a->group_out + channel;
            for (int64_t k = 0; k < height; ++k) {
              put(a, sums + k * t.c_row + q * 16, group * blocks * 16 + channel,
                  plane * a->out_pixels + out + (c + k) * r.out_col, left);
            }
          }
        });
      }
    }
  }
}

void conv_depthwise_s32(const IntegerConvArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->groups + 15) / 16, pitch = blocks * 16;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t channel = item % blocks * 16, chunk = item / blocks % a->chunk_count;
    const int64_t image = item / blocks / a->chunk_count;
    const int64_t left = a->groups - channel < 16 ? a->groups - channel : 16;
    const int64_t plane = image * a->groups + channel;
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) {
      const WindowRect& r = a->rects[i];
      for (int64_t pixel = 0; pixel < r.rows * r.cols; ++pixel) {
        const int64_t row = pixel / r.cols, col = pixel % r.cols;
        const int16_t* x = a->x +
                           (image * a->in_pixels + r.in + row * r.in_row + col * r.in_col) * pitch +
                           channel;
        const int16_t* w = a->w + r.tap * pitch + channel;
        alignas(64) int32_t sums[16] = {};
        for (int64_t d = 0; d < r.taps[0]; ++d) {
          for (int64_t h = 0; h < r.taps[1]; ++h) {
            const int16_t* x_row = x + (d * a->steps.in_tap[0] + h * a->steps.in_tap[1]) * pitch;
            const int16_t* w_row = w + (d * a->steps.tap[0] + h * a->steps.tap[1]) * pitch;
            for (int64_t k = 0; k < r.taps[2]; ++k) {
              const int16_t* p = x_row + k * a->steps.in_tap[2] * pitch;
              const int16_t* q = w_row + k * a->steps.tap[2] * pitch;
              for (int c = 0; c < 16; ++c) {
                const int32_t product = int32_t{p[c]} * q[c];
                sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) +
                                               static_cast<uint32_t>(product));
              }
            }
          }
        }
        put(a, sums, channel, plane * a->out_pixels + r.out + row * r.out_row + col * r.out_col,
            left);
      }
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
