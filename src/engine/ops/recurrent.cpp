#include "engine/ops/recurrent.h"

#include <algorithm>
#include <limits>

namespace hasten {

namespace {

struct ActivationName {
  const char* name;
  ActivationKind kind;
  bool takes_alpha, takes_beta;
  float alpha, beta;  // defaults
};
constexpr ActivationName kNames[] = {
    {"relu", kActivationRelu, false, false, 0, 0},
    {"tanh", kActivationTanh, false, false, 0, 0},
    {"sigmoid", kActivationSigmoid, false, false, 0, 0},
    {"affine", kActivationAffine, true, true, 1, 0},
    {"leakyrelu", kActivationLeakyRelu, true, false, 0.01f, 0},
    {"thresholdedrelu", kActivationThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", kActivationScaledTanh, true, true, 1, 1},
    {"hardsigmoid", kActivationHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", kActivationElu, true, false, 1, 0},
    {"softsign", kActivationSoftsign, false, false, 0, 0},
    {"softplus", kActivationSoftplus, false, false, 0, 0},
};

std::string lower_case(std::string s) {
  for (char& ch : s) {
    if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
  }
  return s;
}

/// The input has these dims, as far as known; "?" stands for a dim that may be anything.
Status check_input(InferContext& c, size_t i, const char* name, const Shape& want, DType dtype) {
  if (!c.has_in(i)) return {};
  const Facts& in = c.in(i);
  if (in.dtype != DType::kNone && dtype != DType::kNone && in.dtype != dtype) {
    return c.invalid("{} has dtype {}, it must be {}", name, dtype_name(in.dtype),
                     dtype_name(dtype));
  }
  if (!in.has_shape) return {};
  bool fits = in.rank() == want.size();
  for (size_t d = 0; fits && d < want.size(); ++d) {
    fits = !in.shape[d].known() || !want[d].known() || in.shape[d] == want[d];
  }
  if (!fits) return c.invalid("{} is {}, it must be {}", name, in.text(), shape_text(want));
  return {};
}

}  // namespace

Result<Recurrent> Recurrent::parse(const OpContext& c, int64_t gates,
                                   const std::vector<std::string>& defaults) {
  const Node& n = c.node();
  Recurrent r;
  r.gates = gates;
  const std::string direction = n.attr_string("direction", "forward");
  if (direction == "bidirectional") {
    r.directions = 2;
    r.reverse[1] = true;
  } else if (direction == "reverse") {
    r.reverse[0] = true;
  } else if (direction != "forward") {
    return c.invalid("direction '{}' is none of forward, reverse, bidirectional", direction);
  }
  const int64_t layout = n.attr_int("layout", 0);
  if (layout != 0 && layout != 1) return c.invalid("layout {} is neither 0 nor 1", layout);
  r.batch_first = layout == 1;
  r.clip = n.attr_float("clip", std::numeric_limits<float>::infinity());
  if (!(r.clip >= 0)) return c.invalid("clip {} is negative", r.clip);

  std::vector<std::string> names;
  for (int64_t d = 0; d < r.directions; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (const Attr* given = n.find_attr("activations")) {
    const auto* strings = std::get_if<std::vector<std::string>>(given);
    const size_t wanted = names.size();
    if (strings == nullptr || strings->size() < wanted) {
      return c.invalid("{} activations are given, {} are needed",
                       strings ? strings->size() : size_t{0}, wanted);
    }
    // RNN's own default has one for each direction, whether or not both are there.
    names.assign(strings->begin(), strings->begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  const std::vector<float> alphas = n.attr_floats("activation_alpha");
  const std::vector<float> betas = n.attr_floats("activation_beta");
  size_t alpha = 0, beta = 0;  // consumed in the order of the activations that have one
  for (const std::string& name : names) {
    const auto* known = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&](const auto& k) { return lower_case(name) == k.name; });
    if (known == std::end(kNames)) return c.invalid("activation '{}' is not known", name);
    Activation a{known->kind, known->alpha, known->beta};
    if (known->takes_alpha && alpha < alphas.size()) a.a = alphas[alpha++];
    if (known->takes_beta && beta < betas.size()) a.b = betas[beta++];
    r.activations.push_back(a);
  }
  return r;
}

RecurrentDims::RecurrentDims(const Recurrent& r, const Dims& x, const Dims& recurrence)
    : steps(x[r.batch_first]), batch(x[!r.batch_first]), input(x[2]), hidden(recurrence[2]) {}

Status infer_recurrent(InferContext& c, const Recurrent& r, bool cell) {
  const Facts &x = c.in(kInX), &rec = c.in(kInR);
  const DType dtype = x.dtype;
  if (dtype != DType::kNone && !is_float(dtype)) {
    return c.invalid("X has dtype {}, it must be float", dtype_name(dtype));
  }
  const int64_t given = c.node().attr_int("hidden_size", 0);
  Dim hidden = rec.has_shape && rec.rank() == 3 ? rec.shape[2] : Dim::fresh();
  if (given < 0) return c.invalid("hidden_size {} is negative", given);
  if (given > 0 && hidden.known() && hidden.value() != given) {
    return c.invalid("hidden_size is {}, R {} has {}", given, rec.text(), hidden.text());
  }
  if (given > 0) hidden = Dim(given);
  const auto times = [&](int64_t n) {
    return hidden.known() ? Dim(n * hidden.value()) : Dim::fresh();
  };
  if (hidden.known() && hidden.value() > (int64_t{1} << 40)) {
    return c.invalid("hidden size {} is too large", hidden.text());
  }
  const Dim directions(r.directions);
  HASTEN_CHECK(check_input(c, kInX, "X", {Dim::fresh(), Dim::fresh(), Dim::fresh()}, dtype));
  const Dim input = x.has_shape ? x.shape[2] : Dim::fresh();
  HASTEN_CHECK(check_input(c, kInW, "W", {directions, times(r.gates), input}, dtype));
  HASTEN_CHECK(check_input(c, kInR, "R", {directions, times(r.gates), hidden}, dtype));
  HASTEN_CHECK(check_input(c, kInB, "B", {directions, times(2 * r.gates)}, dtype));
  const Dim steps = x.has_shape ? x.shape[r.batch_first] : Dim::fresh();
  const Dim batch = x.has_shape ? x.shape[!r.batch_first] : Dim::fresh();
  HASTEN_CHECK(check_input(c, kInLengths, "sequence_lens", {batch}, DType::kI32));
  if (c.in(kInLengths).known_value() && steps.known()) {
    const Tensor& lengths = c.in(kInLengths).value;
    if (const int64_t at = bad_length(lengths.as<int32_t>(), lengths.count(), steps.value())) {
      return c.invalid("sequence_lens[{}] is {}, there are {} steps", at - 1,
                       lengths.as<int32_t>()[at - 1], steps.text());
    }
  }
  const Shape state =
      r.batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  HASTEN_CHECK(check_input(c, kInH, "initial_h", state, dtype));
  if (cell) {
    HASTEN_CHECK(check_input(c, kInC, "initial_c", state, dtype));
    HASTEN_CHECK(check_input(c, kInP, "P", {directions, times(3)}, dtype));
  }
  c.set(0, dtype,
        r.batch_first ? Shape{batch, steps, directions, hidden}
                      : Shape{steps, directions, batch, hidden});
  c.set(1, dtype, state);
  if (cell) c.set(2, dtype, state);
  return {};
}

int64_t bad_length(const int32_t* lengths, int64_t batch, int64_t steps) {
  for (int64_t b = 0; lengths != nullptr && b < batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > steps) return b + 1;
  }
  return 0;
}

std::vector<double> doubles_of(const TensorView& t) {
  if (t.data == nullptr) return {};
  std::vector<double> out(static_cast<size_t>(t.count()));
  dispatch_float(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < out.size(); ++i) out[i] = Compute<T>::load(t.as<T>()[i]);
  });
  return out;
}

double RecurrentStep::product(int64_t row, const double* v) const {
  double sum = 0;
  for (int64_t i = 0; i < hidden; ++i) sum += recurrence[row * hidden + i] * v[i];
  return sum;
}

Status reference_recurrent(RefContext& c, const Recurrent& r, bool cell,
                           const std::function<void(const RecurrentStep&)>& step) {
  const RecurrentDims dims(r, c.in(kInX).dims, c.in(kInR).dims);
  const auto [steps, batch, input, hidden] = dims;
  const int64_t rows = r.gates * hidden;
  const DType dtype = c.in(kInX).dtype;
  const std::vector<double> x = doubles_of(c.in(kInX)), w = doubles_of(c.in(kInW)),
                            rec = doubles_of(c.in(kInR)), bias = doubles_of(c.in(kInB)),
                            h0 = doubles_of(c.in(kInH)),
                            c0 = cell ? doubles_of(c.in(kInC)) : std::vector<double>();
  const auto* lengths = c.in(kInLengths).as<int32_t>();
  if (const int64_t at = bad_length(lengths, batch, steps)) {
    return c.invalid("sequence_lens[{}] is {}, there are {} steps", at - 1, lengths[at - 1], steps);
  }
  const Dims state_dims =
      r.batch_first ? Dims{batch, r.directions, hidden} : Dims{r.directions, batch, hidden};
  void* out[3] = {};
  if (c.has_out(0)) {
    HASTEN_TRY(out[0], c.out(0, dtype,
                             r.batch_first ? Dims{batch, steps, r.directions, hidden}
                                           : Dims{steps, r.directions, batch, hidden}));
  }
  for (size_t i = 1; i < (cell ? 3u : 2u); ++i) {
    if (c.has_out(i)) {
      HASTEN_TRY(out[i], c.out(i, dtype, state_dims));
    }
  }
  const int64_t units = hidden;
  const auto put = [&](size_t i, int64_t at, const std::vector<double>& v) {
    if (out[i] == nullptr) return;
    dispatch_float(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t j = 0; j < units; ++j) {
        static_cast<T*>(out[i])[at + j] =
            Compute<T>::store(static_cast<typename Compute<T>::type>(v[static_cast<size_t>(j)]));
      }
    });
  };
  const auto n = static_cast<size_t>(hidden);
  const std::vector<double> zeros(n);
  std::vector<double> xw(static_cast<size_t>(rows)), no_bias(static_cast<size_t>(rows));
  for (int64_t d = 0; d < r.directions; ++d) {
    const double* wd = w.data() + d * rows * input;
    const double* wb = bias.empty() ? no_bias.data() : bias.data() + d * 2 * rows;
    const double* rb = bias.empty() ? no_bias.data() : wb + rows;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t state = (r.batch_first ? b * r.directions + d : d * batch + b) * hidden;
      std::vector<double> h(n), next(n), cells(n);
      if (!h0.empty()) std::copy_n(h0.begin() + state, n, h.begin());
      if (!c0.empty()) std::copy_n(c0.begin() + state, n, cells.begin());
      const int64_t length = lengths ? lengths[b] : steps;
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = r.reverse[d] && i < length ? length - 1 - i : i;
        const int64_t y = (r.batch_first ? (b * steps + t) * r.directions + d
                                         : (t * r.directions + d) * batch + b) *
                          hidden;
        if (i >= length) {
          put(0, y, zeros);
          continue;
        }
        const double* xt = x.data() + (r.batch_first ? b * steps + t : t * batch + b) * input;
        for (int64_t row = 0; row < rows; ++row) {
          double sum = wb[row];
          for (int64_t k = 0; k < input; ++k) sum += xt[k] * wd[row * input + k];
          xw[static_cast<size_t>(row)] = sum;
        }
        step({d, xw.data(), rec.data() + d * rows * hidden, rb, h.data(), next.data(),
              cell ? cells.data() : nullptr, hidden});
        std::swap(h, next);
        put(0, y, h);
      }
      if (length == 0 && lengths != nullptr) h = cells = zeros;
      put(1, state, h);
      if (cell) put(2, state, cells);
    }
  }
  return {};
}

}  // namespace hasten
