#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {
constexpr Tolerance kClose{4e-7, 1e-44};
}

TEST(Pow, AgreesWithTheCLibraryOnAllSizes) {
  // Bases of every exponent, exponents of every size: from Python's and C's pow by the reference.
  std::vector<float> bases, exponents;
  for (int e = -149; e < 128; e += 3) {
    for (const float m : {1.0f, 1.37f, 1.9999f}) bases.push_back(std::ldexp(m, e));
  }
  for (const float base : {0.99999994f, 1.0000001f, 0.7071068f, 1.4142135f}) bases.push_back(base);
  for (const float e : {-3.7f, -1.0f, -0.5f, -0.01f, 0.1f, 0.3333333f, 0.5f, 0.9f, 1.0f, 1.1f, 2.0f,
                        2.2f, 3.0f, 4.0f, 7.5f, 30.0f, 1000.0f, -1000.0f}) {
    exponents.push_back(e);
  }
  const auto n = static_cast<int64_t>(bases.size()), m = static_cast<int64_t>(exponents.size());
  check_op(make_case("Pow", 13, {floats({n, 1}, bases), floats({1, m}, exponents)}), "pow_f32",
           kClose);
}

TEST(Pow, FollowsCOnSpecialValues) {
  const std::vector<float> v = {0,
                                -0.0f,
                                1,
                                -1,
                                2,
                                -2,
                                0.5f,
                                -0.5f,
                                3,
                                -3,
                                HUGE_VALF,
                                -HUGE_VALF,
                                NAN,
                                1e30f,
                                -1e30f,
                                2.5f,
                                -2.5f,
                                16777216.0f,
                                16777217.0f * 2,
                                1e-42f};
  const auto n = static_cast<int64_t>(v.size());
  check_op(make_case("Pow", 13, {floats({n, 1}, v), floats({1, n}, v)}), "pow_f32", {1e-6, 1e-44});
}

TEST(Pow, OneExponentGivesTheSameBitsAsATensorOfIt) {
  const Tensor x =
      floats({20}, {0,    -0.0f, 1,  -1, HUGE_VALF, -HUGE_VALF, NAN, 1e-42f, 0.3f,   -0.3f,
                    5.5f, 1e10f, -7, 3,  1e-10f,    2,          100, 0.01f,  -1e10f, 9});
  for (const float y : {2.0f, 3.0f, 0.5f, 1.0f, 0.0f, -1.0f, 2.5f, NAN, HUGE_VALF}) {
    const OpCase one = make_case("Pow", 13, {x, floats({}, {y})});
    const OpCase many = make_case("Pow", 13, {x, floats({20}, std::vector<float>(20, y))});
    const auto a = run_kernel(one, kernel_table(Isa::kScalar));
    const auto b = run_kernel(many, kernel_table(Isa::kScalar));
    EXPECT_EQ(bit_difference(a->outputs[0], b->outputs[0]), "") << "exponent " << y;
    check_op(one, "pow_f32", kClose);
  }
}

TEST(Pow, TakesExponentsOfOtherDtypes) {
  const Tensor x = floats({3}, {1, 2, -3});
  check_op(make_case("Pow", 12, {x, ints({}, {2})}), floats({3}, {1, 4, 9}), "pow_f32");
  check_op(make_case("Pow", 12, {x, ints({3}, {3, 2, 3})}), floats({3}, {1, 4, -27}), "");
  check_op(make_case("Pow", 12, {ints({4}, {2, -3, 1, -1}), ints({4}, {10, 3, -4, -3})}),
           ints({4}, {1024, -27, 1, -1}));
  check_op(make_case("Pow", 13, {ints({2}, {2, 5}), floats({2}, {0.5f, -1})}), ints({2}, {1, 0}));
  check_error(make_case("Pow", 13, {ints({1}, {0}), ints({1}, {-1})}), Code::kInvalidModel,
              "raises the integer 0 to a negative power");
}

TEST(Mod, FollowsPythonOrC) {
  const Tensor a = ints({6}, {-4, 7, 5, 4, -7, 8}), b = ints({6}, {2, -3, 8, -2, 3, 5});
  check_op(make_case("Mod", 13, {a, b}), ints({6}, {0, -2, 5, 0, 2, 3}));
  check_op(make_case("Mod", 13, {a, b}, {{"fmod", int64_t{1}}}), ints({6}, {0, 1, 5, 0, -1, 3}));
  check_op(make_case("Mod", 13, {floats({2}, {-4.3f, 7.2f}), floats({2}, {2.1f, -3.4f})},
                     {{"fmod", int64_t{1}}}),
           floats({2}, {-0.1f, 0.4f}), "*", {0, 1e-6});
  check_error(make_case("Mod", 13, {floats({1}, {1}), floats({1}, {1})}), Code::kInvalidModel,
              "fmod must be 1 for floats");
  check_error(make_case("Mod", 13, {ints({1}, {1}), ints({1}, {0})}), Code::kInvalidModel,
              "divides an integer by zero");
}

}  // namespace hasten::test
