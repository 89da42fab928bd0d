// Plans of whole graphs: what is printed, where values lie, and where segments end.
#include <gtest/gtest.h>

#include <random>

#include "engine/ir/text.h"
#include "engine/kernels/select.h"
#include "engine/ops/bind.h"
#include "engine/plan/evaluate.h"
#include "engine/plan/plan.h"
#include "engine/plan/step_cost.h"

namespace hasten {
namespace {

/// A bound and inferred graph with all that its plans need.
struct Planned {
  Graph graph;
  PackedStore packed;
  PlanContext context;

  explicit Planned(const std::string& text) {
    auto parsed = parse_graph(text);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message + "\n" + text);
    if (!parsed) return;
    graph = std::move(*parsed);
    EXPECT_TRUE(bind_graph(graph));
    context.evaluate = [](const Node& node, std::span<const Tensor> inputs) {
      return evaluate_node(node, inputs);
    };
    const Status ok = infer_graph(graph, context.evaluate);
    EXPECT_TRUE(ok) << (ok ? "" : ok.error().message + "\n" + text);
    context.graph = &graph;
    context.kernels = &kernel_table(supported_isas().back());
    context.packed = &packed;
  }

  std::shared_ptr<Segment> plan() {
    std::vector<Facts> facts;
    for (ValueId id : graph.main.inputs) {
      const Value& v = graph.value(id);
      facts.push_back({v.dtype, true, v.shape, Layout::kPlain, {}, false});
    }
    auto segment =
        build_segment(context, start_path(context, graph.main, graph.main.inputs, facts));
    EXPECT_TRUE(segment) << (segment ? "" : segment.error().message);
    return segment ? *segment : nullptr;
  }
};

const std::string kHead = "graph \"g\" opset {\"\": 17}\n";

TEST(Segment, OnlyWhatIsLongEnoughIsShared) {
  Planned p(kHead +
            "in %x: f32[64,4096]\nin %v: f32[16]\n"
            "%y = Exp(%x) \"long\"\n%w = Exp(%v) \"short\"\nout %y, %w\n");
  const std::shared_ptr<Segment> segment = p.plan();
  ASSERT_EQ(segment->steps.size(), 2u);
  // 2 MB and some twenty FLOP an element take long enough for threads that are far apart.
  EXPECT_GT(segment->steps[0].share_within_ns, 200);
  EXPECT_GT(segment->steps[0].ns, 30e3);
  EXPECT_LT(segment->steps[0].ns, 1e6);
  EXPECT_LT(segment->steps[1].share_within_ns, 10);
}

TEST(StepCost, WhatHelpsAndWhatDoesNot) {
  StepInfo product;
  product.flops = 2e6;
  const double ns = step_ns(product);
  EXPECT_GT(worth_sharing_within_ns(2 * ns, 1e4), worth_sharing_within_ns(ns, 1e4));
  EXPECT_GT(worth_sharing_within_ns(ns, 1e3), worth_sharing_within_ns(ns, 1e5));
  EXPECT_EQ(worth_sharing_within_ns(ns, 1e6), worth_sharing_within_ns(ns, 1e8)) << "in streams";
  EXPECT_EQ(jobs_of("Conv", false, 50), 1);
  EXPECT_EQ(jobs_of("LSTM", false, 50), 100) << "each step in time hands out jobs of its own";
  EXPECT_EQ(jobs_of("LSTM", true, 50), 1) << "a direction for each thread";
}

TEST(Segment, PrintsStepsAndPlaces) {
  Planned p(kHead +
            "const %b: f32[3] = {1, 2, 3}\nin %x: f32[2,3]\n"
            "%s = Add(%x, %b) \"sum\"\n%e = Exp(%s) \"exp\"\n%d = Mul(%s, %e) \"mul\"\n"
            "%y = Abs(%d) \"abs\"\nout %y\n");
  EXPECT_EQ(print_segment(*p.plan()),
            "segment 0 arena 64 bytes\n"
            "   0 Add [add_f32] (f32[2,3] in0, f32[3] const) -> (f32[2,3] out0) \"sum\"\n"
            "   1 Exp [exp_f32] (f32[2,3] out0) -> (f32[2,3] @0:0) \"exp\"\n"
            "   2 Mul [mul_f32] (f32[2,3] out0, f32[2,3] @0:0) -> (f32[2,3] out0) \"mul\"\n"
            "   3 Abs [abs_f32] (f32[2,3] out0) -> (f32[2,3] out0) \"abs\"\n");
}

TEST(Segment, ViewsCostNothing) {
  Planned p(kHead +
            "const %dims: i64[1] = {6}\nin %x: f32[2,3]\n"
            "%r = Relu(%x)\n%v = Reshape(%r, %dims)\n%y = Exp(%v)\nout %y\n");
  EXPECT_EQ(p.plan()->steps.size(), 2u);
}

TEST(Segment, AnInputThatIsAnOutputIsCopied) {
  Planned p(kHead + "in %x: f32[2]\n%y = Relu(%x)\nout %y, %x, %y\n");
  const auto segment = p.plan();
  ASSERT_EQ(segment->copies.size(), 2u);
  EXPECT_EQ(segment->copies[0].output, 1);
  EXPECT_EQ(segment->copies[0].from.kind, Place::kInput);
  EXPECT_EQ(segment->copies[1].output, 2);
  EXPECT_EQ(segment->outputs.size(), 3u);
}

TEST(Segment, ShapeArithmeticTakesNoSteps) {
  Planned p(kHead +
            "const %i: i64[1] = {1}\nconst %m: i64[1] = {-1}\nin %x: f32[2,3,4]\n"
            "%s = Shape(%x)\n%d = Gather(%s, %i)\n%t = Concat(%d, %m) {axis=0}\n"
            "%y = Reshape(%x, %t)\n%z = Relu(%y)\nout %z\n");
  const auto segment = p.plan();
  ASSERT_EQ(segment->steps.size(), 1u);
  EXPECT_EQ(segment->steps[0].info.inputs[0], "f32[3,8]");
  EXPECT_EQ(segment->end, Segment::End::kDone);
}

TEST(Segment, AConditionEndsIt) {
  Planned p(kHead +
            "in %c: bool[]\nin %x: f32[2]\n%r = Relu(%x)\n"
            "%y = If(%c) \"choose\"\n  then_branch:\n    %t = Exp(%r)\n    out %t\n"
            "  else_branch:\n    out %r\nout %y\n");
  const auto segment = p.plan();
  EXPECT_EQ(segment->steps.size(), 1u);
  EXPECT_EQ(segment->end, Segment::End::kReadValues);
  EXPECT_EQ(segment->read, p.graph.main.nodes[1].inputs);
  ASSERT_TRUE(segment->path);
  EXPECT_NE(print_segment(*segment).find("then as the elements that node 'choose' (If) needs say"),
            std::string::npos);
  // Going on with the condition known.
  for (const bool choice : {true, false}) {
    Path path = *segment->path;
    Tensor value = *Tensor::make(DType::kBool, {});
    *value.mutable_as<bool>() = choice;
    path.facts[static_cast<size_t>(segment->read[0])].value = value;
    path.values_read = true;
    auto child = build_segment(p.context, std::move(path));
    ASSERT_TRUE(child) << child.error().message;
    EXPECT_EQ((*child)->depth, 1);
    EXPECT_EQ((*child)->end, Segment::End::kDone);
    EXPECT_EQ((*child)->steps.size(), choice ? 1u : 0u);
    EXPECT_EQ((*child)->copies.size(), choice ? 0u : 1u);
  }
}

TEST(Segment, AConstantConditionDoesNot) {
  Planned p(kHead +
            "const %c: bool[] = {true}\nin %x: f32[2]\n"
            "%y = If(%c) \"choose\"\n  then_branch:\n    %t = Exp(%x)\n    out %t\n"
            "  else_branch:\n    out %x\nout %y\n");
  const auto segment = p.plan();
  EXPECT_EQ(segment->end, Segment::End::kDone);
  EXPECT_EQ(segment->steps.size(), 1u);
}

TEST(Segment, ATargetOfReshapeEndsIt) {
  Planned p(kHead +
            "in %x: f32[2,3]\nin %d: i64[2]\n%r = Relu(%x)\n%v = Reshape(%r, %d) \"view\"\n"
            "%y = Exp(%v)\nout %y\n");
  const auto segment = p.plan();
  EXPECT_EQ(segment->end, Segment::End::kReadValues);
  EXPECT_EQ(segment->end_node->name, "view");
  // The reshaped value stays alive for the child: its place is known there.
  const Place& place = segment->path->places[static_cast<size_t>(p.graph.main.nodes[0].outputs[0])];
  EXPECT_EQ(place.kind, Place::kArena);
  EXPECT_EQ(place.depth, 0);
}

TEST(Segment, WhatNobodyKnowsBeforeItRunsEndsIt) {
  Planned p(kHead +
            "in %x: f32[2000]\n%r = Relu(%x)\n%i = NonZero(%r) \"find\"\n"
            "%y = Transpose(%i) {perm=[1,0]}\nout %y\n");
  const auto segment = p.plan();
  EXPECT_EQ(segment->end, Segment::End::kDynamic);
  EXPECT_EQ(segment->end_node->name, "find");
  EXPECT_TRUE(segment->read.empty());  // too many elements to read
}

int64_t bytes_of(const std::string& text) {  // "f32[2,16]"
  int64_t bytes = 4;
  for (size_t at = text.find('['); text[at] != ']';) {
    size_t used = 0;
    bytes *= std::stoll(text.substr(at + 1), &used);
    at += 1 + used;
  }
  return bytes;
}

/// Runs a segment on stamps: each step reads what the steps that made its inputs wrote, whatever
/// was written in between.
void expect_no_overlap(const Planned& p, const Segment& segment) {
  const std::string text = print_segment(segment);
  // Bytes of the arena (0) and of the outputs (1 + index): the step that wrote them last.
  std::map<int, std::vector<int>> stamps;
  std::map<ValueId, int> made_by;  // value -> step
  std::map<ValueId, ValueId> view_of;
  std::map<const Node*, int> steps;
  for (size_t i = 0; i < segment.steps.size(); ++i) {
    steps[segment.steps[i].node] = static_cast<int>(i);
  }
  for (const Node& node : p.graph.main.nodes) {
    auto it = steps.find(&node);
    if (it == steps.end()) {
      if (!node.inputs.empty()) view_of[node.outputs[0]] = node.inputs[0];
      continue;
    }
    for (ValueId id : node.outputs) made_by[id] = it->second;
  }
  const auto stamp_of = [&](ValueId id) {
    while (!made_by.count(id) && view_of.count(id)) id = view_of[id];
    return made_by.count(id) ? made_by[id] : -2;
  };
  const auto is_written = [](const Place& place) {
    return place.kind == Place::kArena || place.kind == Place::kOutput;
  };
  const auto memory = [&](const Place& place, int64_t bytes) -> std::vector<int>& {
    if (place.kind == Place::kArena) {
      EXPECT_LE(place.offset + bytes, static_cast<int64_t>(segment.arena_bytes)) << text;
    }
    auto& m = stamps[place.kind == Place::kArena ? 0 : 1 + place.index];
    m.resize(std::max(m.size(), static_cast<size_t>(place.offset + bytes)), -1);
    return m;
  };
  const auto read = [&](const Place& place, int64_t bytes, int stamp) {
    if (!is_written(place)) return;
    const auto& m = memory(place, bytes);
    for (int64_t b = place.offset; b < place.offset + bytes; ++b) {
      ASSERT_EQ(m[static_cast<size_t>(b)], stamp) << "byte " << b << "\n" << text;
    }
  };
  for (size_t i = 0; i < segment.steps.size(); ++i) {
    const Step& step = segment.steps[i];
    for (size_t k = 0; k < step.in.size(); ++k) {
      if (step.node->inputs[k] == kNoValue) continue;
      read(step.in[k], bytes_of(step.info.inputs[k]), stamp_of(step.node->inputs[k]));
    }
    const auto write = [&](const Place& place, int64_t bytes) {
      if (!is_written(place)) return;
      std::fill_n(memory(place, bytes).begin() + place.offset, bytes, static_cast<int>(i));
    };
    for (size_t k = 0; k < step.out.size(); ++k) {
      if (step.node->outputs[k] != kNoValue) write(step.out[k], bytes_of(step.info.outputs[k]));
    }
    // What a step writes doesn't cover its own operands, but where it works in place.
    for (size_t k = 0; k < step.in.size(); ++k) {
      for (size_t o = 0; o < step.out.size(); ++o) {
        if (step.in[k].kind != Place::kArena || step.out[o].kind != Place::kArena) continue;
        const int64_t a = step.in[k].offset, b = step.out[o].offset;
        const bool apart =
            a + bytes_of(step.info.inputs[k]) <= b || b + bytes_of(step.info.outputs[o]) <= a;
        EXPECT_TRUE(apart || a == b) << text;
      }
    }
  }
  // What the outputs get in the end is what their nodes made.
  const auto& outputs = p.graph.main.outputs;
  for (const Segment::Output& output : segment.outputs) {
    const ValueId id = outputs[static_cast<size_t>(output.index)];
    Place place{};
    place.kind = Place::kOutput;
    place.index = output.index;
    int64_t bytes = 4 * count_of(output.dims);
    for (const OutputCopy& copy : segment.copies) {
      if (copy.output != output.index) continue;
      place = copy.from;
      bytes = static_cast<int64_t>(copy.bytes);
    }
    read(place, bytes, stamp_of(id));
  }
}

/// A graph of `n` nodes over [rows,16] values of random rows.
std::string random_graph(std::mt19937& random, int n) {
  std::string text = kHead + "const %flat: i64[1] = {-1}\nconst %wide: i64[2] = {-1, 16}\n";
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  std::vector<int64_t> rows = {1 + static_cast<int64_t>(pick(4))};
  text += fmt::format("in %v0: f32[{},16]\n", rows[0]);
  for (int i = 1; i <= n; ++i) {
    const size_t a = pick(rows.size()), b = pick(rows.size());
    switch (pick(6)) {
      case 0:
        text += fmt::format("%v{} = {}(%v{})\n", i, pick(2) ? "Relu" : "Exp", a);
        rows.push_back(rows[a]);
        break;
      case 1:
        if (rows[a] == rows[b]) {
          text += fmt::format("%v{} = {}(%v{}, %v{})\n", i, pick(2) ? "Add" : "Mul", a, b);
          rows.push_back(rows[a]);
          break;
        }
        [[fallthrough]];
      case 2:
        if (rows[a] + rows[b] < 40) {
          text += fmt::format("%v{} = Concat(%v{}, %v{}) {{axis=0}}\n", i, a, b);
          rows.push_back(rows[a] + rows[b]);
          break;
        }
        [[fallthrough]];
      case 3:
        text +=
            fmt::format("%f{} = Reshape(%v{}, %flat)\n%v{} = Reshape(%f{}, %wide)\n", i, a, i, i);
        rows.push_back(rows[a]);
        break;
      case 4:
        text += fmt::format("%t{} = Transpose(%v{}) {{perm=[1,0]}}\n%v{} = MatMul(%t{}, %v{})\n", i,
                            a, i, i, a);
        rows.push_back(16);
        break;
      default:
        text += fmt::format("%v{} = Softmax(%v{}) {{axis=1}}\n", i, a);
        rows.push_back(rows[a]);
    }
  }
  text += fmt::format("out %v{}", n);
  for (int i = 0; i < 2; ++i) text += fmt::format(", %v{}", 1 + pick(static_cast<size_t>(n)));
  return text + "\n";
}

TEST(Segment, NoTwoLiveBuffersOverlap) {
  std::mt19937 random(11);
  for (int round = 0; round < 150 && !testing::Test::HasFailure(); ++round) {
    const std::string text = random_graph(random, 1 + static_cast<int>(random() % 30));
    SCOPED_TRACE(text);
    Planned p(text);
    const auto segment = p.plan();
    ASSERT_TRUE(segment);
    expect_no_overlap(p, *segment);
  }
}

}  // namespace
}  // namespace hasten
