// Rows quantized by their own range, for products by 8-bit weights.
#include "engine/kernels/quantize_row.h"

namespace hasten {
namespace HASTEN_NS {

void quantize_rows_f32(const QuantizeRowsArgs* a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    quantize_row(a->x + row * a->k, a->k, a->out + row * a->pairs * 2, a->sum + row,
                 a->scale + row);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
