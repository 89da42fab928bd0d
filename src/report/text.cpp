#include "report/text.h"

#include <fmt/format.h>

#include "report/format.h"

namespace hasten {

namespace {

std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return "";
  return fmt::format("95 % interval {} … {}", format_ms(interval->lo), format_ms(interval->hi));
}

}  // namespace

std::string warnings_text(const std::vector<Warning>& warnings, const Style& style) {
  std::string text;
  for (const Warning& w : warnings) {
    text += fmt::format("{} {}: {}. {}\n", style.warning("warning:"), w.what, w.why, w.next);
  }
  return text;
}

std::string bench_text(const BenchResult& r, const Style& style) {
  auto quantile = [&r](const std::optional<double>& value,
                       const std::optional<Interval>& interval) {
    return value ? std::pair(format_ms(*value), interval_text(interval))
                 : std::pair(std::string("-"),
                             fmt::format("not to be told from {} runs, the slowest took {}", r.n,
                                         format_ms(r.max_ms)));
  };
  const auto p90 = quantile(r.p90_ms, r.p90_interval), p99 = quantile(r.p99_ms, r.p99_interval);
  Table table("lll");
  table.row({"p50", style.bold(format_ms(r.p50_ms)), interval_text(r.p50_interval)});
  table.row({"p90", p90.first, p90.second});
  table.row({"p99", p99.first, p99.second});
  table.row({"mean", format_ms(r.mean_ms),
             fmt::format("min {}, max {}", format_ms(r.min_ms), format_ms(r.max_ms))});
  table.row({"runs", fmt::format("{}", r.n),
             fmt::format("{:.1f} s, after {} runs of warm-up{}", r.seconds, r.warmup_runs,
                         r.warmup_ended ? "" : " that did not end")});
  table.row({"cold", format_ms(r.cold_ms), "the first run"});
  table.row({"load", format_ms(r.load_ms), fmt::format("{:.0f} MB resident", r.rss_mb)});
  std::string text = table.text(style) + warnings_text(r.warnings, style);
  if (r.interrupted)
    text += style.warning("interrupted: the figures are of what was measured so far") + "\n";
  return text;
}

std::string outputs_text(const OutputDiff& d) {
  if (!d.max_abs) return d.reason.empty() ? "not compared" : "can't be compared: " + d.reason;
  std::string text = fmt::format("max abs {:.3g}, max rel {:.3g}, cosine {:.6f}", *d.max_abs,
                                 d.max_rel.value_or(0), d.cosine.value_or(0));
  if (d.top1_agreement) text += fmt::format(", top-1 {}", format_percent(*d.top1_agreement));
  return text + fmt::format(" ({} sample{})", d.samples, d.samples == 1 ? "" : "s");
}

std::string compare_text(const Comparison& c, const std::string& a, const std::string& b,
                         const Style& style) {
  Table table("llrrrrr");
  table.header({"", "", "p50", "p90", "p99", "cold", "load"});
  auto row = [&table](const char* name, const std::string& target, const BenchResult& r) {
    auto quantile = [](const std::optional<double>& value) {
      return value ? format_ms(*value) : std::string("-");
    };
    table.row({name, shorten(target, 70), format_ms(r.p50_ms), quantile(r.p90_ms),
               quantile(r.p99_ms), format_ms(r.cold_ms), format_ms(r.load_ms)});
  };
  row("A", a, c.a);
  row("B", b, c.b);
  std::string verdict = verdict_name(c.verdict);
  if (c.verdict == Verdict::kFaster) verdict = style.good(verdict);
  if (c.verdict == Verdict::kSlower) verdict = style.bad(verdict);
  std::string text = table.text(style);
  text += fmt::format("  B is {}: {} as fast, {} interval {:.4f} … {:.4f}\n", style.bold(verdict),
                      style.bold(fmt::format("{:.3f} x", c.speedup)), format_percent(1 - c.alpha),
                      c.ci.lo, c.ci.hi);
  text += fmt::format("  {}\n", c.why);
  text += fmt::format("  {} rounds of fresh instances, {} bursts of {} runs each, {:.1f} s\n",
                      c.rounds, c.bursts_per_round, c.runs_per_burst, c.seconds);
  text += fmt::format("  outputs: {}\n", outputs_text(c.outputs));
  text += warnings_text(c.warnings, style);
  if (c.interrupted)
    text += style.warning("interrupted: the figures are of what was measured so far") + "\n";
  return text;
}

std::string proof_text(const Proof& p, const Style& style) {
  std::string text = fmt::format("{}\n", style.bold(p.model_path));
  Table table("lrrll");
  table.header({"tried", "p50", "speedup", "", "why"});
  for (const Tried& t : p.tried) {
    table.row({t.target, t.p50_ms ? format_ms(*t.p50_ms) : "-",
               t.speedup ? fmt::format("{:.2f} x", *t.speedup) : "-", outcome_name(t.outcome),
               shorten(t.why, 100)});
  }
  text += table.text(style);
  const Comparison& c = p.comparison;
  if (p.baseline_is_best) {
    text += fmt::format("  the baseline is already best: {}\n", style.bold(p.baseline.target));
  } else {
    text += fmt::format("  {} as fast as {}: {}\n", style.bold(fmt::format("{:.3f} x", c.speedup)),
                        p.baseline.target, style.good(p.chosen.target));
    text += fmt::format("  {} interval {:.4f} … {:.4f}, {} rounds of fresh instances; {}\n",
                        format_percent(1 - c.alpha), c.ci.lo, c.ci.hi, c.rounds, c.why);
    if (p.chosen.accuracy) text += fmt::format("  answers: {}\n", p.chosen.accuracy->why);
  }
  text += warnings_text(c.warnings, style);
  if (p.interrupted) text += style.warning("interrupted: no bundle was written") + "\n";
  return text;
}

}  // namespace hasten
