// What a model is run on: files that a user names, or inputs made up to suit the model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/exec/engine.h"
#include "engine/ir/graph.h"
#include "measure/timed.h"

namespace hasten {

/// Samples for a model, each with one tensor per input.
struct Samples {
  std::vector<std::string> names;         // of the inputs
  std::vector<std::vector<Tensor>> rows;  // [sample][input]; never empty
  Tensor label;                           // [samples, ...]; empty() where there is none
  std::vector<std::string> assumed;       // what was made up or decided, for people: one line each

  /// Views in the order of these ports, which may be those of another engine or model.
  /// Error: invalid_argument, naming the inputs that are missing or left over.
  Result<std::vector<InputSet>> sets(const std::vector<Port>& ports) const;
};

/// What the user asked for; all empty: made up.
struct InputRequest {
  std::vector<std::string> inputs;  // "NAME=file.npy" or "NAME=random"
  std::string data;                 // file.npz, or a folder of such files with one sample each
  uint64_t seed = 1;                // of what is made up
};

/// Is each input NAME=file.npy or NAME=random, named once, and not beside `data`? Says nothing of
/// files and models. Error: invalid_argument.
Status check_request(const InputRequest& request);

/// Runs the model once: made-up dims are accepted only if that works. Called only where the model
/// leaves dims open and inference over its graph doesn't decide.
using InputTrial = std::function<Status(const Samples&)>;

/// `graph` is the model as loaded, null where that failed; it tells the range of ids and which dims
/// can't be. The rule for `data`: axis 0 of an array is the samples, unless the declared shape says
/// otherwise: an input of rank r without a batch axis (its first dim is a number other than 1, or
/// named after a length) is one constant if given with rank r, and per sample with rank r + 1.
/// Errors: io, invalid_argument (names, dtypes, ranks, dims: listing what the model wants).
Result<Samples> gather_inputs(const std::vector<Port>& ports, const InputRequest& request,
                              const Graph* graph, const InputTrial& trial);

/// The range [0, limit) of the values that make sense for an integer input: the rows of the tables
/// it indexes (Gather), followed through casts and reshapes. 0: nothing indexes with it.
int64_t index_limit(const Graph& graph, ValueId input);

/// "input 'ids' i64[batch,128], input 'mask' i64[batch,128]": what a model wants, for messages.
std::string describe_ports(const std::vector<Port>& ports);

}  // namespace hasten
