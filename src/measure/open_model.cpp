// Opening models for measurements (declared in timed.h).
#include "base/clock.h"
#include "measure/timed.h"

namespace hasten {
namespace {

double ms_since(int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) * 1e-6; }

class EngineInstance : public Instance {
 public:
  EngineInstance(OpenedModel model, std::span<const InputSet> sets)
      : model_(std::move(model)), timed_(*model_.runner, sets) {}
  Result<double> run_once_ms() override { return timed_.run_once_ms(); }
  int shape_group() const override { return timed_.shape_group(); }
  int64_t rotation() const override { return timed_.rotation(); }
  double load_ms() const override { return model_.load_ms; }

 private:
  OpenedModel model_;
  TimedRunner timed_;
};

}  // namespace

Result<OpenedModel> open_model(Context& context, const std::string& path,
                               const EngineOptions& options) {
  const int64_t begin = now_ns();
  OpenedModel model;
  HASTEN_TRY(model.engine, open_engine(context, path, options));
  HASTEN_TRY(model.runner, model.engine->make_runner());
  model.load_ms = ms_since(begin);
  return model;
}

OpenInstance instance_opener(Context& context, std::string path, EngineOptions options,
                             std::span<const InputSet> sets) {
  return [&context, path = std::move(path), options = std::move(options),
          sets]() -> Result<std::unique_ptr<Instance>> {
    HASTEN_TRY(OpenedModel model, open_model(context, path, options));
    return std::make_unique<EngineInstance>(std::move(model), sets);
  };
}

}  // namespace hasten
