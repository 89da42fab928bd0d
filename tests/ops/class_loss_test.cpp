// Numbers from ONNX Runtime and numpy.
#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

const Tensor kScores = floats({3, 3}, {1, 2, 3, 0, 5, -1, 2, 2, 2});
const Tensor kWeights = floats({3}, {.5, 2, 3});

TEST(ClassLoss, WeightsIgnoredLabelsAndLogProbabilities) {
  const auto got =
      check_op(make_case("SoftmaxCrossEntropyLoss", 13, {kScores, ints({3}, {2, 0, -7}), kWeights},
                         {{"ignore_index", int64_t{-7}}}, 2),
               "");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(difference(got[0], floats({}, {1.0649729f}), {1e-6, 0}), "");
  const Tensor logs =
      floats({3, 3}, {-2.407606f, -1.4076059f, -0.40760595f, -5.0091743f, -0.00917445f, -6.0091743f,
                      -1.0986123f, -1.0986123f, -1.0986123f});
  EXPECT_EQ(difference(got[1], logs, {1e-5, 0}), "");
  // The same from logarithms.
  check_op(make_case("NegativeLogLikelihoodLoss", 12, {logs, ints({3}, {2, 0, -7}), kWeights},
                     {{"ignore_index", int64_t{-7}}}),
           floats({}, {1.0649729f}), "", {1e-6, 0});
}

TEST(ClassLoss, Reductions) {
  const Tensor labels = numbers(DType::kI32, {3}, {2, 1, 0});
  const auto loss = [&](const char* reduction) {
    return make_case("NegativeLogLikelihoodLoss", 13, {kScores, labels, kWeights},
                     {{"reduction", std::string(reduction)}});
  };
  check_op(loss("none"), floats({3}, {-9, -10, -1}));
  check_op(loss("sum"), floats({}, {-20}));
  check_op(loss("mean"), floats({}, {-20 / 5.5f}));
  check_error(loss("max"), Code::kInvalidModel, "attribute 'reduction' is 'max'");
}

TEST(ClassLoss, MoreDimensionsAndDtypes) {
  // [1,2,3]: classes lie 3 apart.
  for (const DType t : {DType::kF16, DType::kF32, DType::kF64}) {
    check_op(make_case("NegativeLogLikelihoodLoss", 13,
                       {numbers(t, {1, 2, 3}, {1, 2, 3, 4, 5, 6}), ints({1, 3}, {1, 0, 1})},
                       {{"reduction", std::string("none")}}),
             numbers(t, {1, 3}, {-4, -2, -6}));
  }
  check_op(make_case("SoftmaxCrossEntropyLoss", 13,
                     {numbers(DType::kBF16, {1, 2}, {0, 0}), ints({1}, {0})}),
           numbers(DType::kBF16, {}, {0.69140625}));
  check_error(make_case("SoftmaxCrossEntropyLoss", 12,
                        {numbers(DType::kBF16, {1, 2}, {0, 0}), ints({1}, {0})}),
              Code::kInvalidModel, "bf16");
}

TEST(ClassLoss, NothingLeftIsNaN) {
  const Attrs all_ignored{{"ignore_index", int64_t{1}}};
  check_op(make_case("SoftmaxCrossEntropyLoss", 13, {kScores, ints({3}, {1, 1, 1})}, all_ignored),
           floats({}, {NAN}));
  check_op(make_case("NegativeLogLikelihoodLoss", 13, {floats({0, 3}, {}), ints({0}, {})}),
           floats({}, {NAN}));
  check_op(make_case("NegativeLogLikelihoodLoss", 13, {floats({0, 3}, {}), ints({0}, {})},
                     {{"reduction", std::string("none")}}),
           floats({0}, {}));
  check_op(make_case("SoftmaxCrossEntropyLoss", 13, {floats({2, 3, 0}, {}), ints({2, 0}, {})},
                     {{"reduction", std::string("sum")}}),
           floats({}, {0}));
}

TEST(ClassLoss, Errors) {
  const auto loss = [](Tensor scores, Tensor labels, Tensor weights = {}) {
    std::vector<Tensor> in{std::move(scores), std::move(labels)};
    if (!weights.empty()) in.push_back(std::move(weights));
    return make_case("NegativeLogLikelihoodLoss", 13, std::move(in));
  };
  check_error(loss(kScores, ints({3}, {1, 3, 1})), Code::kInvalidModel,
              "node 'n' (NegativeLogLikelihoodLoss): label 1 is 3, there are 3 classes");
  check_error(loss(kScores, ints({3}, {1, 0, -1})), Code::kInvalidModel, "label 2 is -1");
  check_error(loss(floats({1, 0}, {}), ints({1}, {0})), Code::kInvalidModel, "0 classes");
  check_error(loss(kScores, ints({2}, {1, 0})), Code::kInvalidModel,
              "labels have the shape [2], scores [3,3]");
  check_error(loss(kScores, ints({3, 1}, {1, 0, 0})), Code::kInvalidModel, "labels have rank 2");
  check_error(loss(floats({3}, {1, 2, 3}), ints({}, {0})), Code::kInvalidModel, "[N,C,...]");
  check_error(loss(kScores, ints({3}, {0, 0, 0}), floats({2}, {1, 1})), Code::kInvalidModel,
              "2 weights for 3 classes");
  check_error(loss(kScores, ints({3}, {0, 0, 0}), numbers(DType::kF64, {3}, {1, 1, 1})),
              Code::kInvalidModel, "weights are f64, scores f32");
  check_error(loss(kScores, floats({3}, {0, 0, 0})), Code::kInvalidModel, "input 1 has dtype f32");
}

TEST(ClassLoss, Inference) {
  const Facts scores = shaped(DType::kF32, {sym("n"), Dim(5), sym("w")});
  const Facts labels = shaped(DType::kI64, {sym("n"), sym("w")});
  EXPECT_EQ(infer_text("SoftmaxCrossEntropyLoss", 13, {scores, labels},
                       {{"reduction", std::string("none")}}, 2),
            "f32[n,w]; f32[n,5,w]");
  EXPECT_EQ(infer_text("SoftmaxCrossEntropyLoss", 13, {unshaped(DType::kF16), labels}, {}, 2),
            "f16[]; f16[...]");
}

}  // namespace
}  // namespace hasten::test
