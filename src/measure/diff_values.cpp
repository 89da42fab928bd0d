#include "measure/diff_values.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/mapped_file.h"
#include "engine/exec/native.h"
#include "engine/onnx/proto.h"
#include "measure/diff_outputs.h"

namespace hasten {

namespace {

/// Values that nodes of the main graph make, as tensors, in the order of the nodes.
std::vector<ValueId> inner_values(const Graph& graph) {
  std::vector<ValueId> ids;
  for (const Node& node : graph.main.nodes) {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const DType dtype = graph.value(id).dtype;
      if (dtype != DType::kSequence && dtype != DType::kOptional) ids.push_back(id);
    }
  }
  return ids;
}

Result<std::unique_ptr<Engine>> open_native(Context& context, const TappedModel& model) {
  Graph graph = model.graph;
  graph.main.outputs = inner_values(graph);
  EngineOptions options = model.options;
  options.enable_passes = false;
  HASTEN_TRY(auto engine, NativeEngine::compile(context, std::move(graph), options));
  return engine;
}

void append_field(std::string& message, int number, const std::string& bytes) {
  const auto varint = [&message](size_t value) {
    for (; value >= 128; value >>= 7) message += static_cast<char>(value | 128);
    message += static_cast<char>(value);
  };
  varint(static_cast<size_t>(number) << 3 | 2);
  varint(bytes.size());
  message += bytes;
}

/// Where the fields of a message lie that was read without an error before: (number, all of it,
/// what it holds if it is bytes).
struct FieldBytes {
  size_t number;
  std::string_view whole, held;
};
std::vector<FieldBytes> split_fields(std::string_view message) {
  std::vector<FieldBytes> fields;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<uint64_t>(byte & 127) << (shift & 63);
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.size()) {
    const size_t begin = at;
    const uint64_t tag = varint();
    size_t held = 0;
    if ((tag & 7) == 0) {
      varint();
    } else {
      held = (tag & 7) == 2 ? static_cast<size_t>(varint()) : (tag & 7) == 1 ? 8 : 4;
      held = std::min(held, message.size() - at);
      at += held;
    }
    fields.push_back({static_cast<size_t>(tag >> 3), message.substr(begin, at - begin),
                      message.substr(at - held, held)});
  }
  return fields;
}

/// A file of this process, gone with it.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "hasten-XXXXXX.onnx").string();
    const int file = ::mkstemps(path_.data(), 5);
    if (file >= 0) ::close(file);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The values that a peer can show. OpenVINO computes shapes its own way and keeps none of them.
Result<std::set<std::string>> shown_by_peer(const TappedModel& model) {
  Graph graph = model.graph;
  HASTEN_CHECK(infer_graph(graph, {}));
  std::set<std::string> names;
  for (ValueId id : inner_values(graph)) {
    const Value& v = graph.value(id);
    if (model.options.kind != EngineKind::kOpenVino || is_float(v.dtype)) names.insert(v.name);
  }
  return names;
}

/// A copy of the model's file with inner values as outputs.
Status write_tapped(const TappedModel& model, const std::string& to) {
  HASTEN_TRY(const std::set<std::string> shown, shown_by_peer(model));
  HASTEN_TRY(const MappedFile file, MappedFile::open(model.path));
  HASTEN_TRY(const onnx::ModelProto proto, onnx::read_model(file.bytes()));
  std::set<std::string_view> outputs;
  for (const auto& t : proto.graph.initializers) {
    if (t.data_location == 0) continue;
    return fail(Code::kUnsupported,
                "'{}' has external data: its inner values can only be read from engine=native",
                model.path);
  }
  for (const auto& output : proto.graph.outputs) outputs.insert(output.name);
  std::string more;
  for (const auto& node : proto.graph.nodes) {
    for (std::string_view name : node.outputs) {
      if (!shown.count(std::string(name)) || !outputs.insert(name).second) continue;
      std::string info;
      append_field(info, 1, std::string(name));
      append_field(more, 12, info);
    }
  }
  std::ofstream out(to, std::ios::binary);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  for (const FieldBytes& field : split_fields(bytes)) {
    if (field.number != 7) {
      out << field.whole;
      continue;
    }
    std::string graph;
    append_field(graph, 7, std::string(field.held) + more);
    out << graph;
  }
  out.close();
  if (!out) return fail(Code::kIo, "cannot write '{}'", to);
  return {};
}

struct Side {
  std::unique_ptr<TemporaryFile> file;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Runner> runner;
  std::map<std::string, size_t> outputs;  // by name
};

Result<Side> open_side(Context& context, const TappedModel& model) {
  Side side;
  if (model.options.kind == EngineKind::kNative) {
    HASTEN_TRY(side.engine, open_native(context, model));
  } else {
    side.file = std::make_unique<TemporaryFile>();
    HASTEN_CHECK(write_tapped(model, side.file->path()));
    HASTEN_TRY(side.engine, open_engine(context, side.file->path(), model.options));
  }
  HASTEN_TRY(side.runner, side.engine->make_runner());
  const auto& ports = side.engine->outputs();
  for (size_t i = 0; i < ports.size(); ++i) side.outputs.emplace(ports[i].name, i);
  return side;
}

}  // namespace

Result<ValueDiffs> diff_values(Context& context, const TappedModel& a, const TappedModel& b,
                               std::span<const InputSet> sets_a, std::span<const InputSet> sets_b,
                               double tolerance, const MeasureControl& control) {
  HASTEN_TRY(Side side_a, open_side(context, a));
  HASTEN_TRY(Side side_b, open_side(context, b));
  struct Common {
    ValueDiff diff;
    size_t at_a, at_b;
    OutputDiffer differ;
  };
  std::vector<Common> values;
  for (const Node& node : a.graph.main.nodes) {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const std::string& name = a.graph.value(id).name;
      const auto in_a = side_a.outputs.find(name), in_b = side_b.outputs.find(name);
      if (in_a == side_a.outputs.end() || in_b == side_b.outputs.end()) continue;
      values.push_back({{node.name, node.op, name, 0, 0, ""}, in_a->second, in_b->second, {}});
    }
  }
  ValueDiffs diffs;
  for (size_t i = 0; i < sets_a.size(); ++i) {
    diffs.interrupted = control.stopped();
    if (diffs.interrupted) break;
    HASTEN_CHECK(side_a.runner->bind(sets_a[i]));
    HASTEN_CHECK(side_a.runner->run());
    HASTEN_CHECK(side_b.runner->bind(sets_b[i]));
    HASTEN_CHECK(side_b.runner->run());
    for (Common& value : values) {
      value.differ.add({&side_a.runner->outputs()[value.at_a], 1},
                       {&side_b.runner->outputs()[value.at_b], 1});
    }
    ++diffs.samples;
  }
  if (diffs.samples == 0) return diffs;
  diffs.compared = values.size();
  for (Common& value : values) {
    const OutputDiff d = value.differ.result();
    value.diff.max_abs = d.max_abs.value_or(0);
    value.diff.max_rel = d.max_rel.value_or(0);
    if (!d.max_abs) value.diff.reason = d.reason;
    diffs.worst_rel = std::max(diffs.worst_rel, value.diff.max_rel);
    if (!d.max_abs || !(value.diff.max_rel <= tolerance)) {
      diffs.different.push_back(std::move(value.diff));
    }
  }
  return diffs;
}

}  // namespace hasten
