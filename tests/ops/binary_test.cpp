#include "engine/ops/elementwise.h"
#include "tests/ops/op_harness.h"

namespace hasten::test {

TEST(Binary, AddsTensorsOfOneShape) {
  check_op(make_case("Add", 13, {random_floats({3, 37}, 1), random_floats({3, 37}, 2)}));
}

TEST(Binary, AddsAScalar) {
  check_op(make_case("Add", 7, {floats({3}, {1, 2, 3}), floats({}, {0.5f})}),
           floats({3}, {1.5f, 2.5f, 3.5f}));
}

TEST(Binary, RefusesShapesThatDoNotBroadcast) {
  check_error(make_case("Add", 13, {random_floats({2, 3}), random_floats({2, 4})}),
              Code::kInvalidModel, "node 'n' (Add): shapes [2,3] and [2,4] do not broadcast");
}

TEST(Binary, RefusesMixedDtypes) {
  check_error(make_case("Add", 13, {random_floats({2}), ints({2}, {1, 2})}), Code::kInvalidModel,
              "dtypes f32 and i64");
}

namespace {

const Tolerance kExact{};

/// Pairs of dims that broadcast in every way that the kernel tells apart.
const std::pair<Dims, Dims> kBroadcasts[] = {
    {{}, {}},
    {{1}, {1, 1}},
    {{5}, {}},
    {{2, 3, 17}, {17}},
    {{2, 3, 17}, {3, 1}},
    {{2, 3, 17}, {2, 1, 1}},
    {{3, 1}, {1, 40}},
    {{2, 8, 5, 7}, {1, 8, 1, 1}},
    {{2, 8, 5, 7}, {2, 1, 5, 1}},
    {{1, 6, 3}, {4, 1, 3}},
    {{3, 1, 5, 1, 33}, {1, 4, 1, 2, 1}},
    {{2, 0, 3}, {1, 3}},
    {{0}, {1}},
    {{1000}, {1000}},
};

}  // namespace

TEST(Binary, BroadcastsEveryWay) {
  uint32_t seed = 1;
  for (const auto& [a, b] : kBroadcasts) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"}) {
      SCOPED_TRACE(fmt::format("{} {} {}", op, dims_text(a), dims_text(b)));
      const Tensor x = random_floats(a, ++seed), y = random_floats(b, ++seed);
      const auto dims = broadcast_dims(a, b);
      if (op != std::string("PRelu") || *dims == a) check_op(make_case(op, 13, {x, y}));
      if (op != std::string("PRelu")) check_op(make_case(op, 13, {y, x}));
    }
  }
}

TEST(Binary, ComparesEveryDtypeThatHasAKernel) {
  for (const DType dtype : {DType::kF32, DType::kI32, DType::kI64}) {
    for (const char* op : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"}) {
      for (const auto& [a, b] : kBroadcasts) {
        SCOPED_TRACE(fmt::format("{} {} {}", op, dims_text(a), dims_text(b)));
        check_op(make_case(op, 13,
                           {random_tensor(dtype, a, -3, 3, 1), random_tensor(dtype, b, -3, 3, 2)}));
      }
    }
  }
}

TEST(Binary, TreatsSpecialFloatsAlikeOnEveryTier) {
  const float inf = HUGE_VALF;
  const std::vector<float> v = {0,     -0.0f,  1,    -1, inf, -inf,  NAN, 1e-42f,
                                3e38f, -3e38f, 0.5f, 2,  3,   -2.5f, 7e8f};
  const auto n = static_cast<int64_t>(v.size());
  const Tensor a = floats({n, 1}, v), b = floats({1, n}, v);
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Greater", "Less",
                         "GreaterOrEqual", "LessOrEqual"}) {
    check_op(make_case(op, 13, {a, b}), "*", kExact);
  }
}

TEST(Binary, MaxAndMinGiveNanIfAnyInputIsNan) {
  const Tensor a = floats({3}, {NAN, 1, 2}), b = floats({3}, {0, NAN, 5}), c = floats({1}, {3});
  check_op(make_case("Max", 13, {a, b, c}), floats({3}, {NAN, NAN, 5}), "max_f32");
  check_op(make_case("Min", 13, {a, b, c}), floats({3}, {NAN, NAN, 2}), "min_f32");
  check_op(make_case("Max", 13, {a}), a, "alias");
  check_op(make_case("Min", 13, {ints({2}, {1, 5}), ints({}, {3})}), ints({2}, {1, 3}), "");
}

TEST(Binary, IntegersWrap) {
  const int64_t least = INT64_MIN;
  check_op(make_case("Add", 13, {ints({1}, {INT64_MAX}), ints({1}, {1})}), ints({1}, {least}));
  check_op(make_case("Sub", 13, {ints({1}, {least}), ints({1}, {1})}), ints({1}, {INT64_MAX}));
  check_op(make_case("Mul", 13, {ints({1}, {least}), ints({1}, {-1})}), ints({1}, {least}));
  check_op(make_case("Div", 13, {ints({4}, {least, 7, -7, 7}), ints({4}, {-1, 2, 2, -2})}),
           ints({4}, {least, 3, -3, -3}));
  const Tensor u8 = numbers(DType::kU8, {2}, {200, 3});
  check_op(make_case("Add", 14, {u8, u8}), numbers(DType::kU8, {2}, {144, 6}));
}

TEST(Binary, RefusesToDivideAnIntegerByZero) {
  check_error(make_case("Div", 13, {ints({2}, {1, 2}), ints({2}, {1, 0})}), Code::kInvalidModel,
              "node 'n' (Div): divides an integer by zero");
}

TEST(Binary, ComputesHalvesInFloatAndRoundsOnce) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    const Tensor a = numbers(dtype, {3}, {1, 2, 3}), b = numbers(dtype, {1}, {0.5});
    check_op(make_case("Mul", 13, {a, b}), numbers(dtype, {3}, {0.5, 1, 1.5}));
  }
  // 2048 + 1 rounds to even in half.
  check_op(
      make_case("Add", 13, {numbers(DType::kF16, {1}, {2048}), numbers(DType::kF16, {1}, {1})}),
      numbers(DType::kF16, {1}, {2048}));
}

TEST(Binary, LogicAndSelection) {
  const Tensor t = numbers(DType::kBool, {2, 2}, {1, 1, 0, 0}),
               u = numbers(DType::kBool, {2}, {1, 0});
  check_op(make_case("And", 7, {t, u}), numbers(DType::kBool, {2, 2}, {1, 0, 0, 0}), "and_bool");
  check_op(make_case("Or", 7, {t, u}), numbers(DType::kBool, {2, 2}, {1, 1, 1, 0}), "or_bool");
  check_op(make_case("Xor", 7, {t, u}), numbers(DType::kBool, {2, 2}, {0, 1, 1, 0}), "xor_bool");
  check_op(make_case("Equal", 7, {t, u}), numbers(DType::kBool, {2, 2}, {1, 0, 0, 1}),
           "equal_bool");
  check_op(make_case("Not", 1, {t}), numbers(DType::kBool, {2, 2}, {0, 0, 1, 1}), "equal_bool");
  check_op(make_case("Where", 9, {t, floats({2}, {1, 2}), floats({}, {-1})}),
           floats({2, 2}, {1, 2, -1, -1}), "where_32");
  for (const DType dtype : {DType::kF32, DType::kI64, DType::kU8, DType::kF16}) {
    for (const Dims& c : {Dims{3, 1, 20}, Dims{1}, Dims{2, 1}, Dims{3, 2, 20}}) {
      check_op(
          make_case("Where", 16,
                    {random_tensor(DType::kBool, c, 0, 2), random_tensor(dtype, {2, 20}, 0, 9, 2),
                     random_tensor(dtype, {3, 1, 1}, 0, 9, 3)}));
    }
  }
  Tensor words = *Tensor::make(DType::kString, {2});
  words.mutable_as<std::string>()[0] = "a";
  check_op(make_case("Equal", 19, {words, words}), numbers(DType::kBool, {2}, {1, 1}), "");
}

TEST(Binary, BlockedLayout) {
  const Layout blocked = Layout::kNchw16c, plain = Layout::kPlain;
  for (const int64_t channels : {16, 32, 20, 3, 35}) {
    const Tensor x = random_floats({2, channels, 3, 5}, 1),
                 y = random_floats({2, channels, 3, 5}, 2);
    const Tensor per_channel = random_floats({1, channels, 1, 1}, 3);
    const Tensor per_sample = random_floats({2, channels, 1, 1}, 4);
    const Tensor rank3 = random_floats({channels, 1, 1}, 5), one = random_floats({}, 6);
    const Tensor image = random_floats({1, channels, 3, 5}, 7);
    const Tensor row = random_floats({2, channels, 1, 5}, 8),
                 column = random_floats({1, channels, 3, 1}, 9);
    const std::tuple<Tensor, Layout> others[] = {
        {y, blocked},           {per_channel, plain}, {per_sample, plain}, {per_sample, blocked},
        {per_channel, blocked}, {rank3, plain},       {one, plain},        {image, blocked},
        {row, blocked},         {column, blocked}};
    for (const char* op : {"Add", "Div", "Max", "Mul", "Pow"}) {
      if (std::string(op) == "Pow" && !find_op("", op, 13)) continue;
      for (const auto& [other, layout] : others) {
        SCOPED_TRACE(fmt::format("{} {} {}", op, channels, dims_text(other.dims())));
        const Tolerance near{1e-6, 0};
        OpCase c = make_case(op, 13, {x, other});
        c.in_layouts = {blocked, layout};
        c.out_layout = blocked;
        EXPECT_FALSE(check_op(c,
                              fmt::format("{}_f32", op == std::string("Add")   ? "add"
                                                    : op == std::string("Div") ? "div"
                                                    : op == std::string("Max") ? "max"
                                                    : op == std::string("Mul") ? "mul"
                                                                               : "pow"),
                              near)
                         .empty());
        OpCase swapped = make_case(op, 13, {other, x});
        swapped.in_layouts = {layout, blocked};
        swapped.out_layout = blocked;
        check_op(swapped, "*", near);
      }
    }
    OpCase both = make_case("Add", 13, {row, column});
    both.in_layouts = {blocked, blocked};
    both.out_layout = blocked;
    check_op(both, "add_f32");
  }
}

}  // namespace hasten::test
