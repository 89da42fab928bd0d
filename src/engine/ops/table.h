// Declares the function of each file that ops.inc lists.
#pragma once

#include <vector>

#include "engine/ops/op.h"

namespace hasten {

#define HASTEN_OPS(file) std::vector<OpDef> ops_##file();
#include "engine/ops/ops.inc"
#undef HASTEN_OPS

}  // namespace hasten
