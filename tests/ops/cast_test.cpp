#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

OpCase cast_case(const Tensor& x, DType to) {
  return make_case("Cast", 13, {x}, {{"to", static_cast<int64_t>(to)}});
}

Tensor strings(std::vector<std::string> values) {
  Tensor t = *Tensor::make(DType::kString, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_as<std::string>());
  return t;
}

constexpr DType kAll[] = {DType::kF32, DType::kU8,  DType::kI8,   DType::kU16, DType::kI16,
                          DType::kI32, DType::kI64, DType::kBool, DType::kF16, DType::kF64,
                          DType::kU32, DType::kU64, DType::kBF16};

}  // namespace

TEST(Cast, ConvertsEveryPairOfNumbers) {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      SCOPED_TRACE(fmt::format("{} to {}", dtype_name(from), dtype_name(to)));
      const double low = is_unsigned_int(from) || is_unsigned_int(to) ? 0 : -100;
      check_op(cast_case(random_tensor(from, {3, 37}, low, 100), to));
    }
  }
}

TEST(Cast, FloatsThatDoNotFitAnIntegerGoToItsEnd) {
  const Tensor x =
      floats({10}, {HUGE_VALF, -HUGE_VALF, NAN, 300, -300, 1e10f, -1e10f, 1e20f, -1e20f, -0.9f});
  check_op(cast_case(x, DType::kU8),
           numbers(DType::kU8, {10}, {255, 0, 0, 255, 0, 255, 0, 255, 0, 0}));
  check_op(cast_case(x, DType::kI8),
           numbers(DType::kI8, {10}, {127, -128, 0, 127, -128, 127, -128, 127, -128, 0}));
  const int64_t most = INT64_MAX, least = INT64_MIN;
  check_op(cast_case(x, DType::kI64),
           ints({10}, {most, least, 0, 300, -300, 10000000000, -10000000000, most, least, 0}),
           "cast");
  Tensor i32 = *Tensor::make(DType::kI32, {10});
  const int32_t want[] = {INT32_MAX, INT32_MIN, 0,         300,       -300,
                          INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0};
  std::copy(want, want + 10, i32.mutable_as<int32_t>());
  check_op(cast_case(x, DType::kI32), i32, "cast");
  check_op(cast_case(x, DType::kBool), numbers(DType::kBool, {10}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  check_op(cast_case(floats({3}, {2147483520.0f, -2147483648.0f, 2147483648.0f}), DType::kI32));
}

TEST(Cast, IntegersWrap) {
  check_op(cast_case(ints({3}, {200, -1, 70000}), DType::kI8),
           numbers(DType::kI8, {3}, {-56, -1, 112}));
  check_op(cast_case(ints({3}, {200, -1, 70000}), DType::kU16),
           numbers(DType::kU16, {3}, {200, 65535, 4464}));
}

TEST(Cast, RoundsEveryHalfWayCase) {
  // All halves to float and back; floats in the middle between neighbouring halves.
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x7c00; bits += 7) {
    const float a = to_float(Half{static_cast<uint16_t>(bits)});
    const float b = to_float(Half{static_cast<uint16_t>(bits + 1)});
    x.insert(x.end(), {a, (a + b) / 2, std::nextafter((a + b) / 2, 0.0f), -b});
  }
  x.insert(x.end(),
           {65519.99f, 65520.0f, 1e-8f, 2.9802322e-8f, 2.98023224e-8f * 1.0001f, NAN, HUGE_VALF});
  const Tensor t = floats({static_cast<int64_t>(x.size())}, x);
  check_op(cast_case(t, DType::kF16), "cast");
  check_op(cast_case(t, DType::kBF16), "cast");
  Tensor halves = *Tensor::make(DType::kF16, {65536});
  for (int i = 0; i < 65536; ++i) halves.mutable_as<uint16_t>()[i] = static_cast<uint16_t>(i);
  check_op(cast_case(halves, DType::kF32), "cast");
  // 1 + 2^-11 is half way between two halves; one bit further down decides, and only once.
  const Tensor d = numbers(DType::kF64, {2}, {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11});
  check_op(cast_case(d, DType::kF16), numbers(DType::kF16, {2}, {1 + 0x1p-10, 1}));
}

TEST(Cast, ReadsAndWritesStrings) {
  check_op(cast_case(strings({"3.14", "1e-5", "+INF", "-inf", "nan", " 7 "}), DType::kF32),
           floats({6}, {3.14f, 1e-5f, HUGE_VALF, -HUGE_VALF, NAN, 7}));
  check_op(cast_case(strings({"9223372036854775807", "-3", "2.7"}), DType::kI64),
           ints({3}, {INT64_MAX, -3, 2}));
  check_op(cast_case(floats({5}, {1.5f, NAN, HUGE_VALF, -HUGE_VALF, 0.1f}), DType::kString),
           strings({"1.5", "NaN", "INF", "-INF", "0.1"}));
  // The specification wants plain notation, whatever the size.
  check_op(cast_case(floats({5}, {1e-5f, 1e20f, -0.0f, 1, 16777216}), DType::kString),
           strings({"0.00001", "100000002004087734272", "-0", "1", "16777216"}));
  const Tensor ends = numbers(DType::kF64, {2}, {5e-324, 1.7976931348623157e308});
  const auto texts = check_op(cast_case(ends, DType::kString));
  ASSERT_EQ(texts.size(), 1u);
  check_op(cast_case(texts[0], DType::kF64), ends);
  check_op(cast_case(ints({2}, {-5, INT64_MIN}), DType::kString),
           strings({"-5", "-9223372036854775808"}));
  check_error(cast_case(strings({"1", "pear"}), DType::kF32), Code::kInvalidModel,
              "element 1 is 'pear', not a number");
}

TEST(Cast, RefusesTypesThatWeLackByName) {
  check_error(make_case("Cast", 19, {floats({1}, {1})}, {{"to", int64_t{17}}}), Code::kUnsupported,
              "to float8e4m3fn");
  check_error(make_case("Cast", 19, {floats({1}, {1})}, {{"to", int64_t{99}}}), Code::kUnsupported,
              "to ");
  check_error(make_case("Cast", 13, {floats({1}, {1})}), Code::kInvalidModel, "'to' is 0");
}

TEST(CastLike, TakesTheDtypeOfItsSecondInput) {
  check_op(make_case("CastLike", 15, {floats({2}, {1.7f, -2}), ints({1}, {0})}), ints({2}, {1, -2}),
           "cast");
  check_op(make_case("CastLike", 19, {floats({2}, {1.7f, -2}), floats({1}, {0})}),
           floats({2}, {1.7f, -2}), "alias");
}

}  // namespace hasten::test
