#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr const char* kReductions[] = {
    "ReduceSum", "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",
    "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

std::string kernel_name(const std::string& op) {
  std::string name = "reduce";
  for (const char ch : op.substr(6)) {
    if (ch >= 'A' && ch <= 'Z') name += '_';
    name += static_cast<char>(std::tolower(ch));
  }
  return name + "_f32";
}

}  // namespace

TEST(Reduce, FoldsEveryChoiceOfAxes) {
  const Dims shapes[] = {{5}, {3, 70}, {2, 3, 37}, {2, 5, 1, 7}, {3, 2, 4, 5}, {1, 1}, {4, 200, 3}};
  for (const Dims& dims : shapes) {
    const auto rank = static_cast<int64_t>(dims.size());
    const Tensor x = random_floats(dims, 5, 0.1, 1.5);
    for (int64_t choice = 0; choice < (int64_t{1} << rank); ++choice) {
      std::vector<int64_t> axes;
      for (int64_t d = 0; d < rank; ++d) {
        if (choice >> d & 1) axes.push_back(d % 2 ? d - rank : d);
      }
      for (const char* op : kReductions) {
        SCOPED_TRACE(fmt::format("{} of {} over {}", op, dims_text(dims), dims_text(axes)));
        const auto count = static_cast<int64_t>(axes.size());
        Attrs attrs = {{"keepdims", choice % 2}};
        check_op(make_case(op, 18, {x, ints({count}, axes)}, attrs), kernel_name(op), {3e-6, 1e-6});
        attrs.emplace_back("axes", axes);
        const int64_t old = op == std::string("ReduceSum") ? 11 : 13;
        check_op(make_case(op, old, {x}, attrs), kernel_name(op), {3e-6, 1e-6});
      }
    }
  }
}

TEST(Reduce, KnownValues) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto over = [&](const char* op, int64_t axis) {
    return make_case(op, 18, {x, ints({1}, {axis})}, {{"keepdims", int64_t{0}}});
  };
  check_op(over("ReduceSum", 1), floats({2}, {6, 15}));
  check_op(over("ReduceMean", 0), floats({3}, {2.5f, 3.5f, 4.5f}));
  check_op(over("ReduceMax", 1), floats({2}, {3, 6}));
  check_op(over("ReduceProd", 1), floats({2}, {6, 120}));
  check_op(over("ReduceSumSquare", 1), floats({2}, {14, 77}));
  check_op(over("ReduceL2", 0), floats({3}, {4.12310563f, 5.38516481f, 6.70820393f}), "*",
           {2e-7, 0});
  check_op(over("ReduceLogSumExp", 1), floats({2}, {3.40760596f, 6.40760596f}), "*", {3e-7, 0});
  check_op(make_case("ReduceSum", 13, {x}), floats({1, 1}, {21}));
  check_op(make_case("ReduceSum", 13, {x}, {{"noop_with_empty_axes", int64_t{1}}}), x);
  check_op(
      make_case("ReduceSumSquare", 18, {x, ints({0}, {})}, {{"noop_with_empty_axes", int64_t{1}}}),
      floats({2, 3}, {1, 4, 9, 16, 25, 36}));
  check_op(make_case("ReduceSum", 13, {ints({2, 2}, {1, 2, 3, 4}), ints({1}, {0})}),
           ints({1, 2}, {4, 6}));
  check_op(
      make_case("ReduceMax", 20, {numbers(DType::kBool, {2, 2}, {0, 1, 0, 0}), ints({1}, {1})}),
      numbers(DType::kBool, {2, 1}, {1, 0}));
}

TEST(Reduce, NanAndInfinity) {
  const float inf = HUGE_VALF;
  const Tensor x = floats({4, 3}, {1, NAN, 2, inf, 0, 1, -inf, -inf, -inf, -inf, 3, 3});
  for (const char* op : kReductions) {
    check_op(make_case(op, 18, {x, ints({1}, {1})}), kernel_name(op), {1e-6, 0});
    check_op(make_case(op, 18, {x, ints({1}, {0})}), kernel_name(op), {1e-6, 0});
  }
}

TEST(Reduce, NothingToFold) {
  const Tensor none = floats({2, 0}, {});
  const float inf = HUGE_VALF;
  const auto over = [&](const char* op) { return make_case(op, 18, {none, ints({1}, {1})}); };
  check_op(over("ReduceSum"), floats({2, 1}, {0, 0}));
  check_op(over("ReduceProd"), floats({2, 1}, {1, 1}));
  check_op(over("ReduceMax"), floats({2, 1}, {-inf, -inf}));
  check_op(over("ReduceMin"), floats({2, 1}, {inf, inf}));
  check_op(over("ReduceMean"), floats({2, 1}, {NAN, NAN}));
  check_op(over("ReduceL2"), floats({2, 1}, {0, 0}));
  check_op(over("ReduceLogSum"), floats({2, 1}, {-inf, -inf}));
  check_op(over("ReduceLogSumExp"), floats({2, 1}, {-inf, -inf}));
  check_op(make_case("ReduceSum", 13, {none, ints({1}, {0})}), floats({1, 0}, {}));
  const Tensor no_bytes = numbers(DType::kU8, {0}, {});
  check_op(make_case("ReduceMin", 20, {no_bytes}), numbers(DType::kU8, {1}, {255}));
  check_error(make_case("ReduceMean", 18, {ints({0}, {})}), Code::kInvalidModel,
              "mean of no integers");
}

TEST(Reduce, SumsDoNotDependOnTheBatch) {
  // One sample of a batch, and the batch: the same bits, whichever axes are folded.
  const Tensor x = random_floats({3, 67, 5}, 9);
  const Tensor first = Tensor::borrow(DType::kF32, {1, 67, 5}, x.data(), nullptr);
  for (const auto& axes : std::vector<std::vector<int64_t>>{{1}, {2}, {1, 2}}) {
    const auto count = static_cast<int64_t>(axes.size());
    const auto all = run_kernel(make_case("ReduceSum", 13, {x, ints({count}, axes)}),
                                kernel_table(supported_isas().back()));
    const auto one = run_kernel(make_case("ReduceSum", 13, {first, ints({count}, axes)}),
                                kernel_table(supported_isas().back()));
    const Tensor& a = one->outputs[0];
    EXPECT_EQ(std::memcmp(all->outputs[0].data(), a.data(), a.bytes()), 0);
  }
}

TEST(Reduce, RefusesBadAxes) {
  const Tensor x = random_floats({2, 3});
  check_error(make_case("ReduceSum", 13, {x, ints({1}, {2})}), Code::kInvalidModel, "axis");
  check_error(make_case("ReduceSum", 13, {x, ints({2}, {1, -1})}), Code::kInvalidModel, "axis");
  check_error(make_case("ReduceSum", 13, {x, floats({1}, {0})}), Code::kInvalidModel, "axes");
}

TEST(GlobalPool, AveragesAndTakesTheLargest) {
  check_op(make_case("GlobalAveragePool", 1, {floats({1, 2, 1, 3}, {1, 2, 6, -1, 0, 4})}),
           floats({1, 2, 1, 1}, {3, 1}), "reduce_mean_f32");
  check_op(make_case("GlobalMaxPool", 1, {floats({1, 2, 1, 3}, {1, 2, 6, -1, 0, 4})}),
           floats({1, 2, 1, 1}, {6, 4}), "reduce_max_f32");
  for (const int64_t channels : {16, 40, 3}) {
    for (const Layout out : {Layout::kPlain, Layout::kNchw16c}) {
      for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
        OpCase c = make_case(op, 1, {random_floats({2, channels, 7, 7}, 3, -3, -1)});
        c.in_layouts = {Layout::kNchw16c};
        c.out_layout = out;
        EXPECT_FALSE(
            check_op(c, op == std::string("GlobalMaxPool") ? "reduce_max_f32" : "reduce_mean_f32",
                     {1e-6, 0})
                .empty());
      }
    }
  }
  check_error(make_case("GlobalAveragePool", 1, {random_floats({2, 3})}), Code::kInvalidModel,
              "rank 2, it must be at least 3");
}

}  // namespace hasten::test
