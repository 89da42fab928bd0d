#include "report/json.h"

namespace hasten {

Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string json_problem(const std::exception& error) {
  const std::string text = error.what();
  const size_t end = text.starts_with("[json.exception.") ? text.find("] ") : text.npos;
  return end == text.npos ? text : text.substr(end + 2);
}

Json to_json(const Interval& interval) { return Json::array({interval.lo, interval.hi}); }

namespace {

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? to_json(*interval) : Json(nullptr);
}

}  // namespace

Json to_json(const std::vector<Warning>& warnings) {
  Json json = Json::array();
  for (const Warning& w : warnings)
    json.push_back({{"what", w.what}, {"why", w.why}, {"next", w.next}});
  return json;
}

Json to_json(const BenchResult& r) {
  return {
      {"n", r.n},
      {"p50_ms", r.p50_ms},
      {"p90_ms", to_json(r.p90_ms)},
      {"p99_ms", to_json(r.p99_ms)},
      {"mean_ms", r.mean_ms},
      {"cpu_ms", to_json(r.cpu_ms)},
      {"min_ms", r.min_ms},
      {"max_ms", r.max_ms},
      {"mad_ms", r.mad_ms},
      {"p50_ci_ms", interval_json(r.p50_interval)},
      {"p90_ci_ms", interval_json(r.p90_interval)},
      {"p99_ci_ms", interval_json(r.p99_interval)},
      {"cold_ms", r.cold_ms},
      {"load_ms", r.load_ms},
      {"rss_mb", r.rss_mb},
      {"warmup_runs", r.warmup_runs},
      {"warmup_ended", r.warmup_ended},
      {"stationary", r.stationary},
      {"outliers", r.outliers},
      {"effective_n", r.effective_n},
      {"rate", r.rate > 0 ? Json(r.rate) : Json(nullptr)},
      {"delayed_runs", r.delayed_runs},
      {"nr_throttled", r.nr_throttled ? Json(*r.nr_throttled) : Json(nullptr)},
      {"seconds", r.seconds},
      {"interrupted", r.interrupted},
      {"warnings", to_json(r.warnings)},
  };
}

Json to_json(const OutputDiff& d) {
  return {{"samples", d.samples},
          {"max_abs", to_json(d.max_abs)},
          {"max_rel", to_json(d.max_rel)},
          {"cosine", to_json(d.cosine)},
          {"top1_agreement", to_json(d.top1_agreement)},
          {"reason", d.reason.empty() ? Json(nullptr) : Json(d.reason)}};
}

Json to_json(const Comparison& c) {
  return {{"speedup", c.speedup},
          {"alpha", c.alpha},
          {"ci", to_json(c.ci)},
          {"margin", c.margin},
          {"verdict", verdict_name(c.verdict)},
          {"why", c.why},
          {"more_seconds", to_json(c.more_seconds)},
          {"outputs", to_json(c.outputs)},
          {"rounds", c.rounds},
          {"runs_per_burst", c.runs_per_burst},
          {"bursts_per_round", c.bursts_per_round},
          {"seconds", c.seconds},
          {"seed", c.seed},
          {"interrupted", c.interrupted},
          {"warnings", to_json(c.warnings)}};
}

}  // namespace hasten
