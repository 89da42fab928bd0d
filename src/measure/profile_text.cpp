// Profiles for people (declared in profile.h).
#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "measure/profile.h"

namespace hasten {

std::string text(const Profile& profile, size_t most_ops) {
  std::string out = fmt::format(
      "wall {:.4f} ms (unobserved {:.4f}), unattributed {:.4f} ms = {:.1f} %, first run {:.4g} ms, "
      "{}, {}\n",
      profile.wall_ms, profile.plain_wall_ms, profile.unattributed_ms,
      profile.wall_ms > 0 ? 100 * profile.unattributed_ms / profile.wall_ms : 0, profile.first_ms,
      counted(profile.runs, "run"), counted(profile.threads, "thread"));
  std::vector<const OpProfile*> ops;
  for (const OpProfile& op : profile.ops) ops.push_back(&op);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const OpProfile* a, const OpProfile* b) { return a->ms > b->ms; });
  const size_t shown = most_ops == 0 ? ops.size() : std::min(most_ops, ops.size());
  size_t op_width = 14, kernel_width = 20;  // at least, so that most profiles line up alike
  for (size_t i = 0; i < shown; ++i) {
    op_width = std::max(op_width, ops[i]->op.size());
    kernel_width = std::max(kernel_width, ops[i]->kernel.size());
  }
  out += fmt::format("{:>10} {:>6} {:>8} {:>7} {:>6}  {:<8} {:<{}} {:<{}} {}\n", "ms", "share",
                     "GFLOP/s", "GB/s", "roof", "bound", "op", op_width, "kernel", kernel_width,
                     "name");
  for (size_t i = 0; i < shown; ++i) {
    const OpProfile& op = *ops[i];
    const std::string roof = op.roof_pct ? fmt::format("{:.0f} %", *op.roof_pct) : "-";
    out +=
        fmt::format("{:>10.4f} {:>4.1f} % {:>8.1f} {:>7.1f} {:>6}  {:<8} {:<{}} {:<{}} {}\n", op.ms,
                    100 * op.share, op.gflops, op.gbps, roof, op.bound.empty() ? "-" : op.bound,
                    op.op, op_width, op.kernel, kernel_width, op.name);
  }
  if (shown < ops.size()) {
    double rest = 0;
    for (size_t i = shown; i < ops.size(); ++i) rest += ops[i]->ms;
    out += fmt::format("{:>10.4f} in {} more\n", rest, ops.size() - shown);
  }
  double sum = profile.unattributed_ms;
  for (const OpProfile* op : ops) sum += op->ms;
  if (!profile.findings.empty() && std::abs(profile.wall_ms - sum) > 0.02 * profile.wall_ms) {
    out += fmt::format(
        "shares above are of {:.4f} ms, the sum of the typical times; those below of the wall "
        "time\n",
        sum);
  }
  for (const Finding& f : profile.findings) {
    out += fmt::format(
        "{}. {}: {} ({:.1f} % of the time{})\n     {}\n     next: {}\n", f.rank, f.cause, f.where,
        100 * f.share,
        f.expected_gain ? fmt::format(", {:.1f} % to gain", 100 * *f.expected_gain) : "", f.why,
        f.do_next);
  }
  for (const Warning& w : profile.warnings) {
    out += fmt::format("warning: {}: {}; {}\n", w.what, w.why, w.next);
  }
  if (profile.interrupted) out += "interrupted: the figures are of what was measured so far\n";
  return out;
}

std::string text(const ProfileDiff& diff) {
  std::string out = fmt::format("a run takes A {:.4f} ms, B {:.4f} ms: {:+.4f} ms", diff.a_wall_ms,
                                diff.b_wall_ms, diff.b_wall_ms - diff.a_wall_ms);
  if (diff.a_wall_ms > 0) out += fmt::format(", {:.2f} x as long", diff.b_wall_ms / diff.a_wall_ms);
  out += "\n(measured one after the other: hasten compare tells which is faster)\n";
  if (!diff.a_has_steps || !diff.b_has_steps) {
    return out + fmt::format("{} no steps, so only the whole is compared\n",
                             diff.a_has_steps   ? "B's engine shows"
                             : diff.b_has_steps ? "A's engine shows"
                                                : "Their engines show");
  }
  out += fmt::format("{:>10} {:>10} {:>10}  {:>5} {:>5}  {}\n", "A ms", "B ms", "B - A", "A n",
                     "B n", "op");
  for (const OpTypeDiff& op : diff.ops) {
    out += fmt::format("{:>10.4f} {:>10.4f} {:>+10.4f}  {:>5} {:>5}  {}\n", op.a_ms, op.b_ms,
                       op.b_ms - op.a_ms, op.a_count, op.b_count, op.op);
  }
  return out;
}

}  // namespace hasten
