// Everything the system knows of an operator, and what its three functions get to see.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/ir/graph.h"

namespace hasten {

struct KernelTable;  // engine/kernels/kernels.h
class PackedStore;   // engine/ops/packed.h

/// What is known of a value before it is computed.
struct Facts {
  DType dtype = DType::kNone;
  bool has_shape = false;
  Shape shape;
  Layout layout = Layout::kPlain;
  /// Known elements: a constant's, or small integers followed through shape arithmetic. Elements of
  /// an int64 tensor may be symbol codes (see Dim::is_symbol_code) while shapes are symbolic.
  Tensor value;
  /// The value is a constant of the graph: the same whatever the inputs' shapes.
  bool constant = false;
  /// Of a sequence or optional: the dtype of what it holds, if known.
  DType element = DType::kNone;

  bool known_value() const { return !value.empty(); }
  bool known_shape() const { return has_shape && is_known(shape); }
  size_t rank() const { return shape.size(); }
  /// "f32[1,3,?]"
  std::string text() const;
};

/// Base of the three contexts: the node and how to complain about it.
class OpContext {
 public:
  explicit OpContext(const Node& node) : node_(node) {}
  const Node& node() const { return node_; }
  size_t inputs() const { return node_.inputs.size(); }
  size_t outputs() const { return node_.outputs.size(); }
  bool has_in(size_t i) const { return node_.has_input(i); }
  bool has_out(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }

  /// invalid_model: "node 'conv1' (Conv): <message>"
  template <class... Args>
  tl::unexpected<Error> invalid(fmt::format_string<Args...> format, Args&&... args) const {
    return hasten::fail(Code::kInvalidModel, "{}: {}", node_.label(),
                        fmt::format(format, std::forward<Args>(args)...));
  }
  /// unsupported, with the same prefix.
  template <class... Args>
  tl::unexpected<Error> unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    return hasten::fail(Code::kUnsupported, "{}: {}", node_.label(),
                        fmt::format(format, std::forward<Args>(args)...));
  }

 protected:
  const Node& node_;
};

/// infer(): from facts of the inputs to facts of the outputs. Checks everything that can be wrong
/// about the node, its attributes and its inputs, as far as it is known; is called once with
/// symbols (before passes) and again with numbers for each new shape.
/// An output whose dims depend on data stays with has_shape = false, or with fresh dims of the
/// right rank.
class InferContext : public OpContext {
 public:
  InferContext(const Node& node, std::span<const Facts* const> in, std::span<Facts> out)
      : OpContext(node), in_(in), out_(out) {}
  /// Facts of an input; of an absent one: dtype kNone.
  const Facts& in(size_t i) const;
  Facts& out(size_t i) { return out_[i]; }
  /// Output i gets this dtype and shape.
  void set(size_t i, DType dtype, Shape shape);
  /// Output i gets this dtype and a shape of which nothing is known.
  void set_unknown(size_t i, DType dtype);

 private:
  std::span<const Facts* const> in_;
  std::span<Facts> out_;
};

/// reference(): plain loops over elements, the oracle of all kernels. Handles every dtype that
/// infer() accepts. Allocates its outputs, so it also serves data-dependent shapes.
class RefContext : public OpContext {
 public:
  using Allocate = std::function<Result<void*>(size_t output, DType, const Dims&)>;
  RefContext(const Node& node, std::span<const TensorView> in, Allocate allocate)
      : OpContext(node), in_(in), allocate_(std::move(allocate)) {}
  /// An absent input has data == nullptr and dtype kNone. Layouts are plain.
  const TensorView& in(size_t i) const;
  /// Memory for output i; call once per present output.
  Result<void*> out(size_t i, DType dtype, const Dims& dims) { return allocate_(i, dtype, dims); }

 private:
  std::span<const TensorView> in_;
  Allocate allocate_;
};

/// What a step gets at run time. Pointers of absent inputs and outputs are null.
struct StepArgs {
  const void* const* in;
  void* const* out;
  std::byte* scratch;
  ThreadPool* pool;  // null: run on this thread
  /// A kernel that meets a bad element (an index out of range, a division by zero) stores its
  /// position + 1 here and goes on without reading or writing outside; the run then fails, naming
  /// the node. Never null.
  std::atomic<int64_t>* fault;

  template <class T>
  const T* input(size_t i) const {
    return static_cast<const T*>(in[i]);
  }
  template <class T>
  T* output(size_t i) const {
    return static_cast<T*>(out[i]);
  }
  /// f(begin, end) over [0, count), split over the team.
  template <class F>
  void parallel(int64_t count, int64_t grain, const F& f) const {
    if (pool == nullptr || count <= grain) {
      if (count > 0) f(int64_t{0}, count);
    } else {
      pool->parallel(count, grain, f);
    }
  }
  /// f(slot, item) for each item of [0, count), one item at a time for each slot below `slots`:
  /// what works on memory of its own.
  template <class F>
  void parallel_slots(int64_t slots, int64_t count, const F& f) const {
    std::atomic<int64_t> next{0};
    parallel(std::min(slots, count), 1, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        int64_t item = 0;
        while ((item = next.fetch_add(1, std::memory_order_relaxed)) < count) f(slot, item);
      }
    });
  }
};

using StepFn = std::function<void(const StepArgs&)>;

/// The error of a step that reported a fault, if it did.
Status check_fault(const Node& node, const std::atomic<int64_t>& fault);

/// A kernel that was considered and not taken.
struct Refusal {
  std::string kernel, reason;
};

/// What lower() found.
struct Lowered {
  std::string kernel;  // empty: none; the reference will run
  StepFn run;
  std::vector<Refusal> refused;
  /// Output 0 is input `alias_of` under other dims; no step at all.
  int alias_of = -1;
  /// Inputs whose memory output 0 may take over, if nobody else needs it and the size fits: the
  /// kernel reads element i of it before (or when) it writes element i.
  std::vector<int> in_place;
  size_t scratch_bytes = 0;
  double flops = 0;
};

/// lower(): from concrete facts to a kernel. All dims are known. Same bits: the choice may depend
/// on the layer's shape, never on batch size, thread count or ISA tier, unless kernels are
/// bit-equal.
class LowerContext : public OpContext {
 public:
  LowerContext(const Node& node, std::span<const Facts* const> in, std::span<const Facts> out,
               const KernelTable& kernels, PackedStore& packed, PackedStore& local, bool exact_math,
               int threads = 1)
      : OpContext(node),
        in_(in),
        out_(out),
        kernels_(kernels),
        packed_(packed),
        local_(local),
        exact_(exact_math),
        threads_(threads) {}

  const Facts& in(size_t i) const;
  const Facts& out(size_t i) const { return out_[i]; }
  std::span<const Facts> out() const { return out_; }
  /// Concrete dims.
  Dims in_dims(size_t i) const { return to_dims(in(i).shape); }
  Dims out_dims(size_t i) const { return to_dims(out(i).shape); }
  /// The input's elements if they are known for these shapes (a constant, or shape arithmetic),
  /// else null.
  const Tensor* constant(size_t i) const { return in(i).known_value() ? &in(i).value : nullptr; }
  const KernelTable& kernels() const { return kernels_; }
  bool exact_math() const { return exact_; }
  /// How many threads the step may run on: for the size of its scratch memory, never for the choice
  /// of a kernel.
  int threads() const { return threads_; }

  /// Repacked constant: `bytes` of 64-byte aligned memory filled by `fill` once per (input's value,
  /// format) and kept with the model (with the plan, where the elements follow from shapes); the
  /// format must not depend on the shapes of other inputs.
  Result<const void*> packed(size_t input, const std::string& format, size_t bytes,
                             const std::function<void(void*)>& fill);

  /// "kernel K doesn't do this because …": kept in the plan.
  void refuse(std::string kernel, std::string reason) {
    result_.refused.push_back({std::move(kernel), std::move(reason)});
  }
  /// This kernel does it.
  void take(std::string kernel, StepFn run) {
    result_.kernel = std::move(kernel);
    result_.run = std::move(run);
  }
  void alias(int input) {
    result_.kernel = "alias";
    result_.alias_of = input;
  }
  void in_place(std::vector<int> inputs) { result_.in_place = std::move(inputs); }
  void scratch(size_t bytes) { result_.scratch_bytes = bytes; }
  void flops(double n) { result_.flops = n; }

  Lowered& result() { return result_; }

 private:
  std::span<const Facts* const> in_;
  std::span<const Facts> out_;
  const KernelTable& kernels_;
  PackedStore& packed_;  // of the model
  PackedStore& local_;   // of the plan
  bool exact_;
  int threads_;
  Lowered result_;
};

/// One operator over a range of opset versions. Files may define several rows for one name.
struct OpDef {
  const char* domain;  // "" is ai.onnx; "hasten" is made by passes
  const char* name;
  int since, until;            // opset versions, inclusive
  int min_inputs, max_inputs;  // max -1: variadic
  int min_outputs, max_outputs;
  std::vector<const char*> attrs;  // known attributes; any other is refused by name
  Status (*infer)(InferContext&);
  Status (*reference)(RefContext&);
  Status (*lower)(LowerContext&) = nullptr;  // null: only the reference
  /// Only moves or copies elements (Gather, Concat, Reshape …), so that symbol codes may be
  /// followed through its reference.
  bool moves_elements = false;
  /// Takes or gives sequences or optional values; others are refused before infer().
  bool takes_sequences = false;
  /// Not a function of its inputs alone (RandomNormal …): never folded or merged.
  bool impure = false;
  /// f(x), element by element, on any layout (see unary_ops).
  bool unary = false;
};

/// Whether it's known that no output has elements. Such a node is not to be run: visiting 2^51 rows
/// of nothing takes a while.
bool makes_no_elements(const Node& node, std::span<const Facts> out);
/// Memory for the outputs of a node, whose shapes are known; those that are absent are empty.
Result<std::vector<Tensor>> make_outputs(const Node& node, std::span<const Facts> out);
/// The operator's lower(), if it has one; for a node that makes no elements a step that does
/// nothing.
Status lower_node(LowerContext& c);

constexpr int kLastOpset = 21;

/// The row for (domain, name, version), or null.
const OpDef* find_op(std::string_view domain, std::string_view name, int64_t version);
/// True if any version of it is known.
bool knows_op(std::string_view domain, std::string_view name);
/// Every row, in the order of ops.inc.
std::span<const OpDef* const> all_ops();

}  // namespace hasten
