// From a symbolic graph and concrete input shapes to steps that can run: the Plan.
//
// A plan is a tree of segments. A segment ends where the graph is done, or where the shapes of what
// follows depend on elements that only exist at run time (the condition of an If, the target of a
// Reshape, the result of NonZero): the run reads them, and goes on in the child made for them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/ops/infer_graph.h"
#include "engine/ops/op.h"
#include "engine/ops/packed.h"
#include "engine/plan/step_info.h"

namespace hasten {

/// Where a value lives while a plan runs.
struct Place {
  enum Kind : uint8_t { kNowhere, kArena, kConstant, kInput, kOutput, kHeap };
  Kind kind = kNowhere;
  int depth = 0;       // kArena: which segment's arena
  int64_t offset = 0;  // kArena: bytes; while a segment is being built: number of its storage
  int index = 0;       // kInput, kOutput: position; kHeap: value id
  const void* data = nullptr;  // kConstant
};

/// One entry of a plan: a kernel with its operands.
struct Step {
  const Node* node = nullptr;
  StepInfo info;
  StepFn run;  // empty: the reference runs
  std::vector<Place> in, out;
  std::vector<Facts> in_facts, out_facts;  // kept only where the reference runs
  Place scratch;
  double ns = 0;               // one thread's time, a guess
  double share_within_ns = 0;  // how far other threads may be to pay; see worth_sharing_within_ns
};

/// The next value-dependent point of a path, and how far inference got.
struct Path {
  struct Frame {
    const Block* block;
    size_t next = 0;
    const Node* caller = nullptr;  // the If whose branch this is
  };
  const Block* root = nullptr;  // whose outputs are those of the plan
  std::vector<Facts> facts;     // by value id
  std::vector<Place> places;    // by value id
  std::vector<Frame> stack;
  int depth = 0;
  bool values_read = false;  // the node at the top has had its inputs read already
};

/// Copies a value that came to lie elsewhere into an output of the graph.
struct OutputCopy {
  Place from;
  int output;
  size_t bytes;
};

struct Segment {
  enum class End { kDone, kReadValues, kDynamic };

  std::vector<Step> steps;
  std::vector<Tensor> constants;  // kept alive for Place::data
  PackedStore packed;             // constants that follow from these shapes
  int depth = 0;
  size_t arena_bytes = 0;
  struct Output {
    int index;
    DType dtype;
    Dims dims;
  };
  std::vector<Output> outputs;  // whose shape became known here
  std::vector<OutputCopy> copies;

  End end = End::kDone;
  const Node* end_node = nullptr;  // kDynamic: runs by itself and allocates its outputs
  std::vector<ValueId> read;       // kReadValues
  std::unique_ptr<Path> path;      // where the children go on; null when done
  std::mutex mutex;                // guards children
  std::map<std::string, std::shared_ptr<Segment>> children;
};

/// What all plans of a model share.
struct PlanContext {
  const Graph* graph = nullptr;
  const KernelTable* kernels = nullptr;
  PackedStore* packed = nullptr;
  Evaluator evaluate;
  bool exact_math = false;
  bool reference_only = false;
  int threads = 1;
};

/// The path at the start of a block (the graph's main one, or the body of a loop) where these
/// values, by id, are given from outside: `ids[i]` is input i and has the facts `inputs[i]`.
Path start_path(const PlanContext& context, const Block& block, std::span<const ValueId> ids,
                std::span<const Facts> inputs);

/// Builds the segment that starts at `path`. Errors: those of infer and lower; invalid_model naming
/// the node.
Result<std::shared_ptr<Segment>> build_segment(const PlanContext& context, Path path);

/// Places storages of given sizes and lifetimes (steps, inclusive) so that no two that are alive
/// together overlap: greedy by size, lowest fitting offset (Pisarchyk and Lee 2020, "Efficient
/// memory management for deep neural net inference", greedy by size). Returns the total.
struct Storage {
  int64_t bytes = 0;
  int first = 0, last = 0;
  int64_t offset = 0;  // result, a multiple of 64
};
int64_t place_storages(std::vector<Storage>& storages);

/// The plan as text: one line a step, with kernel, operands, places.
std::string print_segment(const Segment& segment);

}  // namespace hasten
