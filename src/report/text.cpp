#include "report/text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/counted.h"
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
    text += fmt::format("{} {}: {}; {}\n", style.warning("warning:"), w.what, w.why, w.next);
  }
  return text;
}

std::string bench_text(const BenchResult& r, const Style& style) {
  auto quantile = [&r](const std::optional<double>& value,
                       const std::optional<Interval>& interval) {
    return value ? std::pair(format_ms(*value), interval_text(interval))
                 : std::pair(std::string("-"),
                             fmt::format("not to be told from {}, the slowest took {}",
                                         counted(r.n, "run"), format_ms(r.max_ms)));
  };
  const auto p90 = quantile(r.p90_ms, r.p90_interval), p99 = quantile(r.p99_ms, r.p99_interval);
  Table table("lll");
  table.row({"p50", style.bold(format_ms(r.p50_ms)), interval_text(r.p50_interval)});
  table.row({"p90", p90.first, p90.second});
  table.row({"p99", p99.first, p99.second});
  table.row({"mean", format_ms(r.mean_ms),
             fmt::format("min {}, max {}", format_ms(r.min_ms), format_ms(r.max_ms))});
  if (r.cpu_ms) {
    table.row({"cpu", format_ms(*r.cpu_ms),
               fmt::format("a run, of all threads{}",
                           r.nr_throttled ? fmt::format(", nr_throttled {}", *r.nr_throttled)
                                          : std::string())});
  }
  if (r.rate > 0) {
    table.row({"rate", fmt::format("{:.6g}/s", r.rate),
               fmt::format("{} had to wait for the one before", counted(r.delayed_runs, "run"))});
  }
  table.row(
      {"runs", fmt::format("{}", r.n),
       fmt::format("{:.1f} s, after {} of warm-up{}", r.seconds, counted(r.warmup_runs, "run"),
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

std::string interval_words(const Comparison& c) {
  if (!std::isfinite(c.ci.hi)) return "no interval yet";
  return fmt::format("{:.6g} % interval {:.4f} … {:.4f}", 100 * (1 - c.alpha), c.ci.lo, c.ci.hi);
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
  text += fmt::format("  {}: {} as fast, {}\n",
                      c.verdict == Verdict::kUnsure ? style.bold("unsure whether B is faster")
                      : c.verdict == Verdict::kSame ? "B is as fast as A: " + style.bold("same")
                                                    : "B is " + style.bold(verdict),
                      style.bold(fmt::format("{:.3f} x", c.speedup)), interval_words(c));
  text += fmt::format("  {}\n", c.why);
  text += fmt::format(
      "  {} of fresh instances, {} of each side in {:.1f} s; the speedup is of paired bursts, so "
      "it "
      "is not the ratio of the p50s\n",
      counted(c.rounds, "round"), counted(c.a.n, "run"), c.seconds);
  text += fmt::format("  outputs: {}\n", outputs_text(c.outputs));
  text += warnings_text(c.warnings, style);
  if (c.interrupted)
    text += style.warning("interrupted: the figures are of what was measured so far") + "\n";
  return text;
}

std::string kept_text(const Proof& p) {
  const Comparison& c = p.comparison;
  if (!p.unsure()) return "the baseline is already best";
  if (p.interrupted && c.rounds == 0)
    return "interrupted before anything was compared; the baseline is kept";
  const std::string more = c.more_seconds ? fmt::format("; {} more would decide if it stays so",
                                                        about_seconds(*c.more_seconds))
                                          : "";
  return fmt::format("nothing was proven faster{}; {} came nearest with {:.3f} x, {}{}",
                     p.interrupted ? " before the interruption" : "", p.challenger, c.speedup,
                     interval_words(c), more) +
         "; the baseline is kept";
}

std::string proof_text(const Proof& p, const Style& style) {
  std::string text = fmt::format("{}\n", style.bold(p.model_path));
  // Screening and full comparison are apart: like is read against like.
  Table table("lrrrll");
  table.header({"tried", "p50", "screening", "compared", "", "why"});
  auto times = [](const std::optional<double>& speedup) {
    return speedup ? fmt::format("{:.3f} x", *speedup) : std::string("-");
  };
  for (const Tried& t : p.tried) {
    table.row({t.target, t.p50_ms ? format_ms(*t.p50_ms) : "-", times(t.screened), times(t.speedup),
               outcome_name(t.outcome), shorten(t.why, 150)});
  }
  text += table.text(style);
  text += "  (speedups are of paired runs in alternating order, not ratios of the p50s)\n";
  const Comparison& c = p.comparison;
  if (p.keeps_baseline) {
    text += "  " + kept_text(p) + ": " + style.bold(p.baseline.target) + "\n";
  } else {
    text += fmt::format("  {} as fast as {}: {}\n", style.bold(fmt::format("{:.3f} x", c.speedup)),
                        p.baseline.target, style.good(p.chosen.target));
    text += fmt::format("  {} over {} of fresh instances\n", c.why, counted(c.rounds, "round"));
    if (p.chosen.accuracy) text += fmt::format("  answers: {}\n", p.chosen.accuracy->why);
  }
  text += warnings_text(c.warnings, style);
  if (p.interrupted) text += style.warning("interrupted: no bundle was written") + "\n";
  return text;
}

}  // namespace hasten
