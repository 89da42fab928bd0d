// The node tests that ONNX ships, those of libonnx-testdata and those that tools/node_tests writes:
// every one gives the right answer, on the references, on the kernels of every tier and through a
// plan file, or is refused by name. Random ones are judged by their distribution.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/cache_dir.h"
#include "engine/exec/native.h"
#include "engine/onnx/load.h"
#include "engine/plan/plan_file.h"
#include "tests/ops/op_harness.h"
#include "tests/ops/support_page.h"

namespace hasten::test {

namespace {

namespace fs = std::filesystem;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A field of a protobuf message that holds bytes.
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length >= 128; length >>= 7) out += static_cast<char>(length | 128);
  return out + static_cast<char>(length) + bytes;
}

/// The bytes of each field of that number in a message whose other fields are varints or bytes.
std::vector<std::string> fields_of(const std::string& message, int number) {
  std::vector<std::string> found;
  size_t at = 0;
  const auto varint = [&] {
    size_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<size_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.size()) {
    const size_t tag = varint(), value = varint();
    if ((tag & 7) != 2) continue;
    if (static_cast<int>(tag >> 3) == number) found.push_back(message.substr(at, value));
    at += value;
  }
  return found;
}

/// A TensorProto: read as the value of a Constant, the only node of a model.
Result<Tensor> read_tensor(const std::string& bytes) {
  const std::string opset("\x42\x02\x10\x15", 4), ir_version("\x08\x08", 2);
  const std::string is_tensor("\xa0\x01\x04", 3);
  const std::string attribute = field(1, "value") + field(5, bytes) + is_tensor;
  const std::string node = field(2, "y") + field(4, "Constant") + field(5, attribute);
  const std::string graph = field(1, node) + field(2, "g") + field(12, field(1, "y"));
  const std::string model = ir_version + field(7, graph) + opset;
  HASTEN_TRY(const Graph loaded, load_onnx_bytes(std::as_bytes(std::span(model))));
  for (const Value& v : loaded.values) {
    if (v.is_constant()) return v.constant;
  }
  return fail(Code::kUnsupported, "not a tensor");
}

/// A file with a TensorProto, a SequenceProto or an OptionalProto.
Result<Tensor> read_value(const std::string& bytes, DType dtype) {
  if (dtype == DType::kSequence) {
    const auto items = fields_of(bytes, 3);
    HASTEN_TRY(Tensor t, Tensor::make(dtype, {static_cast<int64_t>(items.size())}));
    for (size_t i = 0; i < items.size(); ++i) {
      HASTEN_TRY(t.mutable_as<Tensor>()[i], read_tensor(items[i]));
    }
    return t;
  }
  if (dtype == DType::kOptional) {
    const auto tensors = fields_of(bytes, 3), sequences = fields_of(bytes, 5);
    const bool there = !tensors.empty() || !sequences.empty();
    HASTEN_TRY(Tensor t, Tensor::make(dtype, {there ? 1 : 0}));
    if (!tensors.empty()) {
      HASTEN_TRY(*t.mutable_as<Tensor>(), read_tensor(tensors[0]));
    } else if (there) {
      HASTEN_TRY(*t.mutable_as<Tensor>(), read_value(sequences[0], DType::kSequence));
    }
    return t;
  }
  return read_tensor(bytes);
}

/// The values of a graph's inputs or outputs: input_0.pb, input_1.pb, …
Result<std::vector<Tensor>> read_values(const fs::path& folder, const std::string& stem,
                                        const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Tensor> tensors;
  for (size_t i = 0;; ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", stem, i);
    if (!fs::exists(path)) return tensors;
    const DType dtype = i < ids.size() ? graph.value(ids[i]).dtype : DType::kNone;
    HASTEN_TRY(Tensor t, read_value(read_bytes(path), dtype));
    if (t.dtype() == DType::kU16 && dtype == DType::kBF16) {
      // Older files hold bfloat16 as the bits of uint16.
      TensorView view = t.view();
      view.dtype = dtype;
      HASTEN_TRY(t, Tensor::copy(view));
    }
    tensors.push_back(std::move(t));
  }
}

/// As ONNX's own runner compares; of halves, two units in the last place.
std::string value_difference(const Tensor& got, const Tensor& want) {
  const double share = got.dtype() == DType::kBF16  ? 1.0 / 64
                       : got.dtype() == DType::kF16 ? 1.0 / 512
                                                    : 1e-3;
  const bool tensors = got.dtype() == DType::kSequence || got.dtype() == DType::kOptional;
  if (!tensors || got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return difference(got, want, {share, 1e-6});
  }
  for (int64_t i = 0; i < got.count(); ++i) {
    const std::string text = value_difference(got.as<Tensor>()[i], want.as<Tensor>()[i]);
    if (!text.empty()) return fmt::format("tensor {}: {}", i, text);
  }
  return "";
}

/// Does a node draw random numbers?
bool is_random(const Graph& graph) {
  return std::any_of(graph.main.nodes.begin(), graph.main.nodes.end(), [](const Node& n) {
    const bool inference = n.op == "Dropout" && n.inputs.size() < 3;
    return n.def != nullptr && n.def->impure && !inference;
  });
}

struct Moments {
  double min = INFINITY, max = -INFINITY, mean = 0, deviation = 0;
};
Moments moments_of(const Tensor& t) {
  Moments m;
  const std::vector<double> values = numbers_of(t);
  const auto n = static_cast<double>(values.size());
  for (const double v : values) {
    m.min = std::min(m.min, v);
    m.max = std::max(m.max, v);
    m.mean += v / n;
  }
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// "" or how two draws of one distribution differ: in dtype, dims, range (where the wanted one has
/// two values, only those may come) or mean.
std::string random_difference(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) return difference(got, want);
  if (want.count() == 0) return "";
  const Moments g = moments_of(got), w = moments_of(want);
  const std::vector<double> values = numbers_of(want);
  const bool two_valued =
      std::all_of(values.begin(), values.end(), [&](double v) { return v == w.min || v == w.max; });
  for (const double v : numbers_of(got)) {
    const double margin = two_valued ? 0 : w.max - w.min;
    if (!(v >= w.min - margin && v <= w.max + margin) || (two_valued && v != w.min && v != w.max)) {
      return fmt::format("{} is no value of a distribution from {} to {}", v, w.min, w.max);
    }
  }
  // Five deviations of the difference of two means.
  const double allowed =
      5 * std::max(g.deviation, w.deviation) * std::sqrt(2.0 / static_cast<double>(want.count()));
  if (std::abs(g.mean - w.mean) <= allowed) return "";
  return fmt::format("mean {}, wanted {} within {}", g.mean, w.mean, allowed);
}

struct Way {
  std::string name;
  const char* isa;
  EngineOptions options;
  /// Inputs from this one on are constants of the model, as weights are.
  size_t first_constant = SIZE_MAX;
  bool by_plan_file = false;
};

/// Puts constants in the place of inputs and removes those from the inputs' values.
void fix_inputs(Graph& graph, size_t first, std::vector<Tensor>& inputs) {
  std::vector<ValueId> ids;
  std::vector<Tensor> left;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph.main.inputs[i];
    const DType dtype = inputs[i].dtype();
    if (i < first || dtype == DType::kSequence || dtype == DType::kOptional) {
      ids.push_back(id);
      left.push_back(inputs[i]);
      continue;
    }
    Value& value = graph.value(id);
    value.has_shape = true;
    value.shape = to_shape(inputs[i].dims());
    value.constant = inputs[i];
  }
  graph.main.inputs = ids;
  inputs = left;
}

/// The engine of a graph that is written as a plan file and read again.
Result<std::unique_ptr<Engine>> through_plan_file(Context& context, const NativeEngine& native) {
  const std::string path = fmt::format("{}/hasten_node_{}.hplan", testing::TempDir(), getpid());
  HASTEN_CHECK(
      save_plan(path, native.graph(), native.packed(), isa_name(context.isa()), "hash", false));
  auto mapped = open_engine(context, path, native.options());
  fs::remove(path);
  return mapped;
}

/// Runs one set of inputs and compares with the outputs wanted.
Status run_set(Context& context, const Way& way, Graph graph, const fs::path& data) {
  HASTEN_TRY(auto inputs, read_values(data, "input", graph, graph.main.inputs));
  HASTEN_TRY(const auto want, read_values(data, "output", graph, graph.main.outputs));
  const bool random = is_random(graph);
  if (inputs.size() != graph.main.inputs.size()) {
    return fail(Code::kInternal, "{} inputs, the model has {}", inputs.size(),
                graph.main.inputs.size());
  }
  fix_inputs(graph, way.first_constant, inputs);
  HASTEN_TRY(std::unique_ptr<Engine> engine,
             NativeEngine::compile(context, std::move(graph), way.options));
  if (way.by_plan_file) {
    HASTEN_TRY(engine, through_plan_file(context, static_cast<const NativeEngine&>(*engine)));
  }
  HASTEN_TRY(const auto runner, engine->make_runner());
  std::vector<TensorView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  HASTEN_CHECK(runner->bind(views));
  HASTEN_CHECK(runner->run());
  const auto outputs = runner->outputs();
  if (outputs.size() != want.size()) {
    return fail(Code::kInternal, "{} outputs, wanted {}", outputs.size(), want.size());
  }
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor got = Tensor::borrow(outputs[i].dtype, outputs[i].dims, outputs[i].data, nullptr);
    const std::string text =
        random ? random_difference(got, want[i]) : value_difference(got, want[i]);
    if (!text.empty()) return fail(Code::kInternal, "output {}: {}", i, text);
  }
  return {};
}

Status run_one(Context& context, const Way& way, const fs::path& folder) {
  const std::string path = (folder / "model.onnx").string();
  // As a user does; what is refused is refused here.
  HASTEN_CHECK(open_engine(context, path, way.options));
  for (int set = 0;; ++set) {
    const fs::path data = folder / fmt::format("test_data_set_{}", set);
    if (!fs::exists(data)) return {};
    HASTEN_TRY(Graph graph, load_onnx(path));
    HASTEN_CHECK(run_set(context, way, std::move(graph), data));
  }
}

/// Sets HASTEN_ISA while it lives.
class IsaSetting {
 public:
  IsaSetting() {
    if (const char* old = std::getenv("HASTEN_ISA")) old_ = old;
  }
  ~IsaSetting() {
    if (old_) {
      set(old_->c_str());
    } else {
      ::unsetenv("HASTEN_ISA");
    }
  }
  void set(const char* isa) { ::setenv("HASTEN_ISA", isa, 1); }

 private:
  std::optional<std::string> old_;
};

/// The references; the kernels of every tier of this CPU, also with all inputs but the first as
/// weights; and on the best of them such weights through a plan file, and everything folded.
std::vector<Way> all_ways() {
  std::vector<Way> ways(1);
  ways[0].name = "reference";
  ways[0].isa = isa_name(supported_isas().back());
  ways[0].options.reference_only = true;
  ways[0].options.enable_passes = false;
  for (const Isa isa : supported_isas()) {
    Way way{isa_name(isa), isa_name(isa), {}};
    way.options.threads = 2;
    ways.push_back(way);
    way.name += ", weights";
    way.first_constant = 1;
    ways.push_back(way);
  }
  ways.push_back(ways.back());
  ways.back().name = "plan file, weights";
  ways.back().by_plan_file = true;
  ways.push_back(ways[ways.size() - 2]);
  ways.back().name = "folded";
  ways.back().first_constant = 0;
  return ways;
}

/// A case that contradicts itself: what it must be refused with, and why.
struct Exception {
  const char* prefix;
  const char* part;
  Code code;
};
constexpr Exception kExceptions[] = {
    // Their `like` is [1], their models declare [3,4]: running them would be wrong.
    {"test_castlike_", "BFLOAT16", Code::kInvalidArgument},
};

const Exception* exception_of(const std::string& name) {
  for (const Exception& e : kExceptions) {
    if (name.starts_with(e.prefix) && name.find(e.part) != std::string::npos) return &e;
  }
  return nullptr;
}

/// Counts a case for each operator that it uses.
void count_case(const std::string& model, bool right, NodeTestCounts& counts) {
  LoadOptions look;
  look.keep_unsupported = true;
  const auto graph = load_onnx(model, look);
  if (!graph) return;
  std::set<std::pair<std::string, std::string>> used;
  for (const Node& n : graph->main.nodes) used.insert({n.domain, n.op});
  for (const auto& op : used) ++(right ? counts[op].right : counts[op].refused);
}

/// Runs every case of a folder every way: none may be wrong, and at least so many must be right.
/// `counts`: those on the best kernels.
void run_folder(const char* title, const fs::path& root, int least_right,
                NodeTestCounts* counts = nullptr) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  IsaSetting isa;
  for (const Way& way : all_ways()) {
    isa.set(way.isa);
    auto context = Context::make();
    ASSERT_TRUE(context) << context.error().message;
    int right = 0, refused = 0, wrong = 0;
    std::map<std::string, int> reasons;
    for (const fs::path& folder : folders) {
      const std::string name = folder.filename().string();
      const Status status = run_one(**context, way, folder);
      if (counts && way.name == isa_name(supported_isas().back()))
        count_case((folder / "model.onnx").string(), status.has_value(), *counts);
      if (status) {
        ++right;
      } else if (const Exception* e = exception_of(name); e && e->code == status.error().code) {
        ++refused;
        ++reasons[name + ": " + status.error().message];
      } else if (status.error().code == Code::kUnsupported) {
        EXPECT_FALSE(open_engine(**context, (folder / "model.onnx").string(), way.options))
            << name << " is refused, but only once it runs";
        ++refused;
        ++reasons[status.error().message];
      } else {
        ++wrong;
        ADD_FAILURE() << way.name << ", " << name << ": " << status.error().message;
      }
    }
    printf("%s, %-18s %zu node tests: %d right, %d refused by name, %d wrong\n", title,
           way.name.c_str(), folders.size(), right, refused, wrong);
    if (std::getenv("HASTEN_VERBOSE")) {
      for (const auto& [reason, n] : reasons) printf("  %4d %s\n", n, reason.c_str());
    }
    EXPECT_GE(right, least_right);
  }
}

/// Where tools/node_tests writes the cases of the python package onnx.
fs::path written(const char* part) { return fs::path(cache_dir()) / "node_tests" / part; }

}  // namespace

// Of libonnx-testdata and of the python package onnx; in the package's nine of ImageDecoder are
// refused.
TEST(NodeTests, RightAnswerOrRefusedByName) {
  const fs::path debian = "/usr/share/libonnx-testdata/data/node";
  const bool both = fs::exists(debian) && fs::exists(written("within"));
  if (!both) GTEST_LOG_(INFO) << "libonnx-testdata or the cases of tools/node_tests are missing";
  NodeTestCounts counts;
  if (fs::exists(debian)) run_folder("libonnx-testdata", debian, 921, &counts);
  if (fs::exists(written("within"))) {
    run_folder("onnx, within opset 21", written("within"), 1467, &counts);
  }
  if (!both) GTEST_SKIP();
  const auto page = read_file(support_path());
  ASSERT_TRUE(page) << page.error().message;
  const std::string expected = support_page(counts);
  if (std::getenv("HASTEN_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(support_path(), expected));
    return;
  }
  EXPECT_EQ(*page, expected) << "run the test again with HASTEN_UPDATE=1 and commit it";
}

TEST(NodeTests, OfTheOnnxPackageBeyondOpset21) {
  if (!fs::exists(written("beyond"))) GTEST_SKIP() << "tools/node_tests has not been run";
  run_folder("onnx, beyond opset 21", written("beyond"), 0);
}

}  // namespace hasten::test
