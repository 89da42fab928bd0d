// One node by itself: its kernel on given tables, threads, addresses and layouts, and how tensors
// differ. For the tests of operators and the fuzzers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/kernels/kernels.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/packed.h"

namespace hasten::test {

using Attrs = std::vector<std::pair<std::string, Attr>>;

/// A node, and what it is run on. An empty tensor is an absent input.
struct OpCase {
  Node node;
  std::vector<Tensor> inputs;
  /// Which inputs lower() sees as constants; empty: all of them. infer() always sees the elements
  /// of inputs that are not float.
  std::vector<bool> constant;
  /// Layouts of inputs and of output 0 for the kernels; empty: plain.
  std::vector<Layout> in_layouts;
  Layout out_layout = Layout::kPlain;
  bool exact_math = false;
};

inline OpCase make_case(const std::string& op, int64_t opset, std::vector<Tensor> inputs,
                        Attrs attrs = {}, size_t outputs = 1, const std::string& domain = "") {
  OpCase c;
  c.node.name = "n";
  c.node.op = op;
  c.node.domain = domain;
  c.node.version = opset;
  c.node.def = find_op(domain, op, opset);
  c.node.attrs = std::move(attrs);
  ValueId id = 0;
  for (const Tensor& t : inputs) {
    c.node.inputs.push_back(t.empty() ? kNoValue : id);
    ++id;
  }
  for (size_t i = 0; i < outputs; ++i) c.node.outputs.push_back(id++);
  c.inputs = std::move(inputs);
  return c;
}

/// Element i as a double; NaN for strings.
inline double number_at(const Tensor& t, int64_t i) {
  double value = NAN;
  dispatch_any(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      value = t.as<bool>()[i];
    } else if constexpr (!std::is_same_v<T, std::string>) {
      value = static_cast<double>(Compute<T>::load(t.as<T>()[i]));
    }
  });
  return value;
}
inline std::vector<double> numbers_of(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = number_at(t, static_cast<int64_t>(i));
  return out;
}

/// |got - want| <= absolute + relative * |want|; NaN equals NaN, infinities must be equal.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// "" or where and how two tensors differ: dtype, dims, first element outside the tolerance.
inline std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance = {}) {
  if (got.dtype() != want.dtype()) {
    return fmt::format("dtype {}, wanted {}", dtype_name(got.dtype()), dtype_name(want.dtype()));
  }
  if (got.dims() != want.dims()) {
    return fmt::format("dims {}, wanted {}", dims_text(got.dims()), dims_text(want.dims()));
  }
  for (int64_t i = 0; i < got.count(); ++i) {
    if (got.dtype() == DType::kString) {
      const std::string &g = got.as<std::string>()[i], &w = want.as<std::string>()[i];
      if (g != w) return fmt::format("element {} is '{}', wanted '{}'", i, g, w);
      continue;
    }
    if (is_int(got.dtype())) {
      const size_t size = dtype_size(got.dtype());
      const auto at = static_cast<size_t>(i) * size;
      if (std::memcmp(got.as<char>() + at, want.as<char>() + at, size) == 0) continue;
    }
    const double g = number_at(got, i), w = number_at(want, i);
    if (std::isnan(g) && std::isnan(w)) continue;
    if (g == w) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(w);
    if (!(std::abs(g - w) <= allowed) || std::isinf(w)) {
      return fmt::format("element {} of {} is {}, wanted {} (off by {:.3g}, allowed {:.3g})", i,
                         dims_text(got.dims()), g, w, std::abs(g - w), allowed);
    }
  }
  return "";
}
/// "" or the first element whose bits differ (any NaN equals any NaN of the same dtype).
inline std::string bit_difference(const Tensor& got, const Tensor& want) {
  std::string text = difference(got, want);
  if (!text.empty() || !is_float(got.dtype())) return text;
  const size_t size = dtype_size(got.dtype());
  for (int64_t i = 0; i < got.count(); ++i) {
    const auto at = static_cast<size_t>(i) * size;
    if (std::memcmp(got.as<char>() + at, want.as<char>() + at, size) == 0) continue;
    if (std::isnan(number_at(got, i))) continue;
    return fmt::format("element {} has other bits ({} and {})", i, number_at(got, i),
                       number_at(want, i));
  }
  return "";
}

/// A plain 4-byte tensor [N,C,...] in nchw16c storage, padding zero.
inline Tensor to_blocked(const Tensor& plain) {
  const Dims& d = plain.dims();
  const int64_t channels = d[1], blocks = (channels + 15) / 16;
  const int64_t pixels = count_of(std::span(d).subspan(2));
  Tensor out = *Tensor::make(plain.dtype(), {storage_count(d, Layout::kNchw16c)});
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t ch = 0; ch < channels; ++ch) {
      for (int64_t p = 0; p < pixels; ++p) {
        out.mutable_as<uint32_t>()[((n * blocks + ch / 16) * pixels + p) * 16 + ch % 16] =
            plain.as<uint32_t>()[(n * channels + ch) * pixels + p];
      }
    }
  }
  return out;
}
/// The inverse; `padding` tells whether all padding was zero.
inline Tensor from_blocked(const Tensor& storage, const Dims& d, bool* padding) {
  const int64_t channels = d[1], blocks = (channels + 15) / 16;
  const int64_t pixels = count_of(std::span(d).subspan(2));
  Tensor out = *Tensor::make(storage.dtype(), d);
  *padding = true;
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t ch = 0; ch < blocks * 16; ++ch) {
      for (int64_t p = 0; p < pixels; ++p) {
        const uint32_t bits =
            storage.as<uint32_t>()[((n * blocks + ch / 16) * pixels + p) * 16 + ch % 16];
        if (ch < channels) {
          out.mutable_as<uint32_t>()[(n * channels + ch) * pixels + p] = bits;
        } else if (bits != 0) {
          *padding = false;
        }
      }
    }
  }
  return out;
}

/// What lower() decided and what the kernel gave.
struct KernelRun {
  std::string kernel;  // empty: refused
  std::vector<Refusal> refused;
  std::vector<Tensor> outputs;  // plain
  std::vector<int> in_place;
  double flops = 0;
};

struct RunOptions {
  ThreadPool* pool = nullptr;
  size_t offset = 0;  // bytes by which inputs and outputs are moved off their alignment
  int in_place = -1;  // the input whose memory output 0 takes
};

/// Elements at a byte offset, followed by nothing that may be read.
class Placed {
 public:
  Placed(DType dtype, int64_t count, size_t offset, const void* from) : count_(count) {
    const size_t bytes = static_cast<size_t>(count) * dtype_size(dtype);
    if (dtype == DType::kString) {
      strings_.resize(static_cast<size_t>(count));
      if (from) copy_elements(dtype, from, strings_.data(), count);
      data_ = strings_.data();
      return;
    }
    // Exactly sized, so that the address sanitizer sees reads past the end.
    memory_.reset(new (std::align_val_t(64)) char[offset + bytes]);
    data_ = memory_.get() + offset;
    if (from && bytes > 0) std::memcpy(data_, from, bytes);
    if (!from) std::memset(data_, 0xcd, bytes);
  }
  void* data() { return data_; }
  Tensor tensor(DType dtype, Dims dims) const {
    Tensor t = *Tensor::make(dtype, std::move(dims));
    copy_elements(dtype, data_, t.mutable_data(), count_);
    return t;
  }

 private:
  struct Free {
    void operator()(char* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  int64_t count_;
  std::unique_ptr<char[], Free> memory_;
  std::vector<std::string> strings_;
  void* data_ = nullptr;
};

/// infer(), lower() and the kernel, if there is one.
inline Result<KernelRun> run_kernel(const OpCase& c, const KernelTable& kernels,
                                    const RunOptions& options = {}) {
  const size_t n_in = c.inputs.size(), n_out = c.node.outputs.size();
  std::vector<Facts> in(n_in), out(n_out);
  std::vector<const Facts*> pointers(n_in, nullptr);
  for (size_t i = 0; i < n_in; ++i) {
    if (c.inputs[i].empty()) continue;
    in[i] = {c.inputs[i].dtype(), true, to_shape(c.inputs[i].dims()), Layout::kPlain, c.inputs[i]};
    const bool is_constant = c.constant.empty() || c.constant[i];
    in[i].constant = is_constant;
    if (!is_constant && is_float(in[i].dtype)) in[i].value = Tensor();
    pointers[i] = &in[i];
  }
  InferContext infer(c.node, pointers, out);
  HASTEN_CHECK(c.node.def->infer(infer));
  KernelRun run;
  for (const Facts& f : out) {
    if (!f.known_shape()) return run;
  }
  for (size_t i = 0; i < n_in; ++i) {
    if (i < c.in_layouts.size()) in[i].layout = c.in_layouts[i];
    if (!c.constant.empty() && !c.constant[i]) in[i].value = Tensor();
  }
  if (n_out > 0) out[0].layout = c.out_layout;

  PackedStore packed;
  LowerContext lower(c.node, pointers, out, kernels, packed, packed, c.exact_math,
                     options.pool ? options.pool->threads() : 1);
  HASTEN_CHECK(lower_node(lower));
  const Lowered& lowered = lower.result();
  run.kernel = lowered.kernel;
  run.refused = lowered.refused;
  run.in_place = lowered.in_place;
  run.flops = lowered.flops;
  if (lowered.alias_of >= 0) {
    run.outputs.push_back(
        c.inputs[static_cast<size_t>(lowered.alias_of)].reshaped(to_dims(out[0].shape)));
    return run;
  }
  if (lowered.kernel.empty()) return run;

  std::vector<Placed> placed;
  std::vector<const void*> in_data;
  std::vector<void*> out_data;
  placed.reserve(n_in + n_out);
  for (size_t i = 0; i < n_in; ++i) {
    const bool blocked = in[i].layout == Layout::kNchw16c;
    const Tensor t = blocked ? to_blocked(c.inputs[i]) : c.inputs[i];
    const size_t offset = std::max(dtype_size(t.dtype()), options.offset ? 4 : size_t{0});
    placed.emplace_back(t.dtype(), t.empty() ? 0 : t.count(), options.offset ? offset : 0,
                        t.data());
    in_data.push_back(c.inputs[i].empty() ? nullptr : placed.back().data());
  }
  for (size_t i = 0; i < n_out; ++i) {
    const DType dtype = out[i].dtype;
    const int64_t count = storage_count(to_dims(out[i].shape), out[i].layout);
    if (i == 0 && options.in_place >= 0) {
      out_data.push_back(const_cast<void*>(in_data[static_cast<size_t>(options.in_place)]));
      placed.emplace_back(DType::kU8, 0, 0, nullptr);
      continue;
    }
    const size_t offset = options.offset ? std::max(dtype_size(dtype), size_t{4}) : 0;
    placed.emplace_back(dtype, count, offset, nullptr);
    out_data.push_back(c.node.outputs[i] == kNoValue ? nullptr : placed.back().data());
  }
  in_data.resize(std::max(n_in, static_cast<size_t>(std::max(0, c.node.def->max_inputs))));
  out_data.resize(std::max(n_out, static_cast<size_t>(std::max(0, c.node.def->max_outputs))));
  Placed scratch(DType::kU8, static_cast<int64_t>(lowered.scratch_bytes), 0, nullptr);
  std::atomic<int64_t> fault{0};
  lowered.run({in_data.data(), out_data.data(), static_cast<std::byte*>(scratch.data()),
               options.pool, &fault});
  HASTEN_CHECK(check_fault(c.node, fault));

  for (size_t i = 0; i < n_out; ++i) {
    if (out_data[i] == nullptr) {
      run.outputs.emplace_back();
      continue;
    }
    const Dims dims = to_dims(out[i].shape);
    const size_t where =
        i == 0 && options.in_place >= 0 ? static_cast<size_t>(options.in_place) : n_in + i;
    if (out[i].layout == Layout::kPlain) {
      run.outputs.push_back(placed[where].tensor(out[i].dtype, dims));
      continue;
    }
    bool padding = false;
    const int64_t count = storage_count(dims, out[i].layout);
    run.outputs.push_back(
        from_blocked(placed[where].tensor(out[i].dtype, {count}), dims, &padding));
    if (!padding) return fail(Code::kInternal, "padding channels of output {} are not zero", i);
  }
  return run;
}

}  // namespace hasten::test
