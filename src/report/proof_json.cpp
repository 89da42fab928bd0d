#include "report/proof_json.h"

namespace hasten {

Json to_json(const Accuracy& a) {
  Json json = {{"passed", a.passed}, {"why", a.why}};
  json.update(to_json(a.diff));
  return json;
}

Json to_json(const Tried& t) {
  return {{"target", t.target},
          {"version", t.version.empty() ? Json(nullptr) : Json(t.version)},
          {"outcome", outcome_name(t.outcome)},
          {"why", t.why},
          {"p50_ms", to_json(t.p50_ms)},
          {"screening_speedup", to_json(t.screened)},
          {"speedup", to_json(t.speedup)},
          {"ci", t.ci ? to_json(*t.ci) : Json(nullptr)},
          {"accuracy", t.accuracy ? to_json(*t.accuracy) : Json(nullptr)}};
}

Json to_json(const Proof& p) {
  Json tried = Json::array();
  for (const Tried& t : p.tried) tried.push_back(to_json(t));
  Json accuracy = p.chosen.accuracy ? to_json(*p.chosen.accuracy) : Json(nullptr);
  if (p.keeps_baseline) accuracy = {{"passed", true}, {"why", "the baseline itself"}};
  Json comparison = to_json(p.comparison);
  comparison["a"] = to_json(p.comparison.a);
  comparison["b"] = to_json(p.comparison.b);
  return {{"schema", 1},
          {"hasten", p.hasten_version},
          {"created", p.created},
          {"model", p.model_path},
          {"model_hash", p.model_hash},
          {"data", p.data},
          {"data_hash", p.data_hash},
          {"samples", p.samples},
          {"machine", p.fingerprint},
          {"baseline", to_json(p.baseline)},
          {"chosen", to_json(p.chosen)},
          {"baseline_is_best", p.keeps_baseline && !p.unsure()},
          {"unsure", p.unsure()},
          {"more_seconds", p.unsure() ? to_json(p.comparison.more_seconds) : Json(nullptr)},
          {"speedup", p.keeps_baseline ? 1.0 : p.comparison.speedup},
          {"ci", to_json(p.keeps_baseline ? Interval{1, 1} : p.comparison.ci)},
          {"alpha", p.comparison.alpha},
          {"accuracy", accuracy},
          {"tried", tried},
          {"comparison", comparison},
          {"interrupted", p.interrupted},
          {"warnings", to_json(p.comparison.warnings)}};
}

Result<Claim> claim_from_json(const std::string& text, const std::string& place) {
  // Exceptions of the JSON library (a missing or mistyped member) stay inside.
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != 1) {
      return fail(Code::kUnsupported, "'{}' is of schema {}, this hasten reads 1", place,
                  json.at("schema").dump());
    }
    Claim claim;
    json.at("hasten").get_to(claim.hasten_version);
    json.at("created").get_to(claim.created);
    json.at("model").get_to(claim.model_path);
    json.at("model_hash").get_to(claim.model_hash);
    json.at("machine").get_to(claim.fingerprint);
    json.at("baseline").at("target").get_to(claim.baseline);
    json.at("chosen").at("target").get_to(claim.chosen);
    claim.keeps_baseline = claim.chosen == claim.baseline;
    json.at("speedup").get_to(claim.speedup);
    json.at("ci").at(0).get_to(claim.ci.lo);
    json.at("ci").at(1).get_to(claim.ci.hi);
    claim.data_path = json.value("data_path", "");
    return claim;
  } catch (const Json::exception& e) {
    return fail(Code::kInvalidArgument, "'{}' is not a proof that `hasten optimize` wrote: {}",
                place, json_problem(e));
  }
}

}  // namespace hasten
