#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(EyeLike, OnesOnADiagonal) {
  const Tensor x = ints({2, 3}, {9, 9, 9, 9, 9, 9});
  check_op(make_case("EyeLike", 9, {x}), ints({2, 3}, {1, 0, 0, 0, 1, 0}));
  check_op(make_case("EyeLike", 9, {x}, {{"k", int64_t{-1}}, {"dtype", int64_t{1}}}),
           floats({2, 3}, {0, 0, 0, 1, 0, 0}));
  check_error(make_case("EyeLike", 9, {ints({2}, {1, 2})}), Code::kInvalidModel, "rank 1");
  check_error(make_case("EyeLike", 9, {x}, {{"dtype", int64_t{8}}}), Code::kUnsupported,
              "dtype str");
  check_error(make_case("EyeLike", 9, {x}, {{"dtype", int64_t{99}}}), Code::kUnsupported, "99");
}

}  // namespace
}  // namespace hasten::test
