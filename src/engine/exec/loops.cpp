// https://onnx.ai/onnx/operators/onnx__Loop.html, onnx__Scan.html, onnx__SequenceMap.html
#include "engine/exec/loops.h"

#include <algorithm>

namespace hasten {

namespace {

Tensor borrowed(const TensorView& v) { return Tensor::borrow(v.dtype, v.dims, v.data, nullptr); }

/// What the iterations give for one scan output, to be stacked along a new axis.
class Collected {
 public:
  Status add(const LoopCall& call, size_t output, const TensorView& step) {
    if (!steps_.empty() && (steps_[0].dtype() != step.dtype || steps_[0].dims() != step.dims)) {
      return fail(Code::kInvalidArgument,
                  "{}: scan output {} is {}{} in iteration {}, it was {}{} before: all must have "
                  "one shape",
                  call.node.label(), output, dtype_name(step.dtype), dims_text(step.dims),
                  steps_.size(), dtype_name(steps_[0].dtype()), dims_text(steps_[0].dims()));
    }
    HASTEN_TRY(Tensor copy, Tensor::copy(step));
    bytes_ += static_cast<int64_t>(copy.bytes());
    if (call.memory_limit > 0 && bytes_ > call.memory_limit) {
      return fail(Code::kOutOfMemory,
                  "{}: scan output {} needs more than the limit of {} bytes: raise --memory-limit "
                  "or give smaller inputs",
                  call.node.label(), output, call.memory_limit);
    }
    steps_.push_back(std::move(copy));
    return {};
  }

  /// The steps along `axis` (from behind if negative), the last one first if `reverse`. Without
  /// any, an empty tensor of what inference knows of the body's value.
  Result<Tensor> stack(const LoopCall& call, size_t output, const Value& value, int64_t axis,
                       bool reverse) const {
    Dims dims;
    DType dtype = value.dtype;
    if (!steps_.empty()) {
      dims = steps_[0].dims();
      dtype = steps_[0].dtype();
    } else if (value.has_shape) {
      for (const Dim& d : value.shape) dims.push_back(d.known() ? d.value() : 0);
    }
    const auto rank = static_cast<int64_t>(dims.size()) + 1;
    if (axis < -rank || axis >= rank) {
      return fail(Code::kInvalidModel, "{}: axis {} of scan output {}, which has rank {}",
                  call.node.label(), axis, output, rank);
    }
    if (axis < 0) axis += rank;
    const auto n = static_cast<int64_t>(steps_.size());
    const Dims step_dims = dims;
    dims.insert(dims.begin() + axis, n);
    HASTEN_TRY(Tensor out, Tensor::make(dtype, dims));
    const int64_t outer = count_of({step_dims.begin(), step_dims.begin() + axis});
    const int64_t inner = count_of({step_dims.begin() + axis, step_dims.end()});
    const size_t size = dtype_size(dtype);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor& step = steps_[static_cast<size_t>(reverse ? n - 1 - i : i)];
      for (int64_t o = 0; o < outer; ++o) {
        copy_elements(
            dtype,
            static_cast<const std::byte*>(step.data()) + static_cast<size_t>(o * inner) * size,
            out.mutable_as<std::byte>() + static_cast<size_t>((o * n + i) * inner) * size, inner);
      }
    }
    return out;
  }

 private:
  std::vector<Tensor> steps_;
  int64_t bytes_ = 0;
};

/// State that goes from one iteration to the next: copied, as the body's outputs are overwritten.
class Carried {
 public:
  explicit Carried(const TensorView& first) : tensor_(borrowed(first)) {}
  TensorView view() const { return tensor_.view(); }
  Status set(const TensorView& v) {
    if (own_ && tensor_.dtype() == v.dtype && tensor_.count() == v.count()) {
      tensor_ = tensor_.reshaped(v.dims);
      copy_elements(v.dtype, v.data, tensor_.mutable_data(), v.count());
      return {};
    }
    HASTEN_TRY(tensor_, Tensor::copy(v));
    own_ = true;
    return {};
  }
  Result<Tensor> take() {
    if (own_) return std::move(tensor_);
    return Tensor::copy(tensor_.view());
  }

 private:
  Tensor tensor_;
  bool own_ = false;
};

/// Binds and runs the body once.
Result<std::span<const TensorView>> iterate(const LoopCall& call, std::vector<TensorView>& inputs) {
  const size_t own = inputs.size();
  inputs.insert(inputs.end(), call.captured.begin(), call.captured.end());
  HASTEN_CHECK(call.runner.bind(inputs));
  inputs.resize(own);
  HASTEN_CHECK(call.runner.run(call.observer));
  return call.runner.outputs();
}

Dims declared_dims(const LoopCall& call, size_t input) {
  const Value& v = call.graph.value(call.body.inputs[input]);
  return v.has_shape && v.shape.size() == 1 ? Dims{1} : Dims{};
}

Result<bool> as_bool(const LoopCall& call, const TensorView& v, const char* what) {
  if (v.dtype != DType::kBool || v.count() != 1) {
    return fail(Code::kInvalidArgument, "{}: {} is {}{}, it must be one bool", call.node.label(),
                what, dtype_name(v.dtype), dims_text(v.dims));
  }
  return *v.as<bool>();
}

Result<std::vector<Tensor>> loop(const LoopCall& call) {
  int64_t trips = INT64_MAX;
  if (!call.in.empty() && call.in[0].data != nullptr) {
    if (call.in[0].count() != 1) {
      return fail(Code::kInvalidArgument, "{}: the trip count has {} elements, it must be one",
                  call.node.label(), call.in[0].count());
    }
    trips = *call.in[0].as<int64_t>();
  }
  bool go = true;
  if (call.in.size() > 1 && call.in[1].data != nullptr) {
    HASTEN_TRY(go, as_bool(call, call.in[1], "the condition"));
  }
  std::vector<Carried> carried;
  for (size_t i = 2; i < call.in.size(); ++i) carried.emplace_back(call.in[i]);
  std::vector<Collected> scans(call.body.outputs.size() - 1 - carried.size());
  HASTEN_TRY(Tensor iteration, Tensor::make(DType::kI64, declared_dims(call, 0)));
  HASTEN_TRY(Tensor condition, Tensor::make(DType::kBool, declared_dims(call, 1)));
  std::vector<TensorView> inputs;
  for (int64_t i = 0; i < trips && go; ++i) {
    *iteration.mutable_as<int64_t>() = i;
    *condition.mutable_as<bool>() = go;
    inputs = {iteration.view(), condition.view()};
    for (const Carried& c : carried) inputs.push_back(c.view());
    HASTEN_TRY(const auto outputs, iterate(call, inputs));
    HASTEN_TRY(go, as_bool(call, outputs[0], "the condition of the body"));
    for (size_t k = 0; k < scans.size(); ++k) {
      HASTEN_CHECK(scans[k].add(call, k, outputs[1 + carried.size() + k]));
    }
    for (size_t k = 0; k < carried.size(); ++k) HASTEN_CHECK(carried[k].set(outputs[1 + k]));
  }
  std::vector<Tensor> out;
  for (Carried& c : carried) {
    HASTEN_TRY(out.emplace_back(), c.take());
  }
  for (size_t k = 0; k < scans.size(); ++k) {
    const ValueId id = call.body.outputs[1 + carried.size() + k];
    HASTEN_TRY(out.emplace_back(), scans[k].stack(call, k, call.graph.value(id), 0, false));
  }
  return out;
}

/// One index of an axis, as a tensor of its own.
Result<Tensor> slice(const TensorView& x, int64_t axis, int64_t index) {
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  HASTEN_TRY(Tensor out, Tensor::make(x.dtype, dims));
  const int64_t outer = count_of({x.dims.begin(), x.dims.begin() + axis});
  const int64_t inner = count_of({x.dims.begin() + axis + 1, x.dims.end()});
  const int64_t n = x.dims[static_cast<size_t>(axis)];
  const size_t size = dtype_size(x.dtype);
  for (int64_t o = 0; o < outer; ++o) {
    copy_elements(
        x.dtype,
        static_cast<const std::byte*>(x.data) + static_cast<size_t>((o * n + index) * inner) * size,
        out.mutable_as<std::byte>() + static_cast<size_t>(o * inner) * size, inner);
  }
  return out;
}

struct ScanAttributes {
  std::vector<int64_t> input_axes, input_reverse, output_axes, output_reverse;
};

/// states, then scanned inputs; `steps`: how many indices of the scanned axes are visited, of all
/// `padded` ones.
Result<std::vector<Tensor>> scan_once(const LoopCall& call, const ScanAttributes& attrs,
                                      std::span<const TensorView> in, size_t scanned,
                                      int64_t steps) {
  const size_t states = in.size() - scanned;
  std::vector<Carried> carried;
  for (size_t i = 0; i < states; ++i) carried.emplace_back(in[i]);
  std::vector<Collected> scans(call.body.outputs.size() - states);
  std::vector<Tensor> slices(scanned);
  std::vector<TensorView> inputs;
  for (int64_t t = 0; t < steps; ++t) {
    inputs.clear();
    for (const Carried& c : carried) inputs.push_back(c.view());
    for (size_t k = 0; k < scanned; ++k) {
      const int64_t at = attrs.input_reverse[k] != 0 ? steps - 1 - t : t;
      HASTEN_TRY(slices[k], slice(in[states + k], attrs.input_axes[k], at));
      inputs.push_back(slices[k].view());
    }
    HASTEN_TRY(const auto outputs, iterate(call, inputs));
    for (size_t k = 0; k < scans.size(); ++k) {
      HASTEN_CHECK(scans[k].add(call, k, outputs[states + k]));
    }
    for (size_t k = 0; k < states; ++k) HASTEN_CHECK(carried[k].set(outputs[k]));
  }
  std::vector<Tensor> out;
  for (Carried& c : carried) {
    HASTEN_TRY(out.emplace_back(), c.take());
  }
  for (size_t k = 0; k < scans.size(); ++k) {
    const ValueId id = call.body.outputs[states + k];
    HASTEN_TRY(out.emplace_back(),
               scans[k].stack(call, k, call.graph.value(id), attrs.output_axes[k],
                              attrs.output_reverse[k] != 0));
  }
  return out;
}

Result<std::vector<Tensor>> scan(const LoopCall& call) {
  const auto scanned = static_cast<size_t>(call.node.attr_int("num_scan_inputs", 0));
  const size_t states = call.in.size() - scanned;
  const size_t scans = call.body.outputs.size() - states;
  ScanAttributes attrs;
  attrs.input_axes = call.node.attr_ints("scan_input_axes", Dims(scanned, 0));
  attrs.input_reverse = call.node.attr_ints("scan_input_directions", Dims(scanned, 0));
  attrs.output_axes = call.node.attr_ints("scan_output_axes", Dims(scans, 0));
  attrs.output_reverse = call.node.attr_ints("scan_output_directions", Dims(scans, 0));
  int64_t steps = -1;
  for (size_t k = 0; k < scanned; ++k) {
    const TensorView& x = call.in[states + k];
    const auto rank = static_cast<int64_t>(x.dims.size());
    int64_t& axis = attrs.input_axes[k];
    if (axis < -rank || axis >= rank) {
      return fail(Code::kInvalidModel, "{}: axis {} of scan input {}, which is {}",
                  call.node.label(), axis, k, dims_text(x.dims));
    }
    if (axis < 0) axis += rank;
    const int64_t n = x.dims[static_cast<size_t>(axis)];
    if (steps >= 0 && n != steps) {
      return fail(Code::kInvalidArgument, "{}: scan input {} has {} steps, those before it {}",
                  call.node.label(), k, n, steps);
    }
    steps = n;
  }
  return scan_once(call, attrs, call.in, scanned, steps);
}

/// Opset 8: a batch of scans along axis 1, each as long as `sequence_lens` says; what lies behind
/// the end of a sequence is zero.
Result<std::vector<Tensor>> scan_batch(const LoopCall& call) {
  const auto scanned = static_cast<size_t>(call.node.attr_int("num_scan_inputs", 0));
  const size_t states = call.in.size() - 1 - scanned;
  const size_t scans = call.body.outputs.size() - states;
  ScanAttributes attrs;
  attrs.input_axes = Dims(scanned, 0);
  attrs.input_reverse = call.node.attr_ints("directions", Dims(scanned, 0));
  attrs.output_axes = attrs.output_reverse = Dims(scans, 0);
  int64_t batch = -1, length = -1;
  for (size_t i = 1; i < call.in.size(); ++i) {
    const TensorView& x = call.in[i];
    const bool is_scanned = i > states;
    if (x.dims.size() < (is_scanned ? 2u : 1u) || (batch >= 0 && x.dims[0] != batch) ||
        (is_scanned && length >= 0 && x.dims[1] != length)) {
      return fail(Code::kInvalidArgument, "{}: input {} is {}, the others have {} sequences of {}",
                  call.node.label(), i, dims_text(x.dims), batch, length);
    }
    batch = x.dims[0];
    if (is_scanned) length = x.dims[1];
  }
  std::vector<Tensor> out;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t steps = length;
    if (call.in[0].data != nullptr) {
      if (call.in[0].count() != batch) {
        return fail(Code::kInvalidArgument, "{}: {} sequence lengths for {} sequences",
                    call.node.label(), call.in[0].count(), batch);
      }
      steps = call.in[0].as<int64_t>()[b];
      if (steps < 0 || steps > length) {
        return fail(Code::kInvalidArgument, "{}: sequence length {}, inputs have {} steps",
                    call.node.label(), steps, length);
      }
    }
    std::vector<Tensor> own;
    std::vector<TensorView> views;
    for (size_t i = 1; i < call.in.size(); ++i) {
      HASTEN_TRY(own.emplace_back(), slice(call.in[i], 0, b));
    }
    views.reserve(own.size());
    for (const Tensor& t : own) views.push_back(t.view());
    HASTEN_TRY(const std::vector<Tensor> one, scan_once(call, attrs, views, scanned, steps));
    for (size_t k = 0; k < one.size(); ++k) {
      Dims dims = one[k].dims();
      if (k >= states) dims[0] = length;
      dims.insert(dims.begin(), batch);
      if (b == 0) {
        HASTEN_TRY(out.emplace_back(), Tensor::make(one[k].dtype(), dims));
      }
      if (out[k].dims() != dims) {
        return fail(Code::kInvalidArgument, "{}: output {} is {} for sequence {}, {} before",
                    call.node.label(), k, dims_text(dims), b, dims_text(out[k].dims()));
      }
      const int64_t size = out[k].count() / batch;
      copy_elements(one[k].dtype(), one[k].data(),
                    out[k].mutable_as<std::byte>() +
                        static_cast<size_t>(b * size) * dtype_size(one[k].dtype()),
                    one[k].count());
    }
  }
  if (batch == 0) {
    return fail(Code::kUnsupported, "{}: no sequences at all", call.node.label());
  }
  return out;
}

/// Input 0 is a sequence; the others are sequences of its length, or tensors that each call gets.
Result<std::vector<Tensor>> sequence_map(const LoopCall& call) {
  const int64_t n = call.in[0].count();
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (call.in[i].dtype == DType::kSequence && call.in[i].count() != n) {
      return fail(Code::kInvalidArgument, "{}: input {} is a sequence of {}, input 0 one of {}",
                  call.node.label(), i, call.in[i].count(), n);
    }
  }
  std::vector<Tensor> out;
  for (size_t k = 0; k < call.body.outputs.size(); ++k) {
    HASTEN_TRY(out.emplace_back(), Tensor::make(DType::kSequence, {n}));
  }
  std::vector<TensorView> inputs;
  for (int64_t i = 0; i < n; ++i) {
    inputs.clear();
    for (const TensorView& v : call.in) {
      inputs.push_back(v.dtype == DType::kSequence ? v.as<Tensor>()[i].view() : v);
    }
    HASTEN_TRY(const auto outputs, iterate(call, inputs));
    for (size_t k = 0; k < out.size(); ++k) {
      HASTEN_TRY(out[k].mutable_as<Tensor>()[i], Tensor::copy(outputs[k]));
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Tensor>> run_loop(const LoopCall& call) {
  if (call.node.op == "Loop") return loop(call);
  if (call.node.op == "SequenceMap") return sequence_map(call);
  return call.node.version < 9 ? scan_batch(call) : scan(call);
}

}  // namespace hasten
