#include "engine/ops/recurrent.h"
#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 2e-6};

/// Random inputs; those whose bit of `absent` is set are left out.
OpCase gru(int64_t steps, int64_t batch, int64_t input, int64_t hidden, Attrs attrs,
           unsigned absent, bool constant) {
  int64_t directions = 1;
  bool batch_first = false;
  for (const auto& [name, value] : attrs) {
    if (name == "direction" && std::get<std::string>(value) == "bidirectional") directions = 2;
    if (name == "layout") batch_first = std::get<int64_t>(value) == 1;
  }
  std::vector<double> lengths;
  for (int64_t b = 0; b < batch; ++b) {
    lengths.push_back(static_cast<double>((b * 5 + 2) % (steps + 1)));
  }
  std::vector<Tensor> in = {
      random_floats(batch_first ? Dims{batch, steps, input} : Dims{steps, batch, input}, 1),
      random_floats({directions, 3 * hidden, input}, 2, -0.5, 0.5),
      random_floats({directions, 3 * hidden, hidden}, 3, -0.5, 0.5),
      random_floats({directions, 6 * hidden}, 4, -0.5, 0.5),
      numbers(DType::kI32, {batch}, lengths),
      random_floats(batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden},
                    5)};
  for (size_t i = 0; i < in.size(); ++i) {
    if (absent >> i & 1) in[i] = Tensor();
  }
  while (in.back().empty()) in.pop_back();
  OpCase c = make_case("GRU", 14, std::move(in), std::move(attrs), 2);
  c.constant.assign(c.inputs.size(), false);
  for (const size_t i : {size_t{kInW}, size_t{kInR}, size_t{kInB}}) {
    if (i < c.inputs.size()) c.constant[i] = constant;
  }
  return c;
}

}  // namespace

// Expected values from numpy, with the sums written out after the specification.
TEST(Gru, GivesTheNumbersOfTheSpecification) {
  std::vector<float> x, w, r;
  for (int i = 0; i < 6; ++i) x.push_back(static_cast<float>(i) / 3);
  for (int i = 0; i < 6; ++i) w.push_back(static_cast<float>(i) / 10);
  for (int i = 0; i < 12; ++i) r.push_back(static_cast<float>(i) / 20 - 0.2f);
  for (const int64_t linear_first : {0, 1}) {
    const OpCase c =
        make_case("GRU", 7, {floats({2, 3, 1}, x), floats({1, 6, 1}, w), floats({1, 6, 2}, r)},
                  {{"linear_before_reset", linear_first}, {"hidden_size", int64_t{2}}}, 2);
    const auto got = check_op(c, linear_first ? "gru_step_f32" : "gru_gates_f32", kClose);
    ASSERT_EQ(got.size(), 2u);
    const Tensor want =
        linear_first
            ? floats({1, 3, 2}, {0.189974f, 0.219515f, 0.287056f, 0.325506f, 0.374655f, 0.413684f})
            : floats({1, 3, 2}, {0.189974f, 0.219515f, 0.287332f, 0.325292f, 0.375239f, 0.413269f});
    EXPECT_EQ(difference(got[1], want, {0, 1e-6}), "");
  }
}

TEST(Gru, TakesAllInputsInBothLayoutsAndDirections) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int64_t layout : {0, 1}) {
      for (const int64_t linear_first : {0, 1}) {
        const Attrs attrs = {{"direction", std::string(direction)},
                             {"layout", layout},
                             {"linear_before_reset", linear_first}};
        check_op(gru(5, 3, 7, 20, attrs, 0, true), "*", kClose);
        check_op(gru(4, 1, 3, 16, attrs, 0x10, false), "*", kClose);
        check_op(gru(3, 27, 3, 70, attrs, 0, true), "*", kClose);
      }
    }
  }
}

TEST(Gru, WorksWithoutOptionalInputs) {
  for (unsigned absent = 0; absent < 64; absent += 8) {
    for (const int64_t linear_first : {0, 1}) {
      check_op(
          gru(3, 2, 4, 9,
              {{"direction", std::string("bidirectional")}, {"linear_before_reset", linear_first}},
              absent, true),
          "*", kClose);
    }
  }
}

TEST(Gru, SplitsWideStepsOverThreads) {
  for (const int64_t linear_first : {0, 1}) {
    check_op(gru(2, 3, 5, 200, {{"linear_before_reset", linear_first}}, 0, true), "*",
             {1e-5, 1e-5});
  }
}

TEST(Gru, KnowsActivationsAndClip) {
  check_op(
      gru(3, 2, 4, 5,
          {{"activations", std::vector<std::string>{"HardSigmoid", "Softsign"}}, {"clip", 0.7f}}, 0,
          true),
      "*", kClose);
}

TEST(Gru, TakesEmptyTensors) {
  check_op(gru(0, 2, 4, 6, {}, 0, true), "*", kClose);
  check_op(gru(3, 0, 4, 6, {}, 0, true), "*", kClose);
}

TEST(Gru, RefusesWhatDoesNotFit) {
  OpCase c = gru(3, 2, 4, 6, {}, 0, true);
  c.inputs[kInB] = random_floats({1, 35});
  check_error(c, Code::kInvalidModel, "B is f32[1,35], it must be [1,36]");
}

}  // namespace hasten::test
