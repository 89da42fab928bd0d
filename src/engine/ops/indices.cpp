#include "engine/ops/indices.h"

#include <algorithm>

namespace hasten {

tl::unexpected<Error> bad_index(const OpContext& c, int64_t index, int64_t dim) {
  if (dim == 0) return c.invalid("index {} into an axis of no elements", index);
  return c.invalid("index {} is outside [{}, {}]", index, -dim, dim - 1);
}

Status check_known_indices(const OpContext& c, const Facts& indices, Dim dim) {
  if (!dim.known() || !indices.known_value()) return {};
  for (int64_t index : read_ints(indices.value.view())) {
    if (Dim::is_symbol_code(index)) continue;
    if (index < -dim.value() || index >= dim.value()) return bad_index(c, index, dim.value());
  }
  return {};
}

Result<std::vector<int64_t>> read_indices(const OpContext& c, const TensorView& indices,
                                          int64_t dim) {
  std::vector<int64_t> out = read_ints(indices);
  for (int64_t& index : out) {
    if (index < -dim || index >= dim) return bad_index(c, index, dim);
    if (index < 0) index += dim;
  }
  return out;
}

Status check_along_axis(const OpContext& c, const Facts& data, const Facts& indices) {
  if (!data.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), data.rank()));
  HASTEN_CHECK(check_known_indices(c, indices, data.shape[axis]));
  if (!indices.has_shape) return {};
  if (indices.rank() != data.rank()) {
    return c.invalid("indices {} and data {} must have one rank", shape_text(indices.shape),
                     shape_text(data.shape));
  }
  for (size_t d = 0; d < data.rank(); ++d) {
    if (d == axis || !data.shape[d].known() || !indices.shape[d].known()) continue;
    if (indices.shape[d].value() > data.shape[d].value()) {
      return c.invalid("indices {} reach past data {} along axis {}", shape_text(indices.shape),
                       shape_text(data.shape), d);
    }
  }
  return {};
}

bool along_axis_args(const Dims& data, const Dims& indices, size_t axis, const Facts& index_facts,
                     const Facts& data_facts, AxisIndexArgs& args, int64_t& outer) {
  for (size_t d = 0; d < data.size(); ++d) {
    if (d != axis && data[d] != indices[d]) return false;
  }
  const std::span<const int64_t> dims(data);
  outer = count_of(dims.first(axis));
  args.inner = count_of(dims.subspan(axis + 1));
  args.rows = data[axis];
  args.count = indices[axis];
  args.indices_i64 = index_facts.dtype == DType::kI64;
  args.size = static_cast<int64_t>(dtype_size(data_facts.dtype));
  return true;
}

Status check_no_symbols(const RefContext& c, bool computes) {
  if (!computes) return {};
  for (size_t i : {size_t{0}, size_t{2}}) {
    const TensorView& x = c.in(i);
    if (x.dtype != DType::kI64) continue;
    if (has_symbols({x.as<int64_t>(), static_cast<size_t>(x.count())})) {
      return c.unsupported("arithmetic on elements that are not numbers yet");
    }
  }
  return {};
}

TupleIndex tuple_index(const Dims& data, const Dims& indices, int64_t batch_dims) {
  TupleIndex t;
  const std::span<const int64_t> dims(data);
  const auto b = static_cast<size_t>(batch_dims);
  t.width = indices.back();
  const Dims strides = row_major_strides(data);
  for (size_t d = b; d < b + static_cast<size_t>(t.width); ++d) {
    t.dims.push_back(data[d]);
    t.strides.push_back(strides[d]);
  }
  t.row = count_of(dims.subspan(b + static_cast<size_t>(t.width)));
  t.batches = count_of(dims.first(b));
  t.batch = count_of(dims.subspan(b));
  t.tuples = count_of(std::span(indices).first(indices.size() - 1));
  return t;
}

Result<std::vector<int64_t>> tuple_rows(const OpContext& c, const TupleIndex& t,
                                        const int64_t* indices) {
  std::vector<int64_t> rows;
  const int64_t per_batch = t.batches > 0 ? t.tuples / t.batches : 0;
  for (int64_t i = 0; i < t.tuples; ++i) {
    int64_t at = per_batch > 0 ? i / per_batch * t.batch : 0;
    for (int64_t d = 0; d < t.width; ++d) {
      int64_t index = indices[i * t.width + d];
      const int64_t dim = t.dims[static_cast<size_t>(d)];
      if (index < -dim || index >= dim) return bad_index(c, index, dim);
      at += (index < 0 ? index + dim : index) * t.strides[static_cast<size_t>(d)];
    }
    rows.push_back(at);
  }
  return rows;
}

Status check_known_tuples(const OpContext& c, const Facts& indices, std::span<const Dim> axes) {
  if (!indices.known_value() || indices.dtype != DType::kI64) return {};
  const auto* values = indices.value.as<int64_t>();
  for (int64_t i = 0; i < indices.value.count(); ++i) {
    const Dim dim = axes[static_cast<size_t>(i) % axes.size()];
    if (!dim.known() || Dim::is_symbol_code(values[i])) continue;
    if (values[i] < -dim.value() || values[i] >= dim.value()) {
      return bad_index(c, values[i], dim.value());
    }
  }
  return {};
}

bool tuple_args(const TupleIndex& t, int64_t element_bytes, TupleIndexArgs& args) {
  if (t.width > kMaxCopyRank) return false;
  args.width = t.width;
  for (size_t d = 0; d < t.dims.size(); ++d) {
    args.dims[d] = t.dims[d];
    args.strides[d] = t.strides[d] * element_bytes;
  }
  args.row_bytes = t.row * element_bytes;
  args.tuples_per_batch = std::max<int64_t>(1, t.batches > 0 ? t.tuples / t.batches : 1);
  args.batch_bytes = t.batch * element_bytes;
  return true;
}

}  // namespace hasten
