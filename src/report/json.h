// Results as JSON: the fields that docs/verbs promises.
#pragma once

#include <nlohmann/json.hpp>

#include "measure/bench.h"
#include "measure/compare.h"

namespace hasten {

using Json = nlohmann::ordered_json;

Json to_json(const BenchResult& result);
Json to_json(const OutputDiff& diff);
/// Without the two sides, which the caller puts before it as "a" and "b".
Json to_json(const Comparison& comparison);
Json to_json(const std::vector<Warning>& warnings);
Json to_json(const Interval& interval);
/// What the JSON library complains of, without its own name and number for it.
std::string json_problem(const std::exception& error);
/// null for nothing.
Json to_json(const std::optional<double>& value);

}  // namespace hasten
