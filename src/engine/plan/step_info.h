// What observers, `explain` and reports see of a step.
#pragma once

#include <string>
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

}  // namespace hasten
