// https://onnx.ai/onnx/operators/onnx__Col2Im.html, opsets 18-21, numbers; any number of spatial
// axes. Floats are summed in double, integers wrap.
#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"
#include "engine/ops/window.h"

namespace hasten {

namespace {

/// The blocks of an image of known sizes.
struct Blocks {
  Window window;
  Dims image, counts;  // spatial sizes; blocks along each axis
  int64_t channels = 0;
};

/// `x`: [N, C * elements of a block, blocks]; unknown dims pass. Errors: invalid_model.
Result<Blocks> read_blocks(const OpContext& c, const Shape& x, const Dims& image,
                           const Dims& block) {
  if (x.size() != 3) return c.invalid("the input has rank {}, it must be 3", x.size());
  if (image.size() != block.size() || image.empty()) {
    return c.invalid("image_shape is {}, block_shape {}", dims_text(image), dims_text(block));
  }
  Blocks b;
  for (size_t i = 0; i < image.size(); ++i) {
    if (image[i] < 0 || block[i] < 1 || image[i] > INT32_MAX || block[i] > INT32_MAX) {
      return c.invalid("image_shape is {}, block_shape {}", dims_text(image), dims_text(block));
    }
  }
  HASTEN_TRY(b.window, read_window(c, image.size(), block));
  b.image = image;
  auto elements = checked_count(block);
  if (!elements) return c.invalid("{}", elements.error().message);
  for (size_t i = 0; i < image.size(); ++i) {
    const int64_t room =
        image[i] + b.window.pads_begin[i] + b.window.pads_end[i] - b.window.extent(i);
    if (room < 0) {
      return c.invalid("axis {} of {} pixels has no room for a block of {}", i, image[i],
                       b.window.extent(i));
    }
    b.counts.push_back(room / b.window.strides[i] + 1);
  }
  auto blocks = checked_count(b.counts);
  if (!blocks) return c.invalid("{}", blocks.error().message);
  if (x[1].known()) {
    if (x[1].value() % *elements != 0) {
      return c.invalid("axis 1 has {} elements, no multiple of the block's {}", x[1].value(),
                       *elements);
    }
    b.channels = x[1].value() / *elements;
  }
  if (x[2].known() && x[2].value() != *blocks) {
    return c.invalid("axis 2 has {} elements, the image has {} blocks", x[2].value(), *blocks);
  }
  return b;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &image = c.in(1), &block = c.in(2);
  if (x.dtype == DType::kString || x.dtype == DType::kBool) {
    return c.unsupported("dtype {}", dtype_name(x.dtype));
  }
  HASTEN_CHECK(check_int_list(c, image, "image_shape", false));
  HASTEN_CHECK(check_int_list(c, block, "block_shape", false));
  if (x.has_shape && x.rank() != 3) {
    return c.invalid("the input has rank {}, it must be 3", x.rank());
  }
  c.set_unknown(0, x.dtype);
  const auto n = list_length(image) ? list_length(image) : list_length(block);
  if (!n || *n > 64) return {};
  Shape out = fresh_shape(static_cast<size_t>(*n) + 2);
  if (x.has_shape) out[0] = x.shape[0];
  const auto sizes = known_ints(image), kernel = known_ints(block);
  if (sizes && kernel && !has_symbols(*sizes) && !has_symbols(*kernel)) {
    const Shape in = x.has_shape ? x.shape : fresh_shape(3);
    HASTEN_TRY(const Blocks b, read_blocks(c, in, *sizes, *kernel));
    if (in[1].known()) out[1] = Dim(b.channels);
    for (size_t i = 0; i < sizes->size(); ++i) out[i + 2] = Dim((*sizes)[i]);
  }
  return set_checked(c, 0, x.dtype, std::move(out));
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const Dims block = read_ints(c.in(2));
  HASTEN_TRY(const Blocks b, read_blocks(c, to_shape(x.dims), read_ints(c.in(1)), block));
  Dims dims{x.dims[0], b.channels};
  dims.insert(dims.end(), b.image.begin(), b.image.end());
  HASTEN_TRY(void* memory, c.out(0, x.dtype, dims));
  const size_t rank = b.image.size();
  const int64_t pixels = count_of(b.image), taps = count_of(block), blocks = x.dims[2];
  const int64_t planes = x.dims[0] * b.channels;
  dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    for (int64_t pixel = 0; pixel < planes * pixels; ++pixel) {
      Sum sum = 0;
      for (int64_t tap = 0; tap < taps; ++tap) {
        // The block that has this pixel under this tap, if there is one.
        int64_t rest_pixel = pixel % pixels, rest_tap = tap, at = 0, scale = 1;
        bool found = true;
        for (size_t d = rank; d-- > 0 && found;) {
          const int64_t start = rest_pixel % b.image[d] + b.window.pads_begin[d] -
                                rest_tap % block[d] * b.window.dilations[d];
          const int64_t index = start / b.window.strides[d];
          found = start >= 0 && start % b.window.strides[d] == 0 && index < b.counts[d];
          at += index * scale;
          scale *= b.counts[d];
          rest_pixel /= b.image[d];
          rest_tap /= block[d];
        }
        if (!found) continue;
        const int64_t from = (pixel / pixels * taps + tap) * blocks + at;
        sum += static_cast<Sum>(Compute<T>::load(x.as<T>()[from]));
      }
      static_cast<T*>(memory)[pixel] = convert_number<T>(sum);
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_col2im() {
  return {{"",
           "Col2Im",
           18,
           kLastOpset,
           3,
           3,
           1,
           1,
           {"dilations", "pads", "strides"},
           infer,
           reference}};
}

}  // namespace hasten
