#include "measure/inputs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/ir/npy.h"
#include "measure/inputs_internal.h"

namespace hasten {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string port_type(const Port& port) {
  return dtype_name(port.dtype) + (port.has_shape ? shape_text(port.shape) : std::string("[…]"));
}

std::string describe_ports(const std::vector<Port>& ports) {
  if (ports.empty()) return "no inputs";
  std::string text;
  for (const Port& p : ports) {
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", p.name, port_type(p));
  }
  return text;
}

bool fits(const Port& port, const Dims& dims) {
  if (!port.has_shape) return true;
  if (dims.size() != port.shape.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (port.shape[d].known() && port.shape[d].value() != dims[d]) return false;
  }
  return true;
}

namespace {

/// f32 -> "float32", as numpy has it; bfloat16 travels as uint16.
std::string numpy_name(DType dtype) {
  const std::string name = dtype_name(dtype);
  if (dtype == DType::kBF16) return "bfloat16, saved as its bits in uint16";
  const bool sized = name.size() > 1 && name[1] >= '0' && name[1] <= '9';
  if (!sized) return name;
  const char* word = name[0] == 'f' ? "float" : name[0] == 'u' ? "uint" : "int";
  return word + name.substr(1);
}

}  // namespace

Result<Tensor> with_dtype(const Port& port, Tensor tensor, const std::string& source) {
  if (tensor.dtype() == port.dtype) return tensor;
  if (port.dtype == DType::kBF16 && tensor.dtype() == DType::kU16) {
    auto owner = std::make_shared<Tensor>(std::move(tensor));
    return Tensor::borrow(DType::kBF16, owner->dims(), owner->data(), owner);
  }
  return fail(Code::kInvalidArgument, "{}: input '{}' wants {}, got {}{}: cast it to {}", source,
              port.name, port_type(port), dtype_name(tensor.dtype()), dims_text(tensor.dims()),
              numpy_name(port.dtype));
}

Result<std::vector<InputSet>> Samples::sets(const std::vector<Port>& ports) const {
  std::vector<size_t> index;
  for (const Port& port : ports) {
    const auto it = std::find(names.begin(), names.end(), port.name);
    if (it == names.end()) {
      return fail(Code::kInvalidArgument, "input '{}' is not given; the model wants {}", port.name,
                  describe_ports(ports));
    }
    index.push_back(static_cast<size_t>(it - names.begin()));
  }
  if (index.size() != names.size()) {
    return fail(Code::kInvalidArgument, "{} inputs are given, the model wants {}", names.size(),
                describe_ports(ports));
  }
  std::vector<InputSet> sets;
  for (const std::vector<Tensor>& row : rows) {
    InputSet set;
    for (size_t i = 0; i < ports.size(); ++i) {
      const Tensor& tensor = row[index[i]];
      if (tensor.dtype() != ports[i].dtype || !fits(ports[i], tensor.dims())) {
        return fail(Code::kInvalidArgument, "input '{}' is {}{}, the model wants {}", ports[i].name,
                    dtype_name(tensor.dtype()), dims_text(tensor.dims()), port_type(ports[i]));
      }
      set.push_back(tensor.view());
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

namespace {

/// Reads the files of `--input NAME=file.npy`; `random` ones stay out of the result.
Result<std::map<std::string, Tensor>> read_inputs(const std::vector<Port>& ports,
                                                  const std::vector<std::string>& inputs) {
  std::map<std::string, Tensor> given;
  std::vector<std::string> named;
  for (const std::string& text : inputs) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), source = text.substr(equals + 1);
    const auto port =
        std::find_if(ports.begin(), ports.end(), [&name](const Port& p) { return p.name == name; });
    if (port == ports.end()) {
      return fail(Code::kInvalidArgument, "--input {}: the model has no such input; it wants {}",
                  name, describe_ports(ports));
    }
    named.push_back(name);
    if (source == "random") continue;
    HASTEN_TRY(Tensor tensor, read_npy(source));
    HASTEN_TRY(tensor, with_dtype(*port, std::move(tensor), source));
    if (!fits(*port, tensor.dims())) {
      return fail(Code::kInvalidArgument, "{}: input '{}' wants {}, got {}{}", source, name,
                  port_type(*port), dtype_name(tensor.dtype()), dims_text(tensor.dims()));
    }
    given[name] = std::move(tensor);
  }
  for (const Port& port : ports) {
    if (std::find(named.begin(), named.end(), port.name) == named.end()) {
      return fail(Code::kInvalidArgument,
                  "input '{}' is not given (--input {}=random makes it up); the model wants {}",
                  port.name, port.name, describe_ports(ports));
    }
  }
  return given;
}

}  // namespace

Status check_request(const InputRequest& request) {
  if (!request.data.empty() && !request.inputs.empty())
    return fail(Code::kInvalidArgument, "--data and --input exclude each other");
  std::set<std::string> named;
  for (const std::string& text : request.inputs) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      return fail(Code::kInvalidArgument, "--input {}: want NAME=file.npy or NAME=random", text);
    if (!named.insert(text.substr(0, equals)).second)
      return fail(Code::kInvalidArgument, "--input {}: given twice", text.substr(0, equals));
  }
  return {};
}

// NaN and infinity spread, so that outputs show nothing; a kernel may take longer over them.
static void note_not_finite(Samples& samples) {
  for (size_t i = 0; i < samples.names.size(); ++i) {
    const auto bad = std::count_if(samples.rows.begin(), samples.rows.end(), [&](const auto& row) {
      if (row[i].dtype() != DType::kF32) return false;
      const float* x = row[i].template as<float>();
      return !std::all_of(x, x + row[i].count(), [](float v) { return std::isfinite(v); });
    });
    if (bad > 0) {
      samples.assumed.push_back(fmt::format("input '{}' holds NaN or infinity in {} of {} samples",
                                            samples.names[i], bad, samples.rows.size()));
    }
  }
}

Result<Samples> gather_inputs(const std::vector<Port>& ports, const InputRequest& request,
                              const Graph* graph, const InputTrial& trial) {
  HASTEN_CHECK(check_request(request));
  if (!request.data.empty()) {
    HASTEN_TRY(Samples samples, load_data(ports, request.data));
    note_not_finite(samples);
    return samples;
  }
  std::map<std::string, Tensor> given;
  if (!request.inputs.empty()) {
    HASTEN_TRY(given, read_inputs(ports, request.inputs));
  }
  HASTEN_TRY(Samples samples, make_up_inputs(ports, given, graph, trial, request.seed));
  note_not_finite(samples);
  return samples;
}

}  // namespace hasten
