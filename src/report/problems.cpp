#include "report/problems.h"

#include <algorithm>

#include "report/format.h"
#include "report/json.h"

namespace hasten {
namespace {

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f} %", *value) : "-";
}

}  // namespace

Json to_json(const ProblemResult& r) {
  const bool timed = r.runs > 0;
  const auto number = [&](double x) { return timed ? Json(x) : Json(nullptr); };
  return {
      {"file", r.problem.file},
      {"line", r.problem.line},
      {"problem", r.problem.text},
      {"kernel", r.kernel},
      {"reference", r.reference},
      {"flops", r.flops},
      {"bytes", r.bytes},
      {"runs", r.runs},
      {"min_ms", number(r.min_ms)},
      {"p50_ms", number(r.p50_ms)},
      {"cold_ms", to_json(r.cold_ms)},
      {"gflops", number(r.gflops)},
      {"gbps", number(r.gbps)},
      {"peak_gflops", number(r.peak_gflops)},
      {"peak_pct", to_json(r.peak_pct)},
      {"roof_pct", to_json(r.roof_pct)},
      {"bound", r.bound.empty() ? Json(nullptr) : Json(r.bound)},
      {"max_err", r.max_err},  // infinite becomes null
      {"allowed", r.allowed},
      {"ok", r.ok},
      {"reason", r.reason},
  };
}

std::string problems_text(std::span<const ProblemResult> results, const Style& style) {
  std::string out;
  for (size_t i = 0; i < results.size();) {
    const std::string& file = results[i].problem.file;
    const bool timed = std::any_of(results.begin(), results.end(),
                                   [](const ProblemResult& r) { return r.runs > 0; });
    std::vector<std::string> header = {"error", "kernel", "problem"};
    if (timed) {
      header.insert(header.begin(),
                    {"min", "median", "cold", "GFLOP/s", "GB/s", "of peak", "of roof", "bound"});
    }
    Table table(timed ? "rrrrrrrlrll" : "rll");
    table.header(header);
    for (; i < results.size() && results[i].problem.file == file; ++i) {
      const ProblemResult& r = results[i];
      std::vector<std::string> row = {
          (r.max_err == 0 ? "0" : fmt::format("{:.1e}", r.max_err)) + (r.ok ? "" : " OFF"),
          r.kernel, r.problem.text};
      if (timed) {
        const auto cell = [&](const std::string& text) { return r.runs > 0 ? text : "-"; };
        row.insert(row.begin(),
                   {cell(format_time(r.min_ms)), cell(format_time(r.p50_ms)),
                    r.cold_ms ? format_time(*r.cold_ms) : "-",
                    cell(fmt::format("{:.1f}", r.gflops)), cell(fmt::format("{:.1f}", r.gbps)),
                    percent(r.peak_pct), percent(r.roof_pct), r.bound.empty() ? "-" : r.bound});
      }
      table.row(std::move(row));
    }
    out += (out.empty() ? "" : "\n") + style.bold(file) + "\n" + table.text(style);
  }
  return out;
}

}  // namespace hasten
