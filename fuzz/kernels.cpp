#include "engine/ir/text.h"
#include "engine/kernels/select.h"
#include "engine/ops/bind.h"
#include "fuzz/random_node.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

constexpr int64_t kMaxElements = 1 << 16;  // of an output

std::string describe(const RandomNode& r) {
  std::string text = fmt::format("{}@{}", r.op.node.op, r.op.node.version);
  for (const Tensor& t : r.op.inputs) text += t.empty() ? " _" : " " + tensor_text(t.view(), 12);
  for (const Tensor& t : r.op.inputs) {
    if (!t.empty()) text += fmt::format(" {}{}", dtype_name(t.dtype()), dims_text(t.dims()));
  }
  for (const auto& [name, value] : r.op.node.attrs) {
    text += " " + name + "=";
    if (const auto* i = std::get_if<int64_t>(&value)) text += std::to_string(*i);
    if (const auto* f = std::get_if<float>(&value)) text += std::to_string(*f);
    if (const auto* s = std::get_if<std::string>(&value)) text += *s;
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) text += dims_text(*list);
  }
  return text;
}

/// infer() as compilation does it: with symbols for the dims first, then with numbers.
Status infer(const RandomNode& r, bool symbols, std::vector<Facts>& out) {
  std::vector<Facts> in(r.op.inputs.size());
  std::vector<const Facts*> pointers;
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor& t = r.op.inputs[i];
    if (!t.empty()) {
      in[i] = {t.dtype(), true, to_shape(t.dims()), Layout::kPlain, t};
      if (symbols && is_float(t.dtype())) {
        in[i].value = Tensor();
        for (Dim& d : in[i].shape) d = Dim::fresh();
      }
    }
    pointers.push_back(t.empty() ? nullptr : &in[i]);
  }
  out.assign(r.op.node.outputs.size(), {});
  InferContext context(r.op.node, pointers, out);
  return r.op.node.def->infer(context);
}

Result<std::vector<Tensor>> run_reference(const RandomNode& r) {
  std::vector<TensorView> views;
  for (const Tensor& t : r.op.inputs) views.push_back(t.view());
  std::vector<Tensor> outputs(r.op.node.outputs.size());
  RefContext context(r.op.node, views,
                     [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
                       HASTEN_TRY(const int64_t count, checked_count(dims));
                       if (count > kMaxElements)
                         return fail(Code::kOutOfMemory, "too large to try");
                       HASTEN_TRY(outputs[i], Tensor::make(dtype, dims));
                       return outputs[i].mutable_data();
                     });
  HASTEN_CHECK(r.op.node.def->reference(context));
  return outputs;
}

double scale_of(const Tensor& t) {
  double scale = 0;
  for (int64_t i = 0; i < t.count(); ++i) {
    const double x = test::number_at(t, i);
    if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
  }
  return scale;
}

/// How far the kernel may be off the reference: rounding, in sums in another order.
test::Tolerance tolerance(const RandomNode& r, const Tensor& want) {
  double scale = scale_of(want);
  // What cancels does so on the way.
  for (const Tensor& t : r.op.inputs) {
    if (!t.empty() && is_float(t.dtype())) scale = std::max(scale, scale_of(t));
  }
  const double unit = want.dtype() == DType::kBF16  ? 1e-2
                      : want.dtype() == DType::kF16 ? 2e-3
                                                    : 1e-4;
  return {unit, std::max(unit * scale, 1e-30)};  // squares of less vanish
}

}  // namespace

std::string kernels(Input bytes) {
  Choices c(bytes.data(), bytes.size());
  const size_t offset = c.one_in(2) ? 4 : 0;
  const bool threads = c.one_in(4);
  auto made = random_node(c);
  if (!made) return "";
  RandomNode& r = *made;
  const auto wrong = [&](const std::string& what) { return what + "\n" + describe(r); };

  if (!bind_node(r.op.node) || r.op.node.def == nullptr) return "";
  std::vector<Facts> facts;
  (void)infer(r, true, facts);
  if (!infer(r, false, facts) || makes_no_elements(r.op.node, facts)) return "";
  for (const Facts& f : facts) {
    if (!f.known_shape()) continue;
    auto count = checked_count(to_dims(f.shape));
    if (!count || *count > kMaxElements) return "";
  }
  auto want = run_reference(r);
  if (!want && want.error().code == Code::kOutOfMemory) return "";

  static ThreadPool team(2);
  std::vector<Tensor> first;
  for (const Isa isa : supported_isas()) {
    const auto run = [&](const test::RunOptions& options) {
      return test::run_kernel(r.op, kernel_table(isa), options);
    };
    const auto check = [&](const test::RunOptions& options, const char* how) -> std::string {
      auto got = run(options);
      if (!got) {
        // With elements known an operator may do more.
        if (!want || !r.op.constant.empty()) return "";
        return wrong(
            fmt::format("an error on {}, {}: {}", isa_name(isa), how, got.error().message));
      }
      if (got->kernel.empty() || got->kernel == "alias") return "";
      if (!want)
        return wrong(fmt::format("{} gives what the reference refuses: {}", got->kernel,
                                 want.error().message));
      if (first.empty()) first = got->outputs;
      for (size_t i = 0; i < first.size(); ++i) {
        if (first[i].empty()) continue;
        std::string text = test::bit_difference(got->outputs[i], first[i]);
        if (text.empty() && !r.extreme) {
          text = test::difference(got->outputs[i], (*want)[i], tolerance(r, (*want)[i]));
          if (!text.empty()) text = "not as the reference: " + text;
        }
        if (!text.empty()) {
          return wrong(
              fmt::format("{} on {}, {}: output {}: {}", got->kernel, isa_name(isa), how, i, text));
        }
      }
      for (const int i : got->in_place) {
        const Tensor& t = r.op.inputs[static_cast<size_t>(i)];
        const Tensor& out = (*want)[0];
        if (options.in_place >= 0 || t.count() != out.count() || t.count() == 0 ||
            dtype_size(t.dtype()) != dtype_size(out.dtype())) {
          continue;
        }
        auto inside = run({.in_place = i});
        if (!inside) return wrong("an error in place");
        const std::string text = test::bit_difference(inside->outputs[0], first[0]);
        if (!text.empty()) return wrong(fmt::format("{} over input {}: {}", got->kernel, i, text));
      }
      return "";
    };
    if (std::string text = check({}, "plain"); !text.empty()) return text;
    if (offset > 0) {
      if (std::string text = check({.offset = offset}, "at odd addresses"); !text.empty())
        return text;
    }
    if (threads) {
      if (std::string text = check({.pool = &team}, "with 2 threads"); !text.empty()) return text;
    }
  }
  return "";
}

}  // namespace hasten::fuzz
