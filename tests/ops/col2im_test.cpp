#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

Tensor counting(Dims dims) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return floats(std::move(dims), values);
}

TEST(Col2Im, AgreesWithOnnxruntime) {
  const Tensor two = ints({2}, {2, 2});
  const auto fold = [&](Dims dims, int64_t size, Attrs attrs) {
    return make_case("Col2Im", 18, {counting(std::move(dims)), ints({2}, {size, size}), two},
                     attrs);
  };
  check_op(fold({1, 4, 4}, 3, {}), floats({1, 1, 3, 3}, {1, 7, 6, 12, 34, 22, 11, 27, 16}));
  check_op(fold({1, 4, 9}, 2, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
           floats({1, 1, 2, 2}, {66, 70, 78, 82}));
  check_op(make_case("Col2Im", 18,
                     {numbers(DType::kU8, {1, 2, 1}, {200, 100}), ints({1}, {2}), ints({1}, {2})}),
           numbers(DType::kU8, {1, 1, 2}, {200, 100}));
  check_error(fold({1, 3, 4}, 3, {}), Code::kInvalidModel, "no multiple of the block's 4");
  check_error(fold({1, 4, 5}, 3, {}), Code::kInvalidModel, "the image has 4 blocks");
  check_error(fold({1, 4, 4}, 1, {}), Code::kInvalidModel, "no room for a block of 2");
  check_error(fold({1, 4, 4}, 3, {{"strides", std::vector<int64_t>{0, 1}}}), Code::kInvalidModel,
              "strides is [0,1]");
  EXPECT_EQ(infer_text("Col2Im", 18,
                       {shaped(DType::kF32, {sym("n"), 8, sym("l")}), known(ints({2}, {3, 3})),
                        known(two)}),
            "f32[n,2,3,3]");
}

TEST(CenterCropPad, CropsAndPadsRoundingDown) {
  const auto crop = [](std::vector<int64_t> to, Attrs attrs = {}) {
    return make_case("CenterCropPad", 18,
                     {floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
                      ints({static_cast<int64_t>(to.size())}, to)},
                     attrs);
  };
  check_op(crop({1, 2}), floats({1, 2}, {4, 5}), "map_axes");
  check_op(crop({2, 6}), floats({2, 6}, {0, 4, 5, 6, 0, 0, 0, 7, 8, 9, 0, 0}), "map_axes");
  check_op(crop({1}, {{"axes", std::vector<int64_t>{-1}}}), floats({4, 1}, {2, 5, 8, 11}),
           "map_axes");
  check_op(crop({0, 2}), floats({0, 2}, {}));
  Tensor words = *Tensor::make(DType::kString, {1}), padded = *Tensor::make(DType::kString, {2});
  words.mutable_as<std::string>()[0] = padded.mutable_as<std::string>()[0] = "a";
  check_op(make_case("CenterCropPad", 18, {words, ints({1}, {2})}), padded, "");
  check_error(crop({2}), Code::kInvalidModel, "shape has 1 numbers for 2 axes");
  check_error(crop({2, -1}), Code::kInvalidModel, "negative");
  check_error(crop({2, 2}, {{"axes", std::vector<int64_t>{0, 0}}}), Code::kInvalidModel, "twice");
  check_error(crop({INT64_MAX, 2}), Code::kInvalidModel, "");
}

}  // namespace
}  // namespace hasten::test
