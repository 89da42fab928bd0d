// Conv, ConvTranspose and the fused Conv: values by hand, from the specification's examples and
// numpy; shapes of all kinds, in planes and nchw16c, against the plain loops.
#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

using Ints = std::vector<int64_t>;
constexpr Tolerance kRounding{1e-5, 1e-5};
constexpr Tolerance kWinograd{1e-4, 1e-4};  // 1e-5 of the outputs' scale, which is about 5 here

std::vector<float> counting(int64_t n, float from = 0) {
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(from + static_cast<float>(i));
  return v;
}

TEST(Conv, ExampleOfTheSpecification) {
  const Tensor x = floats({1, 1, 5, 5}, counting(25)),
               w = floats({1, 1, 3, 3}, std::vector<float>(9, 1));
  check_op(make_case("Conv", 11, {x, w}, {{"pads", Ints{1, 1, 1, 1}}}),
           floats({1, 1, 5, 5}, {12,  21, 27, 33,  24,  33,  54,  63, 72,  51,  63,  99, 108,
                                 117, 81, 93, 144, 153, 162, 111, 72, 111, 117, 123, 84}),
           "*", kRounding);
  check_op(make_case("Conv", 11, {x, w}),
           floats({1, 1, 3, 3}, {54, 63, 72, 99, 108, 117, 144, 153, 162}), "*", kRounding);
}

struct Shape {
  Dims x, w;
  Attrs attrs;
};

std::vector<Shape> shapes() {
  const auto group = [](int64_t n) { return std::pair<std::string, Attr>("group", n); };
  const auto pads = [](Ints n) { return std::pair<std::string, Attr>("pads", std::move(n)); };
  const auto strides = [](Ints n) { return std::pair<std::string, Attr>("strides", std::move(n)); };
  const auto dilations = [](Ints n) {
    return std::pair<std::string, Attr>("dilations", std::move(n));
  };
  return {
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {pads({1, 1, 1, 1})}},
      {{1, 7, 9, 9}, {70, 7, 1, 1}, {}},
      {{1, 16, 12, 13}, {33, 16, 3, 2}, {strides({2, 1}), dilations({1, 2})}},
      {{1, 40, 17, 15}, {24, 40, 3, 3}, {pads({1, 1, 1, 1})}},
      {{2, 16, 16, 16}, {32, 16, 3, 3}, {pads({1, 1, 1, 1})}},
      {{1, 33, 14, 14}, {80, 33, 3, 3}, {pads({2, 0, 1, 3})}},
      {{1, 64, 12, 20}, {16, 64, 3, 3}, {}},
      {{1, 48, 9, 10}, {48, 48, 3, 3}, {pads({1, 1, 1, 1}), strides({2, 2})}},
      {{1, 32, 7, 7}, {64, 32, 5, 5}, {pads({2, 2, 2, 2})}},
      {{1, 3, 31, 29}, {64, 3, 7, 7}, {pads({3, 3, 3, 3}), strides({2, 2})}},
      {{2, 64, 7, 7}, {32, 16, 3, 3}, {group(4), pads({1, 1, 1, 1})}},
      {{2, 8, 7, 7}, {12, 2, 3, 3}, {group(4), {"auto_pad", std::string("SAME_UPPER")}}},
      {{1, 6, 8, 8},
       {6, 2, 3, 3},
       {group(3), {"auto_pad", std::string("SAME_LOWER")}, strides({2, 2})}},
      {{2, 19, 8, 9}, {19, 1, 3, 3}, {group(19), pads({1, 2, 0, 1})}},
      {{1, 32, 8, 9}, {32, 1, 5, 5}, {group(32), pads({2, 2, 2, 2}), strides({2, 2})}},
      {{1, 4, 8, 9}, {8, 1, 3, 3}, {group(4)}},
      {{2, 5, 30}, {17, 5, 4}, {pads({3, 1})}},
      {{3, 1, 90}, {37, 1, 33}, {strides({8})}},
      {{2, 1, 1, 40}, {18, 1, 1, 5}, {}},
      {{2, 1, 90}, {18, 1, 9}, {dilations({3})}},
      // Small images, of which several share the weights.
      {{21, 1, 60}, {37, 1, 33}, {strides({8})}},
      {{19, 24, 4}, {40, 24, 3}, {pads({1, 1}), strides({2})}},
      {{10, 32, 2, 2}, {32, 32, 1, 1}, {}},
      {{9, 32, 3}, {32, 8, 3}, {group(4), pads({1, 1})}},
      {{1, 3, 5, 6, 7}, {18, 3, 2, 3, 2}, {pads({1, 0, 1, 0, 1, 0})}},
      {{1, 4, 1, 1}, {4, 4, 1, 1}, {}},
      {{0, 3, 5, 5}, {4, 3, 3, 3}, {}},
  };
}

/// Exactly the order of sums that the reference has; and what is faster, within its bound.
void check_both(OpCase c) {
  for (const bool exact : {true, false}) {
    c.exact_math = exact;
    check_op(c, "*", exact ? kRounding : kWinograd);
  }
}

TEST(Conv, Shapes) {
  uint32_t seed = 1;
  for (const Shape& s : shapes()) {
    SCOPED_TRACE(dims_text(s.x) + " " + dims_text(s.w));
    const Tensor x = random_floats(s.x, ++seed), w = random_floats(s.w, ++seed, -0.2, 0.2),
                 b = random_floats({s.w[0]}, ++seed);
    check_both(make_case("Conv", 11, {x, w}, s.attrs));
    OpCase c = make_case("Conv", 11, {x, w, b}, s.attrs);
    check_both(c);
    c.constant = {false, false, false};  // weights that are computed
    check_both(c);
  }
}

TEST(Conv, BlockedWithResidualAndActivation) {
  // As many as to meet every layout in turn.
  const std::vector<std::string> activations = {
      "", "relu", "clip", "sigmoid", "hard_swish_affine", "hard_swish", "relu_affine"};
  size_t round = 0;
  uint32_t seed = 100;
  for (const Shape& s : shapes()) {
    if (s.x.size() != 4) continue;
    SCOPED_TRACE(dims_text(s.x) + " " + dims_text(s.w));
    const Tensor x = random_floats(s.x, ++seed), w = random_floats(s.w, ++seed, -0.2, 0.2),
                 b = random_floats({s.w[0]}, ++seed);
    const Tensor residual = random_floats(
        (*evaluate_node(make_case("Conv", 11, {x, w}, s.attrs).node, std::vector<Tensor>{x, w}))[0]
            .dims(),
        ++seed);
    for (const Layout in : {Layout::kPlain, Layout::kNchw16c}) {
      for (const Layout out : {Layout::kPlain, Layout::kNchw16c}) {
        const std::string activation = activations[++round % activations.size()];
        OpCase c = make_case("Conv", 1, {x, w, b, residual}, s.attrs, 1, "hasten");
        if (!activation.empty()) c.node.attrs.emplace_back("activation", activation);
        if (activation == "clip" || activation.ends_with("_affine"))
          c.node.attrs.emplace_back("activation_params", std::vector<float>{-0.5f, 1.5f});
        c.in_layouts = {in, Layout::kPlain, Layout::kPlain, out};
        c.out_layout = out;
        check_both(c);
      }
    }
  }
}

TEST(Conv, DepthwiseRowsOfEverySize) {
  const Tensor b = random_floats({19});
  for (const int64_t taps : {3, 5}) {
    const Tensor w = random_floats({19, 1, taps, taps});
    for (const int64_t stride : {1, 2}) {
      for (int64_t cols = 1; cols <= 17; cols += cols < 9 ? 1 : 4) {
        const int64_t rows = 1 + (cols * 5) % 9, pad = taps / 2;
        const Tensor x = random_floats({2, 19, rows, cols});
        // Padding of a side more or less than half the taps.
        for (const Ints& pads : {Ints{pad, pad, pad, pad}, Ints{pad, taps - 1, pad, 1}}) {
          SCOPED_TRACE(dims_text(x.dims()) + " " + dims_text(w.dims()) + dims_text(pads));
          OpCase c =
              make_case("Conv", 1, {x, w, b},
                        {{"group", int64_t{19}}, {"pads", pads}, {"strides", Ints{stride, stride}}},
                        1, "hasten");
          c.in_layouts = {Layout::kNchw16c, Layout::kPlain, Layout::kPlain};
          c.out_layout = Layout::kNchw16c;
          check_op(c, "conv_depthwise_rows_f32", kRounding);
        }
      }
    }
  }
  // Nothing of a window is input: the general kernel does that.
  OpCase c = make_case("Conv", 1, {random_floats({1, 16, 4, 4}), random_floats({16, 1, 3, 3})},
                       {{"group", int64_t{16}}, {"pads", Ints{3, 0, 0, 0}}}, 1, "hasten");
  c.in_layouts = {Layout::kNchw16c, Layout::kPlain};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "conv_depthwise_blocked_f32", kRounding);
}

TEST(Conv, WinogradWhereItPaysAndIsAllowed) {
  const auto conv = [](Dims x, Dims w, Attrs attrs) {
    return make_case("Conv", 11,
                     {random_floats(std::move(x), 1), random_floats(std::move(w), 2, -0.2, 0.2)},
                     std::move(attrs));
  };
  const std::pair<std::string, Attr> pads("pads", Ints{1, 1, 1, 1});
  OpCase c = conv({1, 32, 16, 16}, {64, 32, 3, 3}, {pads});
  check_op(c, "conv_winograd_f32", kWinograd);
  c.exact_math = true;
  check_op(c, "conv_plain_plain_f32", kRounding);
  for (const Attrs& attrs :
       {Attrs{pads, {"strides", Ints{2, 2}}}, Attrs{pads, {"dilations", Ints{2, 2}}}}) {
    check_op(conv({1, 32, 16, 16}, {64, 32, 3, 3}, attrs), "conv_plain_plain_f32", kRounding);
  }
  check_op(conv({1, 3, 16, 16}, {64, 3, 3, 3}, {pads}), "conv_plain_plain_f32", kRounding);
  check_op(conv({1, 32, 16, 16}, {64, 32, 5, 5}, {pads}), "conv_plain_plain_f32", kRounding);
}

TEST(Conv, AnImageHasTheSameBitsInAnyBatch) {
  const Tensor w = random_floats({32, 16, 3, 3}, 3), x = random_floats({3, 16, 12, 11}, 4);
  const Attrs attrs = {{"pads", Ints{1, 1, 1, 1}}};
  const KernelTable& kernels = kernel_table(supported_isas().back());
  const Tensor all = run_kernel(make_case("Conv", 11, {x, w}, attrs), kernels)->outputs[0];
  const int64_t of_image = x.count() / 3, of_output = all.count() / 3;
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor one = Tensor::floats(
        {1, 16, 12, 11},
        std::vector<float>(x.as<float>() + i * of_image, x.as<float>() + (i + 1) * of_image));
    const Tensor y = run_kernel(make_case("Conv", 11, {one, w}, attrs), kernels)->outputs[0];
    EXPECT_EQ(std::memcmp(y.as<float>(), all.as<float>() + i * of_output,
                          static_cast<size_t>(of_output) * sizeof(float)),
              0)
        << i;
  }
}

TEST(Conv, EveryFloat) {
  for (const DType t : {DType::kF16, DType::kBF16, DType::kF64}) {
    check_op(make_case("Conv", 11,
                       {random_tensor(t, {1, 3, 6, 6}, -1, 1, 1),
                        random_tensor(t, {4, 3, 3, 3}, -1, 1, 2)}),
             "");
  }
}

TEST(Conv, SaysWhatIsWrong) {
  const Tensor x = random_floats({1, 4, 5, 5}), w = random_floats({6, 3, 3, 3});
  check_error(make_case("Conv", 11, {x, w}), Code::kInvalidModel, "3");
  check_error(make_case("Conv", 11, {x, random_floats({6, 4, 3, 3}), random_floats({5})}),
              Code::kInvalidModel, "bias");
}

TEST(ConvTranspose, ExampleOfTheSpecification) {
  const Tensor x = floats({1, 1, 3, 3}, counting(9)),
               w = floats({1, 2, 3, 3}, std::vector<float>(18, 1));
  const std::vector<float> plane = {0,  1,  3, 3,  2,  3,  8,  15, 12, 7,  9,  21, 36,
                                    27, 15, 9, 20, 33, 24, 13, 6,  13, 21, 15, 8};
  std::vector<float> both = plane;
  both.insert(both.end(), plane.begin(), plane.end());
  check_op(make_case("ConvTranspose", 11, {x, w}), floats({1, 2, 5, 5}, both), "*", kRounding);
}

TEST(ConvTranspose, Shapes) {
  const auto attr = [](const char* name, Ints v) {
    return std::pair<std::string, Attr>(name, std::move(v));
  };
  const std::pair<std::string, Attr> two("group", int64_t{2});
  const std::vector<Shape> cases = {
      {{2, 3, 5, 6}, {3, 20, 3, 3}, {attr("strides", {2, 2}), attr("pads", {1, 1, 1, 1})}},
      {{1, 32, 6, 6}, {32, 16, 2, 2}, {attr("strides", {2, 2})}},
      {{1, 8, 4, 5}, {8, 3, 3, 3}, {two, attr("strides", {3, 2}), attr("output_padding", {1, 1})}},
      {{1, 5, 7}, {5, 6, 4}, {attr("dilations", {2})}},
      {{1, 4, 3, 4, 5}, {4, 3, 2, 2, 2}, {attr("strides", {1, 2, 1})}},
      {{1, 16, 5, 5}, {16, 1, 3, 3}, {{"group", int64_t{16}}}},
      // Windows side by side.
      {{2, 24, 7, 5}, {24, 1, 2, 2}, {attr("strides", {2, 2})}},
      {{1, 3, 4, 5}, {3, 2, 2, 3}, {attr("strides", {2, 3})}},
      {{1, 19, 6, 6}, {19, 5, 1, 3}, {attr("strides", {1, 3})}},
      {{1, 19, 6, 6}, {19, 5, 2, 2}, {attr("strides", {2, 2})}},
      {{1, 24, 5, 4}, {24, 1, 2, 2}, {attr("strides", {2, 2}), attr("output_padding", {1, 0})}},
  };
  uint32_t seed = 200;
  for (const Shape& s : cases) {
    SCOPED_TRACE(dims_text(s.x) + " " + dims_text(s.w));
    const Tensor x = random_floats(s.x, ++seed), w = random_floats(s.w, ++seed),
                 b = random_floats(
                     {s.w[1] *
                      (s.attrs[0].first == "group" ? std::get<int64_t>(s.attrs[0].second) : 1)},
                     ++seed);
    check_op(make_case("ConvTranspose", 11, {x, w}, s.attrs), "*", kRounding);
    OpCase c = make_case("ConvTranspose", 11, {x, w, b}, s.attrs);
    check_op(c, "*", kRounding);
    c.constant = {false, false, false};
    check_op(c, "*", kRounding);
    if (s.x.size() != 4 || s.attrs[0].first == "group") continue;
    const Tensor residual =
        random_floats((*evaluate_node(c.node, std::vector<Tensor>{x, w, b}))[0].dims(), ++seed);
    for (const Layout in : {Layout::kPlain, Layout::kNchw16c}) {
      for (const Layout out : {Layout::kPlain, Layout::kNchw16c}) {
        c = make_case("ConvTranspose", 1, {x, w, b}, s.attrs, 1, "hasten");
        c.node.attrs.emplace_back("activation", std::string("sigmoid"));
        c.in_layouts = {in, Layout::kPlain, Layout::kPlain};
        c.out_layout = out;
        check_op(c, "*", kRounding);
        c = make_case("ConvTranspose", 1, {x, w, b, residual}, s.attrs, 1, "hasten");
        c.in_layouts = {in, Layout::kPlain, Layout::kPlain, out};
        c.out_layout = out;
        check_op(c, "*", kRounding);
      }
    }
  }
}

TEST(ConvTranspose, FewChannelsShareVectors) {
  const OpCase c =
      make_case("ConvTranspose", 11, {random_floats({1, 24, 7, 5}), random_floats({24, 1, 2, 2})},
                {{"strides", Ints{2, 2}}});
  check_op(c, "conv_plain_spread_f32", kRounding);
}

}  // namespace
}  // namespace hasten::test
