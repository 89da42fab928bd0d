// Inputs made up to suit a model: which dims, which values.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <random>
#include <set>

#include "engine/ops/infer_graph.h"
#include "engine/ops/numbers.h"
#include "engine/plan/evaluate.h"
#include "measure/inputs_internal.h"

namespace hasten {

namespace {

// ---- dims -------------------------------------------------------------------------------------

enum class Role { kBatch, kChannels, kHeight, kWidth, kFrames, kSequence };

bool has_word(const std::string& name, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&name](const char* w) { return name.find(w) != name.npos; });
}

/// What a symbolic dim stands for: by its name, else by its place.
Role role_of(const Port& port, size_t d) {
  const Shape& shape = port.shape;
  std::string name = lower(shape[d].text());
  if (name.starts_with('?')) name.clear();
  if (has_word(name, {"batch"}) || name == "n" || name == "b" || name == "bs") return Role::kBatch;
  if (has_word(name, {"height"}) || name == "h") return Role::kHeight;
  if (has_word(name, {"width"}) || name == "w") return Role::kWidth;
  if (has_word(name, {"channel"}) || name == "c") return Role::kChannels;
  if (is_length_name(name)) return Role::kSequence;
  if (d == 0) return Role::kBatch;
  const size_t rank = shape.size();
  auto is_color = [](Dim dim) {
    return dim.known() && (dim.value() == 1 || dim.value() == 3 || dim.value() == 4);
  };
  if (rank == 4) {
    const bool channels_last = is_color(shape[3]) && !is_color(shape[1]);
    constexpr Role kFirst[] = {Role::kBatch, Role::kChannels, Role::kHeight, Role::kWidth};
    constexpr Role kLast[] = {Role::kBatch, Role::kHeight, Role::kWidth, Role::kChannels};
    return (channels_last ? kLast : kFirst)[d];
  }
  if (rank == 5) {
    constexpr Role kVideo[] = {Role::kBatch, Role::kChannels, Role::kFrames, Role::kHeight,
                               Role::kWidth};
    return kVideo[d];
  }
  // The state of a recurrent model: [layers, batch, hidden].
  if (rank == 3 && d == 1 && shape[0].known() && shape[2].known()) return Role::kBatch;
  return Role::kSequence;
}

/// Sizes to try for what a model leaves open, likeliest first. Some graphs take only some:
/// text-line recognizers want 48 rows, audio models whole windows.
struct Choice {
  int64_t height, width, sequence;
};
constexpr std::array kChoices = {
    Choice{224, 224, 128}, Choice{48, 320, 576},    Choice{128, 128, 512}, Choice{64, 192, 64},
    Choice{256, 256, 256}, Choice{320, 320, 32},    Choice{416, 416, 16},  Choice{512, 512, 400},
    Choice{32, 320, 1024}, Choice{640, 640, 16000}, Choice{299, 299, 1},   Choice{96, 96, 100},
    Choice{32, 32, 80},    Choice{28, 28, 8},
};

int64_t size_of(Role role, const Choice& choice) {
  switch (role) {
    case Role::kBatch:
      return 1;
    case Role::kChannels:
      return 3;
    case Role::kHeight:
      return choice.height;
    case Role::kWidth:
      return choice.width;
    case Role::kFrames:
      return 16;
    case Role::kSequence:
      return choice.sequence;
  }
  return 1;
}

struct Resolved {
  std::vector<Dims> dims;            // per port
  std::vector<std::string> assumed;  // "batch=1"
  bool open = false;                 // some other choice would give other dims
};

/// Numbers for all symbols; those that given tensors fix come first.
Resolved resolve(const std::vector<Port>& ports, const std::map<std::string, Tensor>& given,
                 const Choice& choice) {
  Resolved resolved;
  std::map<int64_t, int64_t> numbers;  // code of a symbol -> its number
  for (const Port& port : ports) {
    const auto it = given.find(port.name);
    if (it == given.end() || !port.has_shape) continue;
    for (size_t d = 0; d < port.shape.size(); ++d)
      numbers.emplace(port.shape[d].code(), it->second.dims()[d]);
  }
  for (const Port& port : ports) {
    Dims& dims = resolved.dims.emplace_back();
    if (given.contains(port.name)) {
      dims = given.at(port.name).dims();
      continue;
    }
    for (size_t d = 0; d < port.shape.size(); ++d) {
      const Dim dim = port.shape[d];
      if (dim.known()) {
        dims.push_back(dim.value());
        continue;
      }
      const Role role = role_of(port, d);
      const auto [it, fresh] = numbers.emplace(dim.code(), size_of(role, choice));
      dims.push_back(it->second);
      if (!fresh) continue;
      const std::string name = dim.text();
      resolved.assumed.push_back(name.starts_with('?')
                                     ? fmt::format("dim {} of '{}' = {}", d, port.name, it->second)
                                     : fmt::format("{} = {}", name, it->second));
      resolved.open |= role != Role::kBatch && role != Role::kChannels && role != Role::kFrames;
    }
  }
  return resolved;
}

/// Inference over the graph with these dims; the graph afterwards knows all shapes that follow.
Status infer_with(Graph& graph, const std::vector<Port>& ports, const std::vector<Dims>& dims) {
  for (ValueId id : graph.main.inputs) {
    Value& value = graph.value(id);
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name != value.name) continue;
      value.has_shape = true;
      value.shape = to_shape(dims[i]);
    }
  }
  return infer_graph(
      graph, [](const Node& node, std::span<const Tensor> in) { return evaluate_node(node, in); });
}

/// Does inference see all of the graph? Not the branch that a run will take, nor behind operators
/// we lack.
bool is_transparent(const Graph& graph) {
  return std::all_of(graph.main.nodes.begin(), graph.main.nodes.end(),
                     [](const Node& n) { return n.blocks.empty() && n.def != nullptr; });
}

// ---- values -----------------------------------------------------------------------------------

/// What an input is filled with.
struct Fill {
  enum Kind { kUniform, kIntegers, kOnes, kZeros, kCount, kValue, kText } kind = kUniform;
  int64_t limit = 0;  // kIntegers: exclusive; kValue: the value
  std::string text;   // for people
};

Fill fill_for(const Port& port, int64_t limit) {
  const std::string name = lower(port.name);
  if (port.dtype == DType::kString) return {Fill::kText, 0, "texts 'a'"};
  if (has_word(name, {"mask"}) || port.dtype == DType::kBool) return {Fill::kOnes, 0, "ones"};
  if (is_float(port.dtype)) return {Fill::kUniform, 0, "uniform in [0,1)"};
  if (has_word(name, {"token_type", "segment"})) return {Fill::kZeros, 0, "zeros"};
  if (has_word(name, {"position"})) return {Fill::kCount, limit, "0, 1, 2, …"};
  if (limit > 0) {
    return {Fill::kIntegers, limit,
            fmt::format("ids in [0,{}), the rows of the table they index", limit)};
  }
  const bool scalar = port.has_shape && port.shape.empty();
  if (scalar && (name == "sr" || has_word(name, {"sample_rate", "sampling_rate"}))) {
    return {Fill::kValue, 16000, "16000"};
  }
  const int64_t most = dtype_size(port.dtype) == 1 ? 128 : 100;
  return {Fill::kIntegers, most, fmt::format("whole numbers in [0,{})", most)};
}

template <class T>
void fill_numbers(Tensor& tensor, const Fill& fill, std::mt19937_64& random) {
  T* data = tensor.mutable_as<T>();
  const auto count = tensor.count();
  for (int64_t i = 0; i < count; ++i) {
    double x = 0;
    switch (fill.kind) {
      case Fill::kUniform:
        x = static_cast<double>(random() >> 40) * 0x1p-24;
        break;
      case Fill::kIntegers:
        x = static_cast<double>(random() % static_cast<uint64_t>(fill.limit));
        break;
      case Fill::kOnes:
        x = 1;
        break;
      case Fill::kCount:
        x = static_cast<double>(fill.limit > 0 ? i % fill.limit : i);
        break;
      case Fill::kValue:
        x = static_cast<double>(fill.limit);
        break;
      default:
        break;
    }
    if constexpr (std::is_same_v<T, Half>) {
      data[i] = to_half(static_cast<float>(x));
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      data[i] = to_bfloat16(static_cast<float>(x));
    } else {
      data[i] = static_cast<T>(x);
    }
  }
}

Result<Tensor> make_tensor(DType dtype, const Dims& dims, const Fill& fill,
                           std::mt19937_64& random) {
  HASTEN_TRY(Tensor tensor, Tensor::make(dtype, dims));
  switch (dtype) {
    case DType::kF32:
      fill_numbers<float>(tensor, fill, random);
      break;
    case DType::kF64:
      fill_numbers<double>(tensor, fill, random);
      break;
    case DType::kF16:
      fill_numbers<Half>(tensor, fill, random);
      break;
    case DType::kBF16:
      fill_numbers<BFloat16>(tensor, fill, random);
      break;
    case DType::kI8:
      fill_numbers<int8_t>(tensor, fill, random);
      break;
    case DType::kBool:
    case DType::kU8:
      fill_numbers<uint8_t>(tensor, fill, random);
      break;
    case DType::kI16:
      fill_numbers<int16_t>(tensor, fill, random);
      break;
    case DType::kU16:
      fill_numbers<uint16_t>(tensor, fill, random);
      break;
    case DType::kI32:
      fill_numbers<int32_t>(tensor, fill, random);
      break;
    case DType::kU32:
      fill_numbers<uint32_t>(tensor, fill, random);
      break;
    case DType::kI64:
      fill_numbers<int64_t>(tensor, fill, random);
      break;
    case DType::kU64:
      fill_numbers<uint64_t>(tensor, fill, random);
      break;
    case DType::kString:
      for (int64_t i = 0; i < tensor.count(); ++i)
        tensor.mutable_as<std::string>()[i] = std::string(1, 'a');
      break;
    case DType::kNone:
    case DType::kSequence:
    case DType::kOptional:
      break;  // refused by the caller
  }
  return tensor;
}

Result<Samples> make_sample(const std::vector<Port>& ports,
                            const std::map<std::string, Tensor>& given, const Resolved& resolved,
                            const Graph* graph, uint64_t seed) {
  Samples samples;
  std::vector<Tensor>& row = samples.rows.emplace_back();
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    samples.names.push_back(port.name);
    if (given.contains(port.name)) {
      row.push_back(given.at(port.name));
      continue;
    }
    int64_t limit = 0;
    for (ValueId id : graph != nullptr ? graph->main.inputs : std::vector<ValueId>()) {
      if (graph->value(id).name == port.name) limit = index_limit(*graph, id);
    }
    if (port.dtype == DType::kNone || port.dtype == DType::kSequence ||
        port.dtype == DType::kOptional) {
      return fail(Code::kUnsupported,
                  "input '{}' is {}: only tensors can be made up or read from files", port.name,
                  port.dtype == DType::kNone       ? "of no known type"
                  : port.dtype == DType::kSequence ? "a sequence"
                                                   : "an optional value");
    }
    const Fill fill = fill_for(port, limit);
    HASTEN_TRY(row.emplace_back(), make_tensor(port.dtype, resolved.dims[i], fill, random));
    samples.assumed.push_back(fmt::format("input '{}' {}{}: {}", port.name, dtype_name(port.dtype),
                                          dims_text(resolved.dims[i]), fill.text));
  }
  if (!resolved.assumed.empty()) {
    samples.assumed.push_back(fmt::format("open dims: {} (shape=NAME:DIMS or --data set them)",
                                          fmt::join(resolved.assumed, ", ")));
  }
  return samples;
}

}  // namespace

int64_t index_limit(const Graph& graph, ValueId input) {
  std::set<ValueId> seen = {input};
  std::deque<ValueId> open = {input};
  int64_t limit = 0;
  auto visit = [&](const Node& node, ValueId value) {
    constexpr std::array kPassing = {"Cast",     "Reshape", "Squeeze",  "Unsqueeze",
                                     "Identity", "Flatten", "Transpose"};
    if (node.op == "Gather" && node.input(1) == value && node.has_input(0)) {
      const Value& table = graph.value(node.input(0));
      const Shape shape = table.is_constant() ? to_shape(table.constant.dims()) : table.shape;
      int64_t axis = node.attr_int("axis", 0);
      if (axis < 0) axis += static_cast<int64_t>(shape.size());
      if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return;
      const Dim rows = shape[static_cast<size_t>(axis)];
      if (rows.known() && rows.value() > 0)
        limit = limit == 0 ? rows.value() : std::min(limit, rows.value());
    }
    if (node.input(0) != value || node.outputs.empty()) return;
    if (std::find(kPassing.begin(), kPassing.end(), node.op) == kPassing.end()) return;
    if (seen.insert(node.outputs[0]).second) open.push_back(node.outputs[0]);
  };
  const std::function<void(const Block&, ValueId)> visit_block = [&](const Block& block,
                                                                     ValueId value) {
    for (const Node& node : block.nodes) {
      visit(node, value);
      for (const auto& [name, inner] : node.blocks) visit_block(inner, value);
    }
  };
  while (!open.empty()) {
    const ValueId value = open.front();
    open.pop_front();
    visit_block(graph.main, value);
  }
  return limit;
}

Result<Samples> make_up_inputs(const std::vector<Port>& ports,
                               const std::map<std::string, Tensor>& given, const Graph* graph,
                               const InputTrial& trial, uint64_t seed) {
  for (const Port& port : ports) {
    if (!port.has_shape && !given.contains(port.name)) {
      return fail(Code::kInvalidArgument,
                  "input '{}' declares no shape: give it with --input, --data or shape={}:DIMS",
                  port.name, port.name);
    }
  }
  Error first;
  std::vector<std::vector<Dims>> tried;
  for (const Choice& choice : kChoices) {
    const Resolved resolved = resolve(ports, given, choice);
    if (std::find(tried.begin(), tried.end(), resolved.dims) != tried.end()) continue;
    tried.push_back(resolved.dims);
    std::optional<Graph> inferred;
    Status possible;
    if (graph != nullptr) {
      inferred = *graph;
      possible = infer_with(*inferred, ports, resolved.dims);
    }
    HASTEN_TRY(Samples samples,
               make_sample(ports, given, resolved, inferred ? &*inferred : nullptr, seed));
    // Nothing to choose: whatever is wrong will be said by the engine.
    if (!resolved.open) return samples;
    // Inference decides as far as it sees; what it can't judge is judged by running the model.
    const bool decided =
        graph != nullptr &&
        (possible ? is_transparent(*graph) : possible.error().code != Code::kUnsupported);
    if (!decided) possible = trial ? trial(samples) : Status();
    if (possible) return samples;
    const Code code = possible.error().code;
    if (code != Code::kInvalidModel && code != Code::kInvalidArgument && code != Code::kInternal) {
      return fail(std::move(possible.error()));  // not a matter of dims
    }
    if (tried.size() == 1) first = possible.error();
  }
  return fail(first.code,
              "no made-up inputs fit ({} kinds of dims tried; the first: {}): give --data, --input "
              "or shape=",
              tried.size(), first.message);
}

}  // namespace hasten
