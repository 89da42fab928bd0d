// Pieces of inputs.h that its files share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/inputs.h"

namespace hasten {

/// The samples of a .npz file or of a folder of them.
Result<Samples> load_data(const std::vector<Port>& ports, const std::string& path);

/// One sample: the tensors of `given`, and for the other inputs what suits the model.
Result<Samples> make_up_inputs(const std::vector<Port>& ports,
                               const std::map<std::string, Tensor>& given, const Graph* graph,
                               const InputTrial& trial, uint64_t seed);

/// Can a tensor of these dims be this input?
bool fits(const Port& port, const Dims& dims);

/// The tensor as the port wants it (bfloat16 comes as the uint16 of its bits).
/// Error: invalid_argument for another dtype; `source` says where it is from.
Result<Tensor> with_dtype(const Port& port, Tensor tensor, const std::string& source);

/// "f32[batch,3]"
std::string port_type(const Port& port);

/// Is this the name of a length (sequence_length, time, frames), rather than of a batch?
bool is_length_name(const std::string& symbol);

/// ASCII lower case.
std::string lower(std::string text);

}  // namespace hasten
