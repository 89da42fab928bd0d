#include "cli/bench_problems.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/mapped_file.h"
#include "measure/bench_problem.h"
#include "report/json.h"
#include "report/problems.h"
#include "report/text.h"

namespace hasten {

namespace {

/// The problems of all files.
Result<std::vector<Problem>> gather(const ProblemRequest& request) {
  std::vector<Problem> all;
  for (const std::string& file : request.files) {
    HASTEN_TRY(const std::string text, read_file(file));
    HASTEN_TRY(std::vector<Problem> problems, parse_problems(text, file));
    for (Problem& p : problems) all.push_back(std::move(p));
  }
  return all;
}

std::string summary(const App& app, std::span<const ProblemResult> results, size_t failed,
                    size_t wanted) {
  std::string out = failed == 0 ? app.style().good("all answers right")
                                : app.style().bad(counted(failed, "answer") + " off");
  out += fmt::format(", {}", counted(results.size(), "problem"));
  size_t references = 0;
  for (const ProblemResult& r : results) references += r.reference ? 1 : 0;
  if (references > 0) out += fmt::format(", {} without a kernel (on plain loops)", references);
  if (app.stopped()) out += fmt::format("; interrupted, {} were to come", wanted - results.size());
  return out + "\n";
}

}  // namespace

Result<int> bench_problems(App& app, const ProblemRequest& request) {
  HASTEN_TRY(std::vector<Problem> problems, gather(request));
  const size_t count = problems.size();
  std::erase_if(problems,
                [&](const Problem& p) { return p.text.find(request.filter) == p.text.npos; });
  if (problems.empty()) {
    return app.usage(fmt::format("--filter '{}': none of {} has that in its line", request.filter,
                                 counted(count, "problem")));
  }
  HASTEN_TRY(Context * context, app.context());
  ProblemOptions options;
  options.threads = request.threads;
  if (request.seconds > 0) options.seconds = request.seconds;
  options.exact_math = request.math == "exact";
  options.check_only = request.check_only;
  options.seed = app.request().seed;
  options.control = app.control();
  const int64_t begin = now_ns();
  const auto tell = [&](const std::string& stage, size_t done) {
    if (!options.control.progress) return;
    options.control.progress({stage, static_cast<int64_t>(done),
                              static_cast<double>(now_ns() - begin) * 1e-9,
                              static_cast<double>(done) / static_cast<double>(problems.size())});
  };
  // A wrong line is told before the others take their time.
  for (const Problem& problem : problems) HASTEN_CHECK(build_problem(problem, false, 1));

  const SystemSample before = read_system();
  ProblemBench bench(*context, options);
  std::vector<ProblemResult> results;
  size_t failed = 0;
  for (const Problem& problem : problems) {
    if (app.stopped()) break;
    tell(problem.place(), results.size());
    auto result = bench.run(problem);
    if (!result && result.error().code == Code::kCancelled) break;
    if (!result) return fail(std::move(result.error()));
    if (!result->ok) {
      ++failed;
      app.note(result->reason);
    }
    results.push_back(std::move(*result));
  }
  const std::vector<Warning> warnings =
      request.check_only ? std::vector<Warning>() : disturbances(before, read_system());
  Json json = {{"isa", isa_name(context->isa())},
               {"threads", request.threads},
               {"seed", options.seed},
               {"failed", failed},
               {"interrupted", app.stopped()},
               {"problems", Json::array()},
               {"warnings", to_json(warnings)}};
  for (const ProblemResult& r : results) json["problems"].push_back(to_json(r));
  HASTEN_CHECK(app.print(
      json,
      problems_text(results, app.style()) +
          fmt::format("{}, {}: ", isa_name(context->isa()), counted(request.threads, "thread")) +
          summary(app, results, failed, problems.size()) + warnings_text(warnings, app.style())));
  return app.exit_unless_stopped(failed == 0 ? 0 : 1);
}

}  // namespace hasten
