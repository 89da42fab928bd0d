#include "cli/diff_models.h"

#include <algorithm>

namespace hasten {

namespace {

/// The outputs of `from` in the order of the names of `to`; as they are where the names differ.
std::vector<TensorView> in_order(const std::vector<Port>& to, const std::vector<Port>& from,
                                 std::span<const TensorView> outputs) {
  std::vector<TensorView> ordered;
  for (const Port& port : to) {
    const auto it = std::find_if(from.begin(), from.end(),
                                 [&port](const Port& p) { return p.name == port.name; });
    if (it == from.end()) return {outputs.begin(), outputs.end()};
    ordered.push_back(outputs[static_cast<size_t>(it - from.begin())]);
  }
  return to.size() == from.size() ? ordered
                                  : std::vector<TensorView>(outputs.begin(), outputs.end());
}

}  // namespace

Result<std::vector<InputSet>> sets_for_b(const Samples& samples, const Target& b,
                                         const OpenedModel& model_b) {
  auto sets = samples.sets(model_b.engine->inputs());
  if (sets) return sets;
  return fail(sets.error().code,
              "B ({}) can't take the inputs of A, and both are run on the same: {}", b.text,
              sets.error().message);
}

Result<OutputDiff> diff_models(OpenedModel& a, OpenedModel& b, std::span<const InputSet> sets_a,
                               std::span<const InputSet> sets_b, const MeasureControl& control) {
  OutputDiffer differ;
  for (size_t i = 0; i < sets_a.size() && !control.stopped(); ++i) {
    HASTEN_CHECK(a.runner->bind(sets_a[i]));
    HASTEN_CHECK(a.runner->run());
    HASTEN_CHECK(b.runner->bind(sets_b[i]));
    HASTEN_CHECK(b.runner->run());
    differ.add(a.runner->outputs(),
               in_order(a.engine->outputs(), b.engine->outputs(), b.runner->outputs()));
    if (control.progress) {
      const double fraction = static_cast<double>(i + 1) / static_cast<double>(sets_a.size());
      control.progress({"comparing outputs", static_cast<int64_t>(i + 1), 0, fraction});
    }
  }
  return differ.result();
}

}  // namespace hasten
