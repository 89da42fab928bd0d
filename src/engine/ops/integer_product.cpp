#include "engine/ops/integer_product.h"

#include "engine/ops/matrix_product.h"
#include "engine/ops/scratch.h"

namespace hasten {

namespace {

constexpr double kItemProducts = 1e6, kGrainProducts = 100e3;

/// Zero points or scales: one number, one for each row of A (column of B), or one for each row of
/// each matrix.
struct Lines {
  int64_t step = 0;             // 0: one for all rows
  std::vector<int64_t> offset;  // of each matrix
};

/// `batch`: of the operand; `lines`: its rows or columns.
Lines lines_of(const Dims& dims, const Dims& batch) {
  Lines l;
  const int64_t matrices = count_of(batch);
  if (count_of(dims) == 1 || dims.size() < 2) {
    l.step = count_of(dims) != 1;
    l.offset.assign(static_cast<size_t>(matrices), 0);
    return l;
  }
  const Dims own(dims.begin(), dims.end() - 2);
  const int64_t lines = dims[dims.size() - 2] * dims.back();  // one of them is 1
  l.step = lines != 1;
  l.offset = batch_offsets(own, batch, lines);
  return l;
}

/// Zero point or scale (input i) of operand `m`, whose rows or columns it may have one for.
Status check_lines(const InferContext& c, size_t i, const char* name, const Facts& m, bool rows) {
  if (!c.has_in(i) || !c.in(i).has_shape || !m.has_shape || may_be_scalar(c.in(i))) return {};
  const Shape& s = c.in(i).shape;
  const Dim lines = m.rank() < 2 ? Dim(1) : m.shape[m.rank() - (rows ? 2 : 1)];
  const auto may_be = [](Dim a, Dim b) { return !a.known() || !b.known() || a == b; };
  bool fits = false;
  if (s.size() == 1) {
    fits = may_be(s[0], lines);
  } else if (s.size() == m.rank()) {
    const Dim line = s[s.size() - (rows ? 2 : 1)], other = s[s.size() - (rows ? 1 : 2)];
    fits = may_be(other, Dim(1)) && (may_be(line, lines) || line == Dim(1));
    for (size_t d = 0; fits && d + 2 < s.size(); ++d) {
      fits = may_be(s[d], m.shape[d]) || s[d] == Dim(1);
    }
  }
  if (fits) return {};
  return c.invalid("{} is {}: neither one number nor one for each {} of {}", name, c.in(i).text(),
                   rows ? "row" : "column", m.text());
}

Status check_type(const InferContext& c, size_t i, const char* name, DType dtype) {
  const DType got = c.in(i).dtype;
  if (!c.has_in(i) || got == DType::kNone || dtype == DType::kNone || got == dtype) return {};
  return c.invalid("{} has dtype {}, it must be {}", name, dtype_name(got), dtype_name(dtype));
}

bool all_zero(const Tensor& t) {
  const auto* bytes = static_cast<const uint8_t*>(t.data());
  return std::all_of(bytes, bytes + t.count(), [](uint8_t b) { return b == 0; });
}

}  // namespace

float scale_at(const void* data, DType dtype, int64_t i) {
  float value = 0;
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    value = static_cast<float>(Compute<T>::load(static_cast<const T*>(data)[i]));
  });
  return value;
}

int32_t requantize_number(int32_t sum, float factor, int32_t zero, DType to) {
  const float q = static_cast<float>(sum) * factor;
  if (std::isnan(q)) return zero;
  const double low = to == DType::kI8 ? -128 : 0;
  return static_cast<int32_t>(
      std::clamp(std::nearbyint(static_cast<double>(q)) + zero, low, low + 255));
}

void PairPanels::pack(const uint8_t* b, uint8_t* to, int64_t begin, int64_t end) const {
  for (int64_t p = begin; p < end; ++p) {
    uint8_t* panel = to + p * pairs() * 32;
    const int64_t lanes = std::min<int64_t>(16, n - p * 16);
    for (int64_t i = 0; i < pairs() * 2; ++i) {
      uint8_t* row = panel + i / 2 * 32 + i % 2;
      const uint8_t* from = b + i * b_k + p * 16 * b_n;
      for (int64_t lane = 0; lane < 16; ++lane) {
        row[lane * 2] = i < k && lane < lanes ? from[lane * b_n] : 0;
      }
    }
  }
}

Status infer_integer_product(InferContext& c, const IntegerProductInputs& in, DType dtype) {
  const Facts &a = c.in(in.a), &b = c.in(in.b);
  HASTEN_CHECK(check_dtype(c, in.a, kBytes));
  HASTEN_CHECK(check_dtype(c, in.b, kBytes));
  HASTEN_CHECK(check_type(c, in.a_zero, "A's zero point", a.dtype));
  HASTEN_CHECK(check_type(c, in.b_zero, "B's zero point", b.dtype));
  HASTEN_CHECK(check_lines(c, in.a_zero, "A's zero point", a, true));
  HASTEN_CHECK(check_lines(c, in.b_zero, "B's zero point", b, false));
  HASTEN_CHECK(check_lines(c, in.a_scale, "A's scale", a, true));
  HASTEN_CHECK(check_lines(c, in.b_scale, "B's scale", b, false));
  HASTEN_CHECK(check_scalar(c, in.y_scale, "Y's scale"));
  HASTEN_CHECK(check_scalar(c, in.y_zero, "Y's zero point"));
  if (!a.has_shape || !b.has_shape) {
    c.set_unknown(0, dtype);
    return {};
  }
  HASTEN_TRY(Shape out, product_shape(c, a, b));
  c.set(0, dtype, std::move(out));
  return {};
}

Status reference_integer_product(RefContext& c, const IntegerProductInputs& in, DType dtype) {
  const TensorView &a = c.in(in.a), &b = c.in(in.b), &a_zero = c.in(in.a_zero),
                   &b_zero = c.in(in.b_zero), &a_scale = c.in(in.a_scale),
                   &b_scale = c.in(in.b_scale);
  const ProductDims d = product_dims(a.dims, b.dims);
  Dims dims = d.batch;
  if (a.dims.size() > 1) dims.push_back(d.m);
  if (b.dims.size() > 1) dims.push_back(d.n);
  HASTEN_TRY(void* y, c.out(0, dtype, dims));
  const bool a_signed = a.dtype == DType::kI8, b_signed = b.dtype == DType::kI8;
  const Lines az = lines_of(a_zero.dims, d.a_batch), bz = lines_of(b_zero.dims, d.b_batch);
  const Lines as = lines_of(a_scale.dims, d.a_batch), bs = lines_of(b_scale.dims, d.b_batch);
  const auto at_line = [](const Lines& l, int64_t matrix, int64_t line) {
    return l.offset[static_cast<size_t>(matrix)] + line * l.step;
  };
  for_each_broadcast(
      d.batch, broadcast_strides(d.a_batch, d.batch), broadcast_strides(d.b_batch, d.batch),
      [&](int64_t product, int64_t at_a, int64_t at_b) {
        for (int64_t i = 0; i < d.m * d.n; ++i) {
          const int64_t row = i / d.n, col = i % d.n;
          const int32_t za =
              a_zero.data ? byte_at(a_zero.data, a_signed, at_line(az, at_a, row)) : 0;
          const int32_t zb =
              b_zero.data ? byte_at(b_zero.data, b_signed, at_line(bz, at_b, col)) : 0;
          uint32_t sum = 0;
          for (int64_t k = 0; k < d.k; ++k) {
            const int32_t x = byte_at(a.data, a_signed, (at_a * d.m + row) * d.k + k) - za;
            const int32_t w = byte_at(b.data, b_signed, (at_b * d.k + k) * d.n + col) - zb;
            sum += static_cast<uint32_t>(x * w);
          }
          const int64_t at = product * d.m * d.n + i;
          if (dtype == DType::kI32) {
            static_cast<int32_t*>(y)[at] = static_cast<int32_t>(sum);
            continue;
          }
          const TensorView &y_scale = c.in(in.y_scale), &y_zero = c.in(in.y_zero);
          const float factor = scale_at(a_scale.data, a_scale.dtype, at_line(as, at_a, row)) *
                               scale_at(b_scale.data, b_scale.dtype, at_line(bs, at_b, col)) /
                               scale_at(y_scale.data, y_scale.dtype, 0);
          static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(
              requantize_number(static_cast<int32_t>(sum), factor,
                                byte_at(y_zero.data, dtype == DType::kI8, 0), dtype));
        }
      });
  return {};
}

Status lower_integer_product(LowerContext& c, const IntegerProductInputs& in) {
  const ProductDims d = product_dims(c.in_dims(in.a), c.in_dims(in.b));
  const int64_t a_matrices = count_of(d.a_batch), b_matrices = count_of(d.b_batch);
  const PairPanels panels{d.k, d.n, d.n, 1};
  const int64_t columns = panels.panels() * 16, rows = a_matrices * d.m;
  const bool a_signed = c.in(in.a).dtype == DType::kI8, b_signed = c.in(in.b).dtype == DType::kI8;
  IntegerGemmArgs args{};
  args.products = count_of(d.batch);
  args.m = d.m;
  args.n = d.n;
  args.pairs = panels.pairs();
  args.b_signed = b_signed;
  args.y_dtype = static_cast<int>(c.out(0).dtype);
  std::vector<int64_t> a_index, b_index;
  if (b_matrices == 1 && a_matrices == args.products) {
    args.m = rows;  // one B: all rows of A are those of one matrix
    args.products = 1;
  } else {
    a_index = batch_offsets(d.a_batch, d.batch, 1);
    b_index = batch_offsets(d.b_batch, d.batch, 1);
  }
  const double row_products = 16.0 * kItemPanels * static_cast<double>(std::max<int64_t>(d.k, 1));
  const auto fit = static_cast<int64_t>(kItemProducts / row_products) / 6 * 6;
  args.row_block = std::max<int64_t>(1, std::min(std::max<int64_t>(fit, 12), args.m));
  const int64_t items = args.products * ((args.m + args.row_block - 1) / args.row_block) *
                        ((panels.panels() + kItemPanels - 1) / kItemPanels);
  const auto grain = std::max<int64_t>(
      1, static_cast<int64_t>(kGrainProducts / row_products / static_cast<double>(args.row_block)));

  if (c.constant(in.b)) {
    HASTEN_TRY(
        args.b,
        c.packed(in.b, "pairs", static_cast<size_t>(b_matrices * panels.bytes()), [&](void* to) {
          const auto* from = c.constant(in.b)->as<uint8_t>();
          for (int64_t i = 0; i < b_matrices; ++i) {
            panels.pack(from + i * d.k * d.n, static_cast<uint8_t*>(to) + i * panels.bytes(), 0,
                        panels.panels());
          }
        }));
  }
  const bool requantized = c.out(0).dtype != DType::kI32;
  const bool b_centered =
      !c.has_in(in.b_zero) || (c.constant(in.b_zero) && all_zero(*c.constant(in.b_zero)));
  const auto lines = [&](size_t i, const Dims& batch) {
    return c.has_in(i) ? lines_of(c.in_dims(i), batch) : lines_of({}, batch);
  };
  Scratch scratch;
  struct Places {
    int64_t a, a_sum, a_zero, b, b_zero, a_scale, b_scale;
  } at{};
  at.a = scratch.take<int16_t>(rows * panels.pairs() * 2);
  at.a_sum = scratch.take<int32_t>(rows);
  at.a_zero = scratch.take<int32_t>(rows);
  if (args.b == nullptr) at.b = scratch.take<uint8_t>(b_matrices * panels.bytes());
  if (!b_centered) at.b_zero = scratch.take<int32_t>(b_matrices * columns);
  if (requantized) {
    at.a_scale = scratch.floats(rows);
    at.b_scale = scratch.floats(b_matrices * columns);
  }
  c.scratch(static_cast<size_t>(scratch.bytes));
  c.flops(2 * static_cast<double>(count_of(d.batch)) * static_cast<double>(d.m) *
          static_cast<double>(d.n) * static_cast<double>(d.k));
  c.take("gemm_s32", [=, az = lines(in.a_zero, d.a_batch), bz = lines(in.b_zero, d.b_batch),
                      as = lines(in.a_scale, d.a_batch), bs = lines(in.b_scale, d.b_batch),
                      scale_dtype = requantized ? c.in(in.a_scale).dtype : DType::kNone,
                      y_signed = c.out(0).dtype == DType::kI8, a_has_zero = c.has_in(in.a_zero),
                      center = c.kernels().center_rows,
                      gemm = c.kernels().gemm_s32](const StepArgs& s) {
    // Numbers of each line of each matrix, `pitch` apart, from one for all or for each.
    const auto expand = [&](const Lines& l, int64_t count, int64_t pitch, auto* to, auto&& read) {
      for (size_t m = 0; m < l.offset.size(); ++m) {
        for (int64_t i = 0; i < count; ++i) {
          to[static_cast<int64_t>(m) * pitch + i] = read(l.offset[m] + i * l.step);
        }
        std::fill(to + static_cast<int64_t>(m) * pitch + count,
                  to + (static_cast<int64_t>(m) + 1) * pitch, 0);
      }
    };
    IntegerGemmArgs g = args;
    g.a_index = a_index.empty() ? nullptr : a_index.data();
    g.b_index = b_index.empty() ? nullptr : b_index.data();
    auto* a_zero = reinterpret_cast<int32_t*>(s.scratch + at.a_zero);
    expand(az, d.m, d.m, a_zero,
           [&](int64_t i) { return a_has_zero ? byte_at(s.in[in.a_zero], a_signed, i) : 0; });
    const CenterRowsArgs rows_args{s.in[in.a],
                                   a_signed,
                                   d.k,
                                   g.pairs,
                                   a_zero,
                                   1,
                                   reinterpret_cast<int16_t*>(s.scratch + at.a),
                                   reinterpret_cast<int32_t*>(s.scratch + at.a_sum)};
    s.parallel(rows, std::max<int64_t>(1, kCheapGrain / std::max<int64_t>(d.k, 1)),
               [&](int64_t begin, int64_t end) { center(&rows_args, begin, end); });
    g.a = rows_args.out;
    g.a_sum = rows_args.sum;
    if (g.b == nullptr) {
      auto* to = reinterpret_cast<uint8_t*>(s.scratch + at.b);
      const int64_t each = panels.panels();
      s.parallel(b_matrices * each, 4, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          panels.pack(s.input<uint8_t>(in.b) + p / each * d.k * d.n, to + p / each * panels.bytes(),
                      p % each, p % each + 1);
        }
      });
      g.b = to;
    }
    if (!b_centered) {
      auto* zero = reinterpret_cast<int32_t*>(s.scratch + at.b_zero);
      int32_t any = 0;
      expand(bz, d.n, columns, zero, [&](int64_t i) {
        const int32_t z = byte_at(s.in[in.b_zero], b_signed, i);
        any |= z;
        return z;
      });
      if (any != 0) g.b_zero = zero;
    }
    if (requantized) {
      auto* a_scale = reinterpret_cast<float*>(s.scratch + at.a_scale);
      auto* b_scale = reinterpret_cast<float*>(s.scratch + at.b_scale);
      expand(as, d.m, d.m, a_scale,
             [&](int64_t i) { return scale_at(s.in[in.a_scale], scale_dtype, i); });
      expand(bs, d.n, columns, b_scale,
             [&](int64_t i) { return scale_at(s.in[in.b_scale], scale_dtype, i); });
      g.a_scale = a_scale;
      g.b_scale = b_scale;
      g.y_scale = scale_at(s.in[in.y_scale], scale_dtype, 0);
      g.y_zero = byte_at(s.in[in.y_zero], y_signed, 0);
    }
    g.y = s.out[0];
    s.parallel(items, grain, [&](int64_t begin, int64_t end) { gemm(&g, begin, end); });
  });
  return {};
}

}  // namespace hasten
