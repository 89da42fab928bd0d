#include "engine/ops/matrix_product.h"

#include <algorithm>

#include "engine/ops/elementwise.h"

namespace hasten {

namespace {

int64_t panels_of(int64_t n) { return (n + kPanel - 1) / kPanel; }

/// Few rows read a row-major B as it is: packing would cost as much as multiplying.
constexpr int64_t kRowsInPlace = 12;
/// Work that is worth handing to another thread, and that a block of rows should have.
constexpr double kGrainFlops = 200e3, kItemFlops = 1.5e6;

}  // namespace

Status check_product_dtype(const OpContext& c, DType dtype) {
  if (is_float(dtype) || dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU32 ||
      dtype == DType::kU64 || dtype == DType::kNone) {
    return {};
  }
  return c.invalid("dtype {} is not one of floats and 32- and 64-bit integers", dtype_name(dtype));
}

Status check_same_dtype(const OpContext& c, const Facts& a, const char* a_name, const Facts& b,
                        const char* b_name) {
  if (a.dtype == b.dtype || a.dtype == DType::kNone || b.dtype == DType::kNone) return {};
  return c.invalid("{} has dtype {}, {} has {}, they must be the same", a_name, dtype_name(a.dtype),
                   b_name, dtype_name(b.dtype));
}

Status infer_matmul(InferContext& c) {
  const Facts &a = c.in(0), &b = c.in(1);
  HASTEN_CHECK(check_same_dtype(c, a, "A", b, "B"));
  HASTEN_CHECK(check_product_dtype(c, a.dtype));
  if (!a.has_shape || !b.has_shape) {
    c.set_unknown(0, a.dtype);
    return {};
  }
  HASTEN_TRY(Shape out, product_shape(c, a, b));
  c.set(0, a.dtype, std::move(out));
  return {};
}

Result<Shape> product_shape(const OpContext& c, const Facts& a, const Facts& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return c.invalid("A is {} and B is {}, neither may be a scalar", a.text(), b.text());
  }
  const Dim a_k = a.shape.back(), b_k = b.shape[b.rank() - (b.rank() > 1 ? 2 : 1)];
  if (a_k.known() && b_k.known() && !(a_k == b_k)) {
    return c.invalid("A {} has {} columns, B {} has {} rows", shape_text(a.shape), a_k.text(),
                     shape_text(b.shape), b_k.text());
  }
  const Shape a_batch(a.shape.begin(), a.shape.end() - (a.rank() > 1 ? 2 : 1));
  const Shape b_batch(b.shape.begin(), b.shape.end() - (b.rank() > 1 ? 2 : 1));
  auto out = broadcast(a_batch, b_batch);
  if (!out) {
    return c.invalid("the leading dimensions of A {} and B {} do not broadcast",
                     shape_text(a.shape), shape_text(b.shape));
  }
  if (a.rank() > 1) out->push_back(a.shape[a.rank() - 2]);
  if (b.rank() > 1) out->push_back(b.shape.back());
  return std::move(*out);
}

ProductDims product_dims(std::span<const int64_t> a, std::span<const int64_t> b) {
  ProductDims d;
  d.k = a.back();
  if (a.size() > 1) {
    d.m = a[a.size() - 2];
    d.a_batch.assign(a.begin(), a.end() - 2);
  }
  if (b.size() > 1) {
    d.n = b.back();
    d.b_batch.assign(b.begin(), b.end() - 2);
  }
  d.batch = *broadcast_dims(d.a_batch, d.b_batch);
  return d;
}

std::vector<int64_t> batch_offsets(std::span<const int64_t> operand, std::span<const int64_t> batch,
                                   int64_t size) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(count_of(batch)));
  const Dims strides = broadcast_strides(operand, batch);
  for_each_broadcast(batch, strides, strides,
                     [&](int64_t, int64_t at, int64_t) { offsets.push_back(at * size); });
  return offsets;
}

MatrixProduct MatrixProduct::make(const KernelTable& kernels, int64_t m, int64_t n, int64_t k,
                                  int64_t b_k, int64_t b_n) {
  MatrixProduct p;
  p.kernels = &kernels;
  p.args.batch = 1;
  p.args.m = m;
  p.args.n = n;
  p.args.k = k;
  p.args.a_row = k;
  p.args.a_k = 1;
  p.args.b_k = b_k;
  p.args.b_n = b_n;
  p.args.c_row = n;
  p.args.alpha = p.args.beta = 1;
  return p;
}

Status MatrixProduct::use_constant(LowerContext& c, size_t i, int64_t matrices) {
  const int64_t n = args.n, k = args.k, size = panels_of(n) * k * kPanel;
  // One constant may be the matrix of several products, turned for some of them.
  const bool transposed = args.b_n != 1 && n != 1;
  HASTEN_TRY(const void* packed,
             c.packed(i, fmt::format("panels_{}x{}{}", k, n, transposed ? "_transposed" : ""),
                      static_cast<size_t>(matrices * size) * sizeof(float), [&](void* to) {
                        std::vector<int64_t> offsets;
                        for (int64_t j = 0; j < matrices; ++j) offsets.push_back(j * k * n);
                        PackPanelsArgs pack{n,
                                            k,
                                            c.constant(i)->as<float>(),
                                            args.b_k,
                                            args.b_n,
                                            offsets.data(),
                                            static_cast<float*>(to)};
                        kernels->pack_panels_f32(&pack, 0, matrices * panels_of(n));
                      }));
  args.b = static_cast<const float*>(packed);
  for (int64_t& offset : b_offset) offset = offset / std::max<int64_t>(k * n, 1) * size;
  use_panels();
  return {};
}

void MatrixProduct::use_panels() {
  args.b_k = kPanel;
  args.b_panel = args.k * kPanel;
  read_ = Read::kPanels;
}

void MatrixProduct::choose() {
  const int64_t m = args.m, n = args.n, k = args.k;
  if (k == 0) {
    read_ = Read::kInPlace;  // nothing of B is read
    args.b_panel = kPanel;
  } else if (read_ != Read::kPanels) {
    if (m <= kRowsInPlace && args.b_n == 1 && n % kPanel == 0) {
      read_ = Read::kInPlace;
      args.b_panel = kPanel;
    } else if (k <= kStackK) {
      read_ = Read::kOnStack;
      args.b_panel = 0;
    } else {
      read_ = Read::kScratch;
      const int64_t matrices = b_offset.empty() ? 1 : args.batch;
      const int64_t size = panels_of(n) * k * kPanel;
      scratch_bytes = static_cast<size_t>(matrices * size) * sizeof(float);
      for (int64_t i = 0; i < matrices; ++i) scratch_offset_.push_back(i * size);
    }
  }
  const double row_flops =
      2.0 * static_cast<double>(kItemColumns) * static_cast<double>(std::max<int64_t>(k, 1));
  const int64_t least = read_ == Read::kOnStack ? 96 : 24;
  const auto rows = static_cast<int64_t>(std::min(kItemFlops / row_flops, 1e6)) / 24 * 24;
  args.row_block = std::max<int64_t>(std::min(std::max(rows, least), m), 1);
  const int64_t row_blocks = (m + args.row_block - 1) / args.row_block;
  items_ = args.batch * row_blocks * ((n + kItemColumns - 1) / kItemColumns);
  const double item_flops = row_flops * static_cast<double>(args.row_block);
  grain_ = std::max<int64_t>(1, static_cast<int64_t>(kGrainFlops / item_flops));
}

double MatrixProduct::flops() const {
  return 2.0 * static_cast<double>(args.batch) * static_cast<double>(args.m) *
         static_cast<double>(args.n) * static_cast<double>(args.k);
}

void MatrixProduct::run(const StepArgs& s, const float* a, const float* b, float* c, const float* d,
                        const float* r, std::byte* scratch) const {
  GemmArgs g = args;
  g.a = a;
  g.c = c;
  g.d = d;
  g.r = r;
  g.a_offset = a_offset.empty() ? nullptr : a_offset.data();
  g.b_offset = b_offset.empty() ? nullptr : b_offset.data();
  g.c_offset = c_offset.empty() ? nullptr : c_offset.data();
  if (g.k == 0) {
    g.b = c;
    g.b_offset = nullptr;
  } else if (g.b == nullptr) {
    g.b = b;
  }
  if (read_ == Read::kScratch) {
    auto* panels = reinterpret_cast<float*>(scratch);
    const int64_t matrices = b_offset.empty() ? 1 : g.batch;
    const PackPanelsArgs pack{g.n, g.k, b, g.b_k, g.b_n, g.b_offset, panels};
    s.parallel(matrices * panels_of(g.n), 1,
               [&](int64_t begin, int64_t end) { kernels->pack_panels_f32(&pack, begin, end); });
    g.b = panels;
    g.b_k = kPanel;
    g.b_panel = g.k * kPanel;
    g.b_offset = b_offset.empty() ? nullptr : scratch_offset_.data();
  }
  s.parallel(items_, grain_,
             [&](int64_t begin, int64_t end) { kernels->gemm_f32(&g, begin, end); });
}

}  // namespace hasten
