#include "engine/ops/indices.h"

#include "engine/ops/shape_math.h"

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

}  // namespace hasten
