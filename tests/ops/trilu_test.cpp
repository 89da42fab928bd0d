#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Trilu, UpperAndLower) {
  const Tensor x = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto trilu = [&](int64_t k, int64_t upper) {
    return make_case("Trilu", 14, {x, ints({}, {k})}, {{"upper", upper}});
  };
  check_op(trilu(0, 1), ints({2, 3}, {1, 2, 3, 0, 5, 6}));
  check_op(trilu(0, 0), ints({2, 3}, {1, 0, 0, 4, 5, 0}));
  check_op(trilu(1, 1), ints({2, 3}, {0, 2, 3, 0, 0, 6}));
  check_op(trilu(INT64_MAX, 1), ints({2, 3}, {0, 0, 0, 0, 0, 0}));
  check_op(trilu(INT64_MIN, 1), x);
  const std::vector<std::string> words{"a", "b", "c", "d"}, kept{"a", "b", "", "d"};
  check_op(make_case("Trilu", 14, {Tensor::of<std::string>(DType::kString, {2, 2}, words)}),
           Tensor::of<std::string>(DType::kString, {2, 2}, kept));
  check_error(make_case("Trilu", 14, {ints({2}, {1, 2})}), Code::kInvalidModel, "rank 1");
}

}  // namespace
}  // namespace hasten::test
