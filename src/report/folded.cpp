#include "report/folded.h"

#include <fmt/format.h>

#include <cmath>

namespace hasten {

namespace {

/// Frames end at `;` and lines at a new line.
std::string frame(std::string text) {
  for (char& c : text) {
    if (c == ';' || c == '\n' || c == '\r') c = '_';
  }
  return text.empty() ? "?" : text;
}

}  // namespace

std::string folded_stacks(const Profile& profile) {
  std::string text;
  const std::string root = frame(profile.target);
  auto line = [&](const std::string& stack, double ms) {
    text += fmt::format("{};{} {:.0f}\n", root, stack, std::round(ms * 1000));
  };
  for (const OpProfile& op : profile.ops) line(frame(op.op) + ";" + frame(op.name), op.ms);
  line("(unattributed)", profile.unattributed_ms);
  return text;
}

}  // namespace hasten
