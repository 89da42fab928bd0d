#include "engine/exec/native_runner.h"

#include "base/clock.h"

namespace hasten {

NativeRunner::NativeRunner(NativeEngine& engine)
    : engine_(engine),
      pool_(engine.run_context().pool),
      runner_(engine.plans(), engine.run_context()) {}

Status NativeRunner::check_input(size_t i, const TensorView& view) const {
  const Port& port = engine_.inputs()[i];
  if (view.dtype != port.dtype) {
    return fail(Code::kInvalidArgument, "input '{}' is {}, the model wants {}", port.name,
                dtype_name(view.dtype), dtype_name(port.dtype));
  }
  HASTEN_CHECK(checked_count(view.dims));
  if (!port.has_shape) return {};
  bool fits = view.dims.size() == port.shape.size();
  for (size_t d = 0; fits && d < view.dims.size(); ++d) {
    fits = !port.shape[d].known() || port.shape[d].value() == view.dims[d];
  }
  if (!fits) {
    return fail(Code::kInvalidArgument, "input '{}' has shape {}, the model wants {}", port.name,
                dims_text(view.dims), shape_text(port.shape));
  }
  return {};
}

Status NativeRunner::bind(std::span<const TensorView> inputs) {
  if (inputs.size() != engine_.inputs().size()) {
    return fail(Code::kInvalidArgument, "{} inputs given, the model has {}", inputs.size(),
                engine_.inputs().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) HASTEN_CHECK(check_input(i, inputs[i]));
  bound_ = false;
  const Status done = runner_.bind(inputs);
  HASTEN_CHECK(check_files(engine_.graph()));
  HASTEN_CHECK(done);
  bound_ = true;
  return {};
}

Status NativeRunner::run(Observer* observer) {
  if (!bound_) return fail(Code::kInvalidArgument, "run before bind: no inputs are set");
  if (observer) observer->run_begin(now_ns());
  const Status done = [&] {
    const ThreadPool::Series series(pool_, runner_.shared_ns());
    return runner_.run(observer);
  }();
  HASTEN_CHECK(check_files(engine_.graph()));
  HASTEN_CHECK(done);
  if (observer) observer->run_end(now_ns());
  return {};
}

}  // namespace hasten
