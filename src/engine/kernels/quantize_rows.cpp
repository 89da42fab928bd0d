// Sequences of rows quantized by their range, for products by 8-bit weights.
#include "engine/kernels/quantize_row.h"

namespace hasten {
namespace HASTEN_NS {

void quantize_rows_f32(const QuantizeRowsArgs* a, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    int64_t length = a->lengths ? a->lengths[item] : a->steps;
    length = length < 0 ? 0 : length > a->steps ? a->steps : length;
    float low = 0, high = 0;
    for (int64_t t = 0; t < length; ++t) {
      float least, most;
      min_max(a->x + (item + t * a->apart) * a->k, a->k, &least, &most);
      low = least < low || least != least ? least : low;  // a NaN stays
      high = most > high || most != most ? most : high;
    }
    const DynamicRange range = dynamic_range(low, high);
    for (int64_t t = 0; t < a->steps; ++t) {
      const int64_t row = item + t * a->apart;
      quantize_row_by(range, a->x + row * a->k, a->k, a->out + row * a->pairs * 2, a->sum + row,
                      a->scale + row);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
