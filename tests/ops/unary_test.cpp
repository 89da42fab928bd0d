#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

/// What the polynomials of kernels/math.h are allowed (up to 7 units in the last place).
constexpr Tolerance kClose{8e-7, 1e-37};

struct UnaryCase {
  const char* op;
  int64_t opset;
  const char* kernel;
  double low, high;
  Attrs attrs;
  Tolerance tolerance;
};

const UnaryCase kCases[] = {
    {"Relu", 14, "relu_f32", -2, 2, {}, {}},
    {"LeakyRelu", 16, "leaky_relu_f32", -2, 2, {{"alpha", 0.1f}}, {2e-7, 0}},
    {"Sigmoid", 13, "sigmoid_f32", -20, 20, {}, kClose},
    {"HardSigmoid", 6, "hard_sigmoid_f32", -4, 4, {}, {2e-7, 1e-7}},
    {"HardSwish", 14, "hard_swish_f32", -4, 4, {}, {3e-7, 1e-7}},
    {"Tanh", 13, "tanh_f32", -5, 5, {}, kClose},
    {"Exp", 13, "exp_f32", -100, 88, {}, kClose},
    {"Log", 13, "log_f32", 0, 1000, {}, kClose},
    {"Sqrt", 13, "sqrt_f32", 0, 100, {}, {1e-7, 0}},
    {"Reciprocal", 13, "reciprocal_f32", -3, 3, {}, {1e-7, 0}},
    {"Erf", 13, "erf_f32", -4, 4, {}, kClose},
    {"Abs", 13, "abs_f32", -2, 2, {}, {}},
    {"Neg", 13, "neg_f32", -2, 2, {}, {}},
    {"Floor", 13, "floor_f32", -5, 5, {}, {}},
    {"Ceil", 13, "ceil_f32", -5, 5, {}, {}},
    {"Round", 11, "round_f32", -5, 5, {}, {}},
    {"Sign", 13, "sign_f32", -2, 2, {}, {}},
    {"Softplus", 1, "softplus_f32", -20, 20, {}, kClose},
    {"Gelu", 20, "gelu_f32", -5, 5, {}, {1e-6, 1e-6}},
    {"Gelu", 20, "gelu_tanh_f32", -5, 5, {{"approximate", std::string("tanh")}}, {1e-6, 1e-6}},
    {"Elu", 6, "elu_f32", -5, 5, {{"alpha", 1.5f}}, kClose},
    {"Selu", 6, "elu_f32", -5, 5, {}, kClose},
    {"Sin", 7, "sin_f32", -1e5, 1e5, {}, kClose},
    {"Cos", 7, "cos_f32", -1e5, 1e5, {}, kClose},
    {"Tan", 7, "tan_f32", -1e5, 1e5, {}, kClose},
    {"Asin", 7, "asin_f32", -1, 1, {}, kClose},
    {"Acos", 7, "acos_f32", -1, 1, {}, kClose},
    {"Atan", 7, "atan_f32", -20, 20, {}, kClose},
    {"Sinh", 9, "sinh_f32", -20, 20, {}, kClose},
    {"Cosh", 9, "cosh_f32", -20, 20, {}, kClose},
    {"Asinh", 9, "asinh_f32", -1e4, 1e4, {}, kClose},
    {"Acosh", 9, "acosh_f32", 1, 1e4, {}, kClose},
    {"Atanh", 9, "atanh_f32", -1, 1, {}, kClose},
    {"Softsign", 1, "softsign_f32", -5, 5, {}, {2e-7, 0}},
    {"ThresholdedRelu", 10, "thresholded_relu_f32", -3, 3, {{"alpha", 0.5f}}, {}},
    {"Mish", 18, "mish_f32", -20, 20, {}, kClose},
    {"Shrink", 9, "shrink_f32", -2, 2, {{"lambd", 0.75f}, {"bias", 0.3f}}, {}},
};

const std::vector<float> kSpecial = {
    0,          -0.0f, 0.5f,    -0.5f,    1.5f, -1.5f, 2.5f,   1e-42f,  -1e-42f, HUGE_VALF,
    -HUGE_VALF, NAN,   3.4e38f, -3.4e38f, 100,  -100,  1e-20f, -1e-20f, 88.8f,   -104.5f};

}  // namespace

TEST(Unary, AgreesWithTheReferenceAtEveryLength) {
  for (const UnaryCase& u : kCases) {
    for (const int64_t n : {0, 1, 15, 16, 17, 100, 5000}) {
      SCOPED_TRACE(fmt::format("{} {}", u.op, n));
      const Tensor x = random_floats({n}, static_cast<uint32_t>(n), u.low, u.high);
      check_op(make_case(u.op, u.opset, {x}, u.attrs), u.kernel, u.tolerance);
    }
  }
}

TEST(Unary, AgreesOnSpecialFloats) {
  for (const UnaryCase& u : kCases) {
    SCOPED_TRACE(u.op);
    const bool product = u.op == std::string("Gelu") || u.op == std::string("HardSwish");
    std::vector<float> values = kSpecial;
    if (product) std::erase_if(values, [](float v) { return std::isinf(v); });  // 0 * inf
    const Tensor x = floats({static_cast<int64_t>(values.size())}, values);
    check_op(make_case(u.op, u.opset, {x}, u.attrs), u.kernel,
             {u.tolerance.relative + 1e-7, u.tolerance.absolute});
  }
}

TEST(Unary, TakesBlockedLayoutAndKeepsItsPaddingZero) {
  for (const UnaryCase& u : kCases) {
    for (const int64_t channels : {16, 19}) {
      OpCase c =
          make_case(u.op, u.opset, {random_floats({2, channels, 3, 4}, 3, u.low, u.high)}, u.attrs);
      c.in_layouts = {Layout::kNchw16c};
      c.out_layout = Layout::kNchw16c;
      check_op(c, u.kernel, u.tolerance);
    }
  }
}

TEST(Unary, ServesEveryFloatDtype) {
  for (const UnaryCase& u : kCases) {
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
      check_op(make_case(u.op, u.opset, {random_tensor(dtype, {2, 3}, u.low, u.high)}, u.attrs),
               "");
    }
  }
}

TEST(Unary, KnownValues) {
  check_op(make_case("Round", 11, {floats({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.4999f})}),
           floats({6}, {0, 2, 2, 0, -2, 0}));
  check_op(make_case("Relu", 14, {floats({3}, {-1, NAN, 2})}), floats({3}, {0, NAN, 2}));
  check_op(make_case("Sign", 13, {floats({4}, {-3, 0, 5, NAN})}), floats({4}, {-1, 0, 1, NAN}));
  check_op(make_case("Abs", 13, {ints({3}, {-3, INT64_MIN, 5})}), ints({3}, {3, INT64_MIN, 5}));
  check_op(make_case("Neg", 13, {numbers(DType::kI8, {3}, {-3, -128, 5})}),
           numbers(DType::kI8, {3}, {3, -128, -5}));
  check_op(make_case("Relu", 14, {ints({2}, {-3, 4})}), ints({2}, {0, 4}));
  check_op(make_case("IsNaN", 13, {floats({3}, {1, NAN, HUGE_VALF})}),
           numbers(DType::kBool, {3}, {0, 1, 0}));
  check_op(make_case("IsInf", 10, {floats({3}, {-HUGE_VALF, NAN, HUGE_VALF})}),
           numbers(DType::kBool, {3}, {1, 0, 1}));
  check_op(make_case("IsInf", 20, {numbers(DType::kF16, {2}, {-HUGE_VAL, HUGE_VAL})},
                     {{"detect_negative", int64_t{0}}}),
           numbers(DType::kBool, {2}, {0, 1}));
  check_op(make_case("ThresholdedRelu", 10, {floats({4}, {1, 1.5f, -2, NAN})}),
           floats({4}, {0, 1.5f, 0, 0}));
  // From onnxruntime: Celu of alpha 2, Mish.
  check_op(make_case("Celu", 12, {floats({4}, {-3, -0.5f, 0, 2})}, {{"alpha", 2.0f}}),
           floats({4}, {-1.55373967f, -0.44239843f, 0, 2}), "celu_f32", kClose);
  check_op(make_case("Celu", 12, {floats({2}, {-1, 1})}, {{"alpha", -2.0f}}),
           floats({2}, {-1.29744256f, 1}), "", kClose);
  check_op(make_case("Mish", 18, {floats({4}, {-5, -1, 1, 20})}),
           floats({4}, {-0.033576237f, -0.30340144f, 0.86509848f, 20}), "mish_f32", kClose);
  // From mpmath: the largest float, and the one that comes closest to a multiple of pi.
  check_op(make_case("Sin", 7, {floats({3}, {3.40282347e38f, 1.5458358e29f, -1e5f})}),
           floats({3}, {-0.521876523f, -3.22953960e-9f, -0.0357487980f}), "sin_f32", kClose);
  // From Python: math.erf(0.5), math.tanh(0.5), math.exp(1).
  check_op(make_case("Erf", 13, {floats({1}, {0.5f})}), floats({1}, {0.5204998778f}), "*", kClose);
  check_op(make_case("Tanh", 13, {floats({1}, {0.5f})}), floats({1}, {0.4621171573f}), "*", kClose);
  check_op(make_case("Exp", 13, {floats({1}, {1})}), floats({1}, {2.718281828f}), "*", kClose);
}

TEST(Unary, RefusesOtherDtypesByName) {
  check_error(make_case("Exp", 13, {ints({1}, {1})}), Code::kInvalidModel,
              "node 'n' (Exp): input 0 has dtype i64, it must be one of f32");
  check_error(make_case("Celu", 12, {floats({1}, {1})}, {{"alpha", 0.0f}}), Code::kInvalidModel,
              "alpha is 0");
  check_error(make_case("Gelu", 20, {floats({1}, {1})}, {{"approximate", std::string("no")}}),
              Code::kInvalidModel, "approximate is 'no'");
}

TEST(Clip, TakesBoundsFromAttributesOrInputs) {
  const Tensor x = floats({5}, {-3, -1, 0, 2, NAN});
  check_op(make_case("Clip", 6, {x}, {{"min", -1.0f}, {"max", 1.0f}}),
           floats({5}, {-1, -1, 0, 1, NAN}), "clip_f32");
  check_op(make_case("Clip", 6, {x}), x, "clip_f32");
  check_op(make_case("Clip", 13, {x, floats({}, {-1}), floats({}, {1})}),
           floats({5}, {-1, -1, 0, 1, NAN}), "clip_f32");
  check_op(make_case("Clip", 11, {x, Tensor(), floats({}, {1})}), floats({5}, {-3, -1, 0, 1, NAN}));
  check_op(make_case("Clip", 13, {x}), x);
  check_op(make_case("Clip", 13, {floats({1}, {HUGE_VALF})}), floats({1}, {3.40282347e38f}));
  // min above max: all become max.
  check_op(make_case("Clip", 13, {floats({3}, {0, 2, 5}), floats({}, {3}), floats({}, {1})}),
           floats({3}, {1, 1, 1}));
  check_op(make_case("Clip", 12, {ints({3}, {-5, 0, 5}), ints({}, {-1}), ints({}, {1})}),
           ints({3}, {-1, 0, 1}), "");
  check_error(make_case("Clip", 13, {x, floats({2}, {1, 2})}), Code::kInvalidModel,
              "min has shape [2], it must be one number");
}

}  // namespace hasten::test
