#include "measure/timed.h"

#include <algorithm>
#include <map>

#include "base/clock.h"

namespace hasten {

TimedRunner::TimedRunner(Runner& runner, std::span<const InputSet> sets)
    : runner_(runner), sets_(sets) {
  std::map<std::vector<Dims>, int> groups;
  for (const InputSet& set : sets) {
    std::vector<Dims> shapes;
    for (const TensorView& view : set) shapes.push_back(view.dims);
    group_of_.push_back(groups.try_emplace(shapes, static_cast<int>(groups.size())).first->second);
  }
}

Result<double> TimedRunner::run_once_ms() {
  last_ = next_;
  if (!bound_ || sets_.size() > 1) HASTEN_CHECK(runner_.bind(sets_[next_]));
  bound_ = true;
  next_ = (next_ + 1) % sets_.size();
  const int64_t begin = now_ns();
  HASTEN_CHECK(runner_.run());
  return static_cast<double>(now_ns() - begin) * 1e-6;
}

int64_t TimedRunner::rotation() const {
  const bool one_shape = *std::max_element(group_of_.begin(), group_of_.end()) == 0;
  return one_shape ? 1 : static_cast<int64_t>(sets_.size());
}

int64_t MeasureControl::now() const { return clock_ns ? clock_ns() : now_ns(); }

}  // namespace hasten
