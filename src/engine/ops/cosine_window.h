// HannWindow, HammingWindow and BlackmanWindow: one implementation. Also what MelWeightMatrix
// shares.
#pragma once

#include <array>

#include "engine/ops/op.h"

namespace hasten {

/// The attribute output_datatype, a number of TensorProto.DataType: any number dtype.
/// Error: unsupported.
Result<DType> output_dtype(const OpContext& c);

/// Size from input 0; dtype from output_datatype.
Status infer_window(InferContext& c);
/// a[0] + a[1] cos(t) + a[2] cos(2 t) for t = 2 pi i / n; n is the size, or one less if not
/// periodic. A symmetric window of one element is {1}.
Status reference_window(RefContext& c, const std::array<double, 3>& a);

}  // namespace hasten
