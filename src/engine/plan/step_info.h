// What observers, `explain` and reports see of a step.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hasten {

/// One step of a compiled model as an observer and `explain` see it.
struct StepInfo {
  std::string name;                                          // the node's, or a made-up one
  std::string op;                                            // "Conv"
  std::string kernel;                                        // "conv_nchw16c_f32"
  std::vector<std::string> inputs, outputs;                  // "f32[1,64,56,56] nchw16c"
  std::vector<std::pair<std::string, std::string>> refused;  // kernel, reason
  bool reference = false;                                    // runs on the plain-loop oracle
  double flops = 0;                                          // per run
  double bytes = 0;  // read and written per run, each tensor once
};

/// Bytes that an op reads of its first input: a gather or a slice no more than it puts out, the
/// others all of it.
inline double first_input_bytes(std::string_view op, double input_bytes, double output_bytes) {
  for (const char* part : {"Gather", "GatherElements", "GatherND", "Slice"}) {
    if (op == part) return std::min(input_bytes, output_bytes);
  }
  return input_bytes;
}

}  // namespace hasten
