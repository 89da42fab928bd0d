#include "base/result.h"

namespace hasten {

namespace {
struct Row {
  const char* name;
  int exit_code;
};
constexpr Row kRows[] = {
    {"invalid_argument", 3}, {"invalid_model", 3}, {"unsupported", 4}, {"io", 5},
    {"out_of_memory", 5},    {"deadline", 1},      {"cancelled", 130}, {"internal", 70},
};
}  // namespace

const char* code_name(Code code) { return kRows[static_cast<int>(code)].name; }

int exit_code(Code code) { return kRows[static_cast<int>(code)].exit_code; }

}  // namespace hasten
