// hasten machine: what this box can do.
#include "cli/app.h"
#include "cli/commands.h"
#include "measure/machine.h"

namespace hasten {

namespace {

Result<int> run_machine(App& app, bool again) {
  HASTEN_TRY(Context * context, app.context());
  const MeasureControl control = app.control();
  HASTEN_TRY(const Machine machine, cached_machine(*context, control, again));
  HASTEN_CHECK(app.print(Json::parse(to_json(machine)), text(machine)));
  return 0;
}

}  // namespace

void add_machine(CLI::App& cli, App& app, Run& run) {
  auto again = std::make_shared<bool>(false);
  cli.add_flag("--again", *again, "Measure again rather than take the peaks of the last time");
  app.add_common(cli);
  cli.callback([&app, &run, again] { run = [&app, again] { return run_machine(app, *again); }; });
}

}  // namespace hasten
