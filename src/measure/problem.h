// Problem lists: single operators with shapes, one a line, that are checked and timed.
//
//   # ResNet-50, res2a_branch2b
//   Conv 1x64x56x56 w:64x64x3x3 w:64 pads=[1,1,1,1] then=Relu math=exact
//
// A line is an operator as graph text names it (Conv, hasten::Silu), its operands in order, then
// KEY=VALUE. Operands:
//   1x64x56x56        an input of the model, f32; u8:1x64x56x56 of another dtype
//   w:64x64x3x3       a weight: a constant with random elements; w:i8:64x64
//   =0.05  u8:=128    a constant with that one element (no dims); i64:=[1,2] a list
//   _                 left out
// Keys other than these are attributes of the operator (2, 0.5, [1,1], word):
//   then=Relu,Add     what follows in the model and may be fused: Add (to another input), Relu6,
//                     Silu, or an operator of one input
//   math=exact        as in a target      layout=nchw16c    images come and go blocked
//   outputs=3         of the operator     tolerance=1e-4    of the largest |output|, of the check
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace hasten {

struct Operand {
  enum Kind : uint8_t { kAbsent, kInput, kWeight, kScalar, kList } kind = kInput;
  DType dtype = DType::kF32;
  Dims dims;                   // kInput, kWeight
  std::vector<double> values;  // kScalar (one), kList
};

struct Problem {
  std::string file;
  int line = 0;      // from 1
  std::string text;  // the line without comment and superfluous blanks
  std::string op;    // "Conv", "hasten::Silu"
  std::vector<Operand> operands;
  std::string attributes;  // "strides=[1,1], mode=\"linear\"": as graph text has them
  std::vector<std::string> then;
  int64_t outputs = 1;
  bool exact_math = false;
  bool blocked = false;             // layout=nchw16c
  std::optional<double> tolerance;  // nothing: default_tolerance

  std::string place() const { return file + ":" + std::to_string(line); }
};

/// The problems of a list; `file` is for messages. Errors: invalid_argument, naming file and line,
/// what is wrong and what would be right; a list without a problem is one.
Result<std::vector<Problem>> parse_problems(std::string_view text, const std::string& file);

/// A problem as a model, and inputs for it: in the order of graph.main.inputs.
struct BuiltProblem {
  Graph graph;
  std::vector<Tensor> inputs;
};

/// Random elements are the same for the same seed; weights are scaled so that sums stay about as
/// large as what goes in. The node is called "problem"; reorders around it end in ".reorder".
/// `plain`: without the layout that the problem asks for, as references want it. Errors: those of
/// inference, out_of_memory; naming file and line.
Result<BuiltProblem> build_problem(const Problem& problem, bool plain, uint64_t seed);

}  // namespace hasten
