// The optional engines: ONNX Runtime and OpenVINO behind Engine and Runner.
//
// Both are opened with dlopen when the first model asks for them, so that the binary starts, and
// runs, without them. Where they were not found at build time, opening says how to get them.
#pragma once

#include <memory>
#include <string>

#include "engine/exec/engine.h"

namespace hasten {

/// Opens an .onnx file with ONNX Runtime's CPU provider and its own default options, but for what
/// `options` sets: threads, and in `extra`
/// `graph_optimization_level=disable|basic|extended|layout|all`,
/// `execution_mode=sequential|parallel`, `inter_op_threads=N` and the session configuration entries
/// listed in onnxruntime.cpp. The library is $HASTEN_ONNXRUNTIME_LIB, or the one found by CMake.
/// Errors: unsupported (not built in, precision, an option unknown to it), io, invalid_model.
/// Source: onnxruntime_c_api.h.
Result<std::unique_ptr<Engine>> open_onnxruntime(Context& context, const std::string& path,
                                                 const EngineOptions& options);

/// Opens an .onnx file with OpenVINO's CPU plugin: latency hint, fp32 (it would take bf16 silently)
/// unless bf16 is asked for and the CPU has it. `extra` holds properties by their own names
/// (NUM_STREAMS=2); one that the plugin doesn't list is refused. The folder with libs/ is
/// $HASTEN_OPENVINO, or the one found by CMake.
/// Errors: as above. Source: openvino/c/openvino.h.
Result<std::unique_ptr<Engine>> open_openvino(Context& context, const std::string& path,
                                              const EngineOptions& options);

}  // namespace hasten
