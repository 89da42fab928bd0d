// hasten bench --problems: lists of single operators, checked and timed.
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"

namespace hasten {

struct ProblemRequest {
  std::vector<std::string> files;
  std::string filter, math;
  int threads = 1;
  double seconds = 0;  // 0: the default
  bool check_only = false;
};

/// Exit code 1 where an answer is off, said in one line each. Errors: io for a file that can't be
/// read; those of parse_problems and build_problem before anything is timed.
Result<int> bench_problems(App& app, const ProblemRequest& request);

}  // namespace hasten
