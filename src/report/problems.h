// Problem lists that were checked and timed, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "measure/bench_problem.h"
#include "report/style.h"

namespace hasten {

nlohmann::ordered_json to_json(const ProblemResult& result);
/// A table for each file, and what failed is marked.
std::string problems_text(std::span<const ProblemResult> results, const Style& style);

}  // namespace hasten
