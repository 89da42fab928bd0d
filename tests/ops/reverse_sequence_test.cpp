#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase reverse(const Tensor& x, std::vector<int64_t> lengths, int64_t time, int64_t batch) {
  const auto n = static_cast<int64_t>(lengths.size());
  return make_case("ReverseSequence", 10, {x, ints({n}, std::move(lengths))},
                   {{"time_axis", time}, {"batch_axis", batch}});
}

TEST(ReverseSequence, BothAxes) {
  const Tensor x = ints({2, 3}, {0, 1, 2, 3, 4, 5});
  check_op(reverse(x, {2, 3}, 1, 0), ints({2, 3}, {1, 0, 2, 5, 4, 3}));
  check_op(reverse(x, {2, 1, 0}, 0, 1), ints({2, 3}, {3, 1, 2, 0, 4, 5}));
  check_error(reverse(x, {4, 1}, 1, 0), Code::kInvalidModel, "length 4 is outside [0, 3]");
  check_error(reverse(x, {1}, 1, 0), Code::kInvalidModel, "1 sequence lengths for a batch of 2");
  check_error(reverse(x, {1, 1}, 1, 1), Code::kInvalidModel, "batch_axis 1 and time_axis 1");
}

}  // namespace
}  // namespace hasten::test
