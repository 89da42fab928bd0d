#include "engine/ops/recurrent.h"
#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 2e-6};

}  // namespace

TEST(Rnn, GivesTheNumbersOfTheSpecification) {
  const Tensor ones = floats({2, 3, 1}, {1, 1, 1, 1, 1, 1});
  const OpCase c =
      make_case("RNN", 14, {ones, floats({1, 2, 1}, {1, 1}), floats({1, 2, 2}, {0, 0, 0, 0})},
                {{"layout", int64_t{1}}}, 2);
  const auto got = check_op(c, "rnn_step_f32", kClose);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].dims(), (Dims{2, 3, 1, 2}));
  EXPECT_NEAR(number_at(got[0], 5), 0.761594, 1e-6);
  EXPECT_EQ(got[1].dims(), (Dims{2, 1, 2}));
}

TEST(Rnn, TakesAllInputs) {
  for (const bool constant : {true, false}) {
    for (const int64_t hidden : {5, 64, 130}) {
      OpCase c = make_case(
          "RNN", 14,
          {random_floats({4, 3, 6}, 1), random_floats({2, hidden, 6}, 2, -0.5, 0.5),
           random_floats({2, hidden, hidden}, 3, -0.2, 0.2), random_floats({2, 2 * hidden}, 4),
           numbers(DType::kI32, {3}, {4, 0, 2}), random_floats({2, 3, hidden}, 5)},
          {{"direction", std::string("bidirectional")},
           {"activations", std::vector<std::string>{"Tanh", "Sigmoid"}},
           {"clip", 2.0f}},
          2);
      c.constant = {false, constant, constant, constant, false, false};
      check_op(c, "rnn_step_f32", {1e-5, 1e-5});
    }
  }
}

TEST(Rnn, RefusesIntegers) {
  const Tensor x = numbers(DType::kI32, {1, 1, 1}, {1});
  check_error(make_case("RNN", 14, {x, x, x}), Code::kInvalidModel, "it must be float");
}

}  // namespace hasten::test
