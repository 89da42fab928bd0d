// From an ISA tier to its kernels.
#pragma once

#include "base/cpu.h"
#include "engine/kernels/kernels.h"

namespace hasten {

/// The kernels compiled for that tier; call only for a tier that supported_isas() lists.
const KernelTable& kernel_table(Isa isa);

}  // namespace hasten
