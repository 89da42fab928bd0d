#include "engine/ops/recurrent.h"
#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 2e-6};

std::vector<float> counted(int64_t n, float scale, float shift, int64_t from = 0) {
  std::vector<float> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(i + from) * scale + shift);
  return out;
}
Tensor int32s(Dims dims, std::vector<double> values) {
  return numbers(DType::kI32, std::move(dims), values);
}

struct Sizes {
  int64_t steps, batch, input, hidden;
};
constexpr size_t kAll = 8;

/// Random inputs; those whose bit of `absent` is set are left out.
OpCase lstm(const Sizes& s, Attrs attrs, unsigned absent, bool constant, int64_t opset = 14) {
  int64_t directions = 1;
  bool batch_first = false;
  for (const auto& [name, value] : attrs) {
    if (name == "direction" && std::get<std::string>(value) == "bidirectional") directions = 2;
    if (name == "layout") batch_first = std::get<int64_t>(value) == 1;
  }
  const Dims state =
      batch_first ? Dims{s.batch, directions, s.hidden} : Dims{directions, s.batch, s.hidden};
  std::vector<double> lengths;
  for (int64_t b = 0; b < s.batch; ++b)
    lengths.push_back(static_cast<double>((b * 5 + 2) % (s.steps + 1)));
  std::vector<Tensor> in = {
      random_floats(batch_first ? Dims{s.batch, s.steps, s.input} : Dims{s.steps, s.batch, s.input},
                    1),
      random_floats({directions, 4 * s.hidden, s.input}, 2, -0.5, 0.5),
      random_floats({directions, 4 * s.hidden, s.hidden}, 3, -0.5, 0.5),
      random_floats({directions, 8 * s.hidden}, 4, -0.5, 0.5),
      int32s({s.batch}, lengths),
      random_floats(state, 5),
      random_floats(state, 6),
      random_floats({directions, 3 * s.hidden}, 7, -0.5, 0.5)};
  for (size_t i = 0; i < kAll; ++i) {
    if (absent >> i & 1) in[i] = Tensor();
  }
  while (in.back().empty()) in.pop_back();
  OpCase c = make_case("LSTM", opset, std::move(in), std::move(attrs), 3);
  c.constant.assign(c.inputs.size(), false);
  for (const size_t i : {size_t{kInW}, size_t{kInR}, size_t{kInB}}) {
    if (i < c.inputs.size()) c.constant[i] = constant;
  }
  return c;
}

}  // namespace

// Expected values from numpy, with the sums written out after the specification.
TEST(Lstm, GivesTheNumbersOfTheSpecification) {
  for (const bool reverse : {false, true}) {
    const OpCase c = make_case(
        "LSTM", 14,
        {floats({3, 2, 1}, counted(6, 0.2f, 0, 1)), floats({1, 8, 1}, counted(8, 0.1f, 0)),
         floats({1, 8, 2}, counted(16, 1 / 40.0f, -0.2f)), Tensor(), int32s({2}, {3, 1}), Tensor(),
         Tensor(), floats({1, 6}, counted(6, 0.1f, 0, 1))},
        {{"direction", std::string(reverse ? "reverse" : "forward")}, {"hidden_size", int64_t{2}}},
        3);
    const std::vector<Tensor> got = check_op(c, "lstm_step_f32", kClose);
    ASSERT_EQ(got.size(), 3u);
    const std::vector<float> want =
        reverse ? std::vector<float>{0.140481f, 0.188817f, 0.061979f, 0.075203f}
                : std::vector<float>{0.221010f, 0.286079f, 0.061979f, 0.075203f};
    EXPECT_EQ(difference(got[1], floats({1, 2, 2}, want), {0, 1e-6}), "");
    for (int64_t i : {6, 7, 10, 11})
      EXPECT_EQ(number_at(got[0], i), 0) << "Y past the length, " << i;
  }
}

TEST(Lstm, TakesAllInputsInBothLayoutsAndDirections) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int64_t layout : {0, 1}) {
      for (const bool constant : {true, false}) {
        const Attrs attrs = {{"direction", std::string(direction)}, {"layout", layout}};
        check_op(lstm({5, 3, 7, 20}, attrs, 0, constant), "lstm_step_f32", kClose);
        check_op(lstm({4, 1, 3, 16}, attrs, 0xd8, constant), "lstm_step_f32", kClose);
      }
    }
  }
}

TEST(Lstm, WorksWithoutOptionalInputs) {
  for (unsigned absent = 0; absent < 256; absent += 8) {
    check_op(lstm({3, 2, 4, 9}, {{"direction", std::string("bidirectional")}}, absent, true),
             "lstm_step_f32", kClose);
  }
}

TEST(Lstm, DoesManySequencesAndUnits) {
  check_op(lstm({3, 29, 5, 33}, {}, 0, true), "lstm_step_f32", kClose);
  check_op(lstm({2, 1, 40, 256}, {}, 0xd0, true), "lstm_step_f32", {1e-5, 1e-5});
  check_op(lstm({2, 5, 40, 130}, {{"direction", std::string("bidirectional")}}, 0, true),
           "lstm_step_f32", {1e-5, 1e-5});
}

TEST(Lstm, KnowsEveryActivation) {
  for (const char* name :
       {"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
        "HardSigmoid", "Elu", "Softsign", "Softplus", "softPLUS"}) {
    const std::vector<std::string> names(3, name);
    check_op(lstm({3, 2, 4, 5}, {{"activations", names}, {"clip", 1.5f}}, 0, true), "lstm_step_f32",
             kClose);
    check_op(lstm({3, 2, 4, 5},
                  {{"activations", names},
                   {"activation_alpha", std::vector<float>{0.3f, 0.7f}},
                   {"activation_beta", std::vector<float>{0.6f}}},
                  0, true),
             "lstm_step_f32", kClose);
  }
}

// Alphas go to the activations that have one, in order: here to f and h.
TEST(Lstm, HandsOutAlphasInOrder) {
  const Attrs given = {
      {"activations", std::vector<std::string>{"HardSigmoid", "Tanh", "LeakyRelu"}},
      {"activation_alpha", std::vector<float>{0.25f, 0.5f}}};
  const OpCase c = make_case(
      "LSTM", 7,
      {floats({1, 1, 1}, {1}), floats({1, 4, 1}, {1, 1, 1, -1}), floats({1, 4, 1}, {0, 0, 0, 0})},
      given, 3);
  // i = o = f = 0.25 + 0.5; c = tanh(-1); C = i c; H = o * 0.5 C
  const double cell = 0.75 * std::tanh(-1.0);
  const auto got = check_op(c, "lstm_step_f32", kClose);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_NEAR(number_at(got[2], 0), cell, 1e-6);
  EXPECT_NEAR(number_at(got[1], 0), 0.75 * 0.5 * cell, 1e-6);
}

TEST(Lstm, ClipsAndCouples) {
  check_op(lstm({4, 3, 4, 6}, {{"clip", 0.4f}, {"input_forget", int64_t{1}}}, 0, true),
           "lstm_step_f32", kClose);
}

TEST(Lstm, TakesEmptyTensors) {
  check_op(lstm({0, 2, 4, 6}, {}, 0, true), "lstm_step_f32");
  check_op(lstm({3, 0, 4, 6}, {}, 0, true), "lstm_step_f32");
  check_op(lstm({3, 2, 0, 6}, {}, 0, true), "lstm_step_f32", kClose);
}

TEST(Lstm, LeavesOutputsOut) {
  for (unsigned absent = 0; absent < 8; ++absent) {
    OpCase c = lstm({3, 2, 4, 6}, {}, 0, true);
    for (size_t i = 0; i < 3; ++i) {
      if (absent >> i & 1) c.node.outputs[i] = kNoValue;
    }
    check_op(c, "lstm_step_f32", kClose);
  }
}

TEST(Lstm, KnowsOtherFloats) {
  for (const DType t : {DType::kF64, DType::kF16, DType::kBF16}) {
    const OpCase c = make_case("LSTM", 14,
                               {numbers(t, {1, 1, 1}, {1}), numbers(t, {1, 4, 1}, {1, 1, 1, 1}),
                                numbers(t, {1, 4, 1}, {0, 0, 0, 0})},
                               {}, 2);
    const double gate = 1 / (1 + std::exp(-1.0)), cell = gate * std::tanh(1.0);
    const auto got = check_op(c, "");
    ASSERT_EQ(got.size(), 2u);
    EXPECT_NEAR(number_at(got[1], 0), gate * std::tanh(cell), 2e-3);
  }
}

TEST(Lstm, RefusesWhatDoesNotFit) {
  OpCase c = lstm({3, 2, 4, 6}, {}, 0, true);
  c.inputs[kInW] = random_floats({1, 24, 5});
  check_error(c, Code::kInvalidModel, "W is f32[1,24,5], it must be [1,24,4]");
  c = lstm({3, 2, 4, 6}, {{"hidden_size", int64_t{5}}}, 0, true);
  check_error(c, Code::kInvalidModel, "hidden_size is 5");
  c = lstm({3, 2, 4, 6}, {{"direction", std::string("sideways")}}, 0, true);
  check_error(c, Code::kInvalidModel, "direction 'sideways'");
  c = lstm({3, 2, 4, 6}, {{"activations", std::vector<std::string>{"Tanh"}}}, 0, true);
  check_error(c, Code::kInvalidModel, "1 activations are given, 3 are needed");
  c = lstm({3, 2, 4, 6}, {{"activations", std::vector<std::string>{"Tanh", "Tanh", "Sinh"}}}, 0,
           true);
  check_error(c, Code::kInvalidModel, "activation 'Sinh' is not known");
  c = lstm({3, 2, 4, 6}, {}, 0, true);
  c.inputs[kInLengths] = int32s({2}, {3, 4});
  check_error(c, Code::kInvalidModel, "sequence_lens[1] is 4, there are 3 steps");
}

}  // namespace hasten::test
