#include "report/profile_json.h"

namespace hasten {

namespace {

Json op_json(const OpProfile& op) {
  return {{"name", op.name},
          {"op", op.op},
          {"kernel", op.kernel},
          {"ms", op.ms},
          {"share", op.share},
          {"gflops", op.gflops},
          {"gbps", op.gbps},
          {"roof_pct", to_json(op.roof_pct)},
          {"bound", op.bound.empty() ? Json(nullptr) : Json(op.bound)},
          {"roof_ms", to_json(op.roof_ms)},
          {"min_ms", op.min_ms},
          {"p99_ms", to_json(op.p99_ms)},
          {"calls", op.calls},
          {"flops", op.flops},
          {"bytes", op.bytes},
          {"reference", op.reference},
          {"inputs", op.inputs},
          {"outputs", op.outputs}};
}

Json finding_json(const Finding& f) {
  return {{"rank", f.rank},
          {"cause", f.cause},
          {"where", f.where},
          {"share", f.share},
          {"expected_gain", to_json(f.expected_gain)},
          {"why", f.why},
          {"do_next", f.do_next}};
}

}  // namespace

Json to_json(const Profile& p) {
  Json ops = Json::array(), findings = Json::array();
  for (const OpProfile& op : p.ops) ops.push_back(op_json(op));
  for (const Finding& f : p.findings) findings.push_back(finding_json(f));
  return {{"target", p.target},
          {"engine", p.engine},
          {"threads", p.threads},
          {"runs", p.runs},
          {"wall_ms", p.wall_ms},
          {"unattributed_ms", p.unattributed_ms},
          {"plain_wall_ms", p.plain_wall_ms},
          {"first_ms", p.first_ms},
          {"ops", ops},
          {"findings", findings},
          {"interrupted", p.interrupted},
          {"warnings", to_json(p.warnings)}};
}

Json to_json(const ProfileDiff& d) {
  Json ops = Json::array();
  for (const OpTypeDiff& op : d.ops) {
    ops.push_back({{"op", op.op},
                   {"a_ms", op.a_ms},
                   {"b_ms", op.b_ms},
                   {"a_count", op.a_count},
                   {"b_count", op.b_count}});
  }
  return {{"a_wall_ms", d.a_wall_ms},
          {"b_wall_ms", d.b_wall_ms},
          {"a_has_steps", d.a_has_steps},
          {"b_has_steps", d.b_has_steps},
          {"ops", ops}};
}

Result<Profile> profile_from_json(const std::string& text, const std::string& place) {
  // Exceptions of the JSON library (a missing or mistyped member) stay inside.
  try {
    const Json json = Json::parse(text);
    Profile p;
    json.at("wall_ms").get_to(p.wall_ms);
    json.at("unattributed_ms").get_to(p.unattributed_ms);
    p.target = json.value("target", "");
    p.engine = json.value("engine", "");
    for (const Json& entry : json.at("ops")) {
      OpProfile& op = p.ops.emplace_back();
      entry.at("name").get_to(op.name);
      entry.at("op").get_to(op.op);
      entry.at("ms").get_to(op.ms);
    }
    return p;
  } catch (const Json::exception& e) {
    return fail(Code::kInvalidArgument, "'{}' is no profile that `hasten profile --json` wrote: {}",
                place, json_problem(e));
  }
}

}  // namespace hasten
