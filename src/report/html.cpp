#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/html_style.h"
#include "report/text.h"

namespace hasten {

namespace {

/// A target that may be broken into lines behind its commas.
std::string target_html(const std::string& target) {
  std::string html;
  for (char c : escape_html(target)) {
    html += c;
    if (c == ',') html += "<wbr>";
  }
  return "<code>" + html + "</code>";
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<section><h2>{}</h2>{}</section>\n", title, body);
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string html = "<dl>";
  for (const auto& [name, value] : rows)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", escape_html(name), value);
  return html + "</dl>";
}

std::string headline(const Proof& p) {
  const Comparison& c = p.comparison;
  std::string html;
  if (p.keeps_baseline) {
    html = p.unsure() ? fmt::format("<p class=big>Nothing was proven faster</p><p>{}: {}.</p>",
                                    target_html(p.baseline.target), escape_html(kept_text(p)))
                      : fmt::format(
                            "<p class=big>The baseline is already best</p><p>Nothing tried "
                            "here ran faster than {}.</p>",
                            target_html(p.baseline.target));
  } else {
    html = fmt::format("<p class=big>{:.3f}&times; as fast</p><p>{} against {}</p>", c.speedup,
                       target_html(p.chosen.target), target_html(p.baseline.target));
  }
  if (p.interrupted) html += "<p class=warn>Interrupted: this is what was measured so far.</p>";
  return html;
}

std::string latency_section(const Proof& p) {
  const Comparison& c = p.comparison;
  if (c.a.n == 0 || c.b.n == 0) return "";
  const std::string name_a = "baseline: " + p.baseline.target;
  const std::string name_b = (p.keeps_baseline ? "nearest: " : "chosen: ") + p.challenger;
  const Distribution both[] = {{shorten(name_a, 62), "a", c.a.samples_ms},
                               {shorten(name_b, 62), "b", c.b.samples_ms}};
  auto cell = [](const std::optional<double>& v) {
    return v ? format_ms(*v) : std::string("&ndash;");
  };
  std::string table = fmt::format(
      "<div class=scroll><table><tr><th><th><i class=a></i>baseline<th><i class=b></i>{}</tr>",
      p.keeps_baseline ? "nearest" : "chosen");
  auto row = [&](const char* name, const std::optional<double>& of_a,
                 const std::optional<double>& of_b) {
    table += fmt::format("<tr><td>{}<td>{}<td>{}</tr>", name, cell(of_a), cell(of_b));
  };
  row("p50", c.a.p50_ms, c.b.p50_ms);
  row("p90", c.a.p90_ms, c.b.p90_ms);
  row("p99", c.a.p99_ms, c.b.p99_ms);
  row("mean", c.a.mean_ms, c.b.mean_ms);
  row("first run", c.a.cold_ms, c.b.cold_ms);
  row("loading", c.a.load_ms, c.b.load_ms);
  table += fmt::format("<tr><td>runs<td>{}<td>{}</tr></table></div>", c.a.n, c.b.n);
  const std::string note =
      c.a.n < 368 || c.b.n < 368
          ? "<p class=note>A quantile is left out where there are too few runs to estimate it "
            "(36 for p90, 368 for p99).</p>"
          : "";
  return histograms_svg(both) + table + note;
}

std::string speedup_section(const Proof& p) {
  const Comparison& c = p.comparison;
  if (c.rounds == 0) return "";
  std::vector<double> ratios;
  for (double log_ratio : c.log_ratios) ratios.push_back(std::exp(log_ratio));
  return fmt::format(
      "{}<p>{:.3f} times as fast; {}.</p><p class=note>Each dot is a "
      "round: both "
      "sides opened afresh and run in alternating bursts ({}). The speedup is of paired "
      "bursts, so it is not the ratio of the p50s below. The "
      "interval is over rounds and holds whenever one stops.</p>",
      speedup_svg(c.speedup, c.ci, ratios), c.speedup, escape_html(c.why),
      counted(c.rounds, "round"));
}

std::string accuracy_section(const Proof& p) {
  if (!p.chosen.accuracy) return "";
  const Accuracy& a = *p.chosen.accuracy;
  return fmt::format("<p><b class={}>{}</b> {}</p><p>{}</p>", a.passed ? "good" : "bad",
                     a.passed ? "In agreement:" : "Apart:", escape_html(a.why),
                     escape_html(outputs_text(a.diff)));
}

/// Of the screening and, apart from it, of the full comparison.
std::string speedups(const Tried& t) {
  std::string html;
  if (t.screened) html += fmt::format(", screening {:.3f}&times;", *t.screened);
  if (t.speedup) html += fmt::format(", <b>compared {:.3f}&times;</b>", *t.speedup);
  return html;
}

std::string tried_section(const Proof& p) {
  double slowest = 0;
  for (const Tried& t : p.tried) slowest = std::max(slowest, t.p50_ms.value_or(0));
  std::string html = "<div class=tried>";
  for (const Tried& t : p.tried) {
    const double share = slowest > 0 ? t.p50_ms.value_or(0) / slowest : 0;
    const char* css = t.outcome == Outcome::kChosen ? "b" : "a";
    html += fmt::format("<div class=try><div class=head>{}<span class=\"tag {}\">{}</span></div>",
                        target_html(t.target), outcome_name(t.outcome), outcome_name(t.outcome));
    if (t.p50_ms) {
      html += fmt::format(
          "<div class=bar><i class={} style=\"width:{:.1f}%\"></i><span>{}{}</span></div>", css,
          100 * share * 0.4, format_ms(*t.p50_ms), speedups(t));
    }
    html += fmt::format("<div class=why>{}</div></div>", escape_html(t.why));
  }
  return html + "</div>";
}

constexpr size_t kMostOps = 25;

/// The ops that take longest, each with a bar as long as its share of the time.
std::string ops_section(const Profile* profile) {
  if (profile == nullptr || profile->ops.empty()) return "";
  std::vector<const OpProfile*> ops;
  for (const OpProfile& op : profile->ops) ops.push_back(&op);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const OpProfile* a, const OpProfile* b) { return a->ms > b->ms; });
  std::string html = fmt::format(
      "<p class=note>{}, {}: {} a run, {} of it in no op. Roof: how near an op comes to what "
      "this machine was measured to do.</p><div class=scroll><table class=ops>"
      "<tr><th>op<th>time<th>share<th class=wide>GFLOP/s<th>roof<th>bound</tr>",
      target_html(profile->target), escape_html(profile->engine), format_ms(profile->wall_ms),
      format_ms(profile->unattributed_ms));
  double rest = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpProfile& op = *ops[i];
    if (i >= kMostOps) {
      rest += op.ms;
      continue;
    }
    html += fmt::format(
        "<tr><td><b>{}</b> <span>{}</span><div class=share><i class=b "
        "style=\"width:{:.1f}%\"></i></div><td>{}<td>{:.1f} "
        "%<td class=wide>{}<td>{}<td>{}</tr>",
        escape_html(op.op), escape_html(shorten(op.name, 40)),
        100 * op.share / std::max(ops[0]->share, 1e-9), format_time(op.ms), 100 * op.share,
        op.gflops > 0 ? fmt::format("{:.1f}", op.gflops) : "&ndash;",
        op.roof_pct ? fmt::format("{:.0f} %", *op.roof_pct) : "&ndash;",
        op.bound.empty() ? "&ndash;" : escape_html(op.bound));
  }
  html += "</table></div>";
  if (rest > 0)
    html += fmt::format("<p class=note>{} more ops take {} together.</p>", ops.size() - kMostOps,
                        format_ms(rest));
  for (const Finding& f : profile->findings) {
    html += fmt::format("<p><b>{}. {}</b>: {} ({}). <span class=note>{}.{}</span></p>", f.rank,
                        escape_html(f.cause), escape_html(f.where), format_percent(f.share),
                        escape_html(f.why),
                        f.do_next.empty() ? "" : " Next: " + escape_html(f.do_next) + ".");
  }
  return html;
}

std::string warnings_section(const Proof& p) {
  std::string html;
  for (const Warning& w : p.comparison.warnings) {
    html += fmt::format("<li><b>{}</b>: {}. Next: {}.</li>", escape_html(w.what),
                        escape_html(w.why), escape_html(w.next));
  }
  return html.empty() ? "" : "<ul>" + html + "</ul>";
}

std::string origin_section(const Proof& p) {
  return facts({{"model", escape_html(p.model_path)},
                {"its hash", "<code>" + escape_html(p.model_hash) + "</code>"},
                {"inputs", escape_html(p.data)},
                {"their hash", "<code>" + escape_html(p.data_hash) + "</code>"},
                {"samples", fmt::format("{}", p.samples)},
                {"baseline", escape_html(p.baseline.version)},
                {"chosen", escape_html(p.chosen.version)},
                {"made by", "hasten " + escape_html(p.hasten_version)},
                {"at", escape_html(p.created)}});
}

/// The last part of a path.
std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string html_report(const HtmlReport& report) {
  const Proof& p = *report.proof;
  const std::string title = escape_html(base_name(p.model_path));
  std::vector<std::pair<std::string, std::string>> machine;
  for (const auto& [name, value] : report.machine) machine.emplace_back(name, escape_html(value));
  std::string body = fmt::format("<header><h1>{}</h1>{}</header>\n<main>", title, headline(p));
  body += section("Speedup", speedup_section(p));
  body += section("Latency", latency_section(p));
  body += section("Accuracy", accuracy_section(p));
  body += section("What was tried", tried_section(p));
  body += section("Where our engine spends its time", ops_section(report.profile));
  body += section("Warnings", warnings_section(p));
  body += section("Machine", machine.empty() ? "" : facts(machine));
  body += section("Where this comes from", origin_section(p));
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>{} - "
      "hasten</title>\n<style>{}</style></head>\n"
      "<body>{}</main></body></html>\n",
      title, kHtmlStyle, body);
}

}  // namespace hasten
