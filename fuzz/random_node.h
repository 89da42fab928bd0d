// One operator and what it is run on, made of bytes.
#pragma once

#include <optional>

#include "fuzz/choices.h"
#include "tests/ops/op_run.h"

namespace hasten::fuzz {

struct RandomNode {
  test::OpCase op;
  /// Values at which an ulp decides between a number and infinity, or what a sum gives.
  bool extreme = false;
};

/// Any row of the table of operators, with inputs and attributes that it may like: what infer()
/// makes of it is part of the test. Nothing for operators that only run in a graph.
std::optional<RandomNode> random_node(Choices& c);

}  // namespace hasten::fuzz
