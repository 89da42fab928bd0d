// One node, run by itself: constant folding, shape arithmetic, tests of operators.
#pragma once

#include <span>
#include <vector>

#include "engine/ops/op.h"

namespace hasten {

struct EvaluateOptions {
  const KernelTable* kernels = nullptr;  // null: the reference
  ThreadPool* pool = nullptr;
  bool exact_math = false;
  std::string* kernel_used = nullptr;  // out: "reference" or the kernel's name
};

/// Infers, then runs the kernel that the node lowers to (so that folded bits equal run-time bits),
/// or its reference. Inputs are plain; absent ones are empty tensors. Nodes with blocks are
/// refused.
Result<std::vector<Tensor>> evaluate_node(const Node& node, std::span<const Tensor> inputs,
                                          const EvaluateOptions& options = {});

}  // namespace hasten
