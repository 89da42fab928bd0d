// com.microsoft.DynamicQuantizeLSTM against LSTM on the weights that its bytes stand for, and
// against its own plain loops.
#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

struct Options {
  DType dtype = DType::kI8;
  bool by_column = false, zeros = false, with_state = true;
  int64_t steps = 5, batch = 3, input = 9, hidden = 20;
  std::string direction = "forward";
  Attrs attrs;
};

/// The twelve inputs.
std::vector<Tensor> quantized_inputs(const Options& o) {
  const int64_t d = o.direction == "bidirectional" ? 2 : 1, n = 4 * o.hidden;
  const double low = o.dtype == DType::kI8 ? -128 : 0;
  const Dims numbers_dims = o.by_column ? Dims{d, n} : Dims{d};
  const double zero = o.zeros ? (o.dtype == DType::kI8 ? -3 : 131) : 0;
  const std::vector<double> zeros(static_cast<size_t>(count_of(numbers_dims)), zero);
  return {random_floats({o.steps, o.batch, o.input}, 1, -1, 2),
          random_tensor(o.dtype, {d, o.input, n}, low, low + 256, 2),
          random_tensor(o.dtype, {d, o.hidden, n}, low, low + 256, 3),
          random_floats({d, 8 * o.hidden}, 4, -.3, .3),
          o.with_state ? numbers(DType::kI32, {o.batch}, {5, 0, 3}) : Tensor(),
          o.with_state ? random_floats({d, o.batch, o.hidden}, 5, -1, 1) : Tensor(),
          o.with_state ? random_floats({d, o.batch, o.hidden}, 6, -1, 1) : Tensor(),
          o.with_state ? random_floats({d, 3 * o.hidden}, 7, -.2, .2) : Tensor(),
          random_floats(numbers_dims, 8, .001, .002),
          numbers(o.dtype, numbers_dims, zeros),
          random_floats(numbers_dims, 9, .001, .002),
          numbers(o.dtype, numbers_dims, zeros)};
}

OpCase quantized(const Options& o) {
  Attrs attrs = o.attrs;
  attrs.emplace_back("hidden_size", o.hidden);
  attrs.emplace_back("direction", o.direction);
  return make_case("DynamicQuantizeLSTM", 1, quantized_inputs(o), attrs, 3, "com.microsoft");
}

/// LSTM on [directions][4 hidden][k] floats.
OpCase plain(const Options& o) {
  std::vector<Tensor> in = quantized_inputs(o);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Tensor &w = in[i], &scale = in[i == 1 ? 8 : 10], &zero = in[i == 1 ? 9 : 11];
    const int64_t d = w.dims()[0], k = w.dims()[1], n = w.dims()[2];
    std::vector<float> values(static_cast<size_t>(d * k * n));
    for (int64_t at = 0; at < d * k * n; ++at) {
      const int64_t direction = at / (k * n), row = at / n % k, column = at % n;
      const int64_t number = o.by_column ? direction * n + column : direction;
      values[static_cast<size_t>((direction * n + column) * k + row)] = static_cast<float>(
          (number_at(w, at) - number_at(zero, number)) * number_at(scale, number));
    }
    in[i] = floats({d, n, k}, values);
  }
  in.resize(8);
  Attrs attrs = o.attrs;
  attrs.emplace_back("hidden_size", o.hidden);
  attrs.emplace_back("direction", o.direction);
  return make_case("LSTM", 14, in, attrs, 3);
}

void check(const Options& o) {
  const OpCase c = quantized(o);
  // Where the state rounds to another of 255 steps, what follows differs by that.
  const auto got = check_op(c, "lstm_step_s8", {0, 4e-3});
  const auto want = evaluate_node(plain(o).node, plain(o).inputs);
  ASSERT_TRUE(want) << want.error().message;
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(difference(got[i], (*want)[i], {0, 2e-2}), "");
  OpCase changing = c;
  changing.constant.assign(12, false);
  check_op(changing, "lstm_step_s8", {0, 4e-3});
}

TEST(DynamicQuantizeLSTM, IsNearlyLstm) {
  for (const DType dtype : {DType::kI8, DType::kU8}) {
    for (const bool by_column : {false, true}) {
      for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
        Options o;
        o.dtype = dtype;
        o.by_column = by_column;
        o.zeros = dtype == DType::kU8;
        o.direction = direction;
        check(o);
      }
    }
  }
}

TEST(DynamicQuantizeLSTM, SizesAndAttributes) {
  for (const int64_t hidden : {1, 16, 33}) {
    Options o;
    o.hidden = hidden;
    o.with_state = false;
    o.batch = 1;
    check(o);
    o.batch = 31;
    o.steps = 2;
    o.attrs = {{"clip", .4f}, {"input_forget", int64_t{1}}};
    check(o);
  }
}

TEST(DynamicQuantizeLSTM, ARowDependsOnItselfAlone) {
  Options o;
  o.with_state = false;
  const auto inputs = quantized_inputs(o);
  const OpCase all = quantized(o);
  const auto whole = run_kernel(all, kernel_table(supported_isas().back()));
  ASSERT_TRUE(whole) << whole.error().message;
  for (int64_t b = 0; b < o.batch; ++b) {
    OpCase one = all;
    std::vector<float> x;
    for (int64_t t = 0; t < o.steps; ++t) {
      const float* row = inputs[0].as<float>() + (t * o.batch + b) * o.input;
      x.insert(x.end(), row, row + o.input);
    }
    one.inputs[0] = floats({o.steps, 1, o.input}, x);
    const auto alone = run_kernel(one, kernel_table(supported_isas().back()));
    ASSERT_TRUE(alone) << alone.error().message;
    for (int64_t i = 0; i < o.hidden; ++i) {
      EXPECT_EQ(alone->outputs[1].as<float>()[i], whole->outputs[1].as<float>()[b * o.hidden + i]);
    }
  }
}

TEST(DynamicQuantizeLSTM, Errors) {
  Options o;
  OpCase c = quantized(o);
  c.inputs[8] = floats({3}, {1, 1, 1});
  check_error(c, Code::kInvalidModel, "W's scale is f32[3]");
  c = quantized(o);
  c.inputs[9] = numbers(DType::kU8, {1}, {0});
  check_error(c, Code::kInvalidModel, "W's zero point has dtype u8");
  c = quantized(o);
  c.node.inputs[10] = kNoValue;
  c.inputs[10] = Tensor();
  check_error(c, Code::kInvalidModel, "input 10 is required");
  c = quantized(o);
  c.inputs[1] = random_tensor(DType::kI8, {1, 8, 80}, 0, 9);
  check_error(c, Code::kInvalidModel, "W is");
}

}  // namespace
}  // namespace hasten::test
