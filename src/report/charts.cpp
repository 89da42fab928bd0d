#include "report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"

namespace hasten {

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

namespace {

constexpr double kWidth = 400, kLeft = 10, kRight = 390;  // of the view box, chosen for phones

/// A linear axis from a value range to the width of the chart.
struct Axis {
  double lo = 0, hi = 1;
  double x(double value) const { return kLeft + (value - lo) / (hi - lo) * (kRight - kLeft); }
};

/// A round step that gives 3 to 6 ticks or so.
double tick_step(double range) {
  const double raw = range / 6;
  const double magnitude = std::pow(10, std::floor(std::log10(raw)));
  for (double m : {1.0, 2.0, 5.0}) {
    if (raw <= m * magnitude) return m * magnitude;
  }
  return 10 * magnitude;
}

std::string number(double value, double step) {
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string axis_svg(const Axis& axis, double y, std::string_view unit) {
  std::string svg = fmt::format("<line class=axis x1={} x2={} y1={} y2={} />", kLeft, kRight, y, y);
  const double step = tick_step(axis.hi - axis.lo);
  for (double v = std::ceil(axis.lo / step) * step; v <= axis.hi; v += step) {
    const double x = axis.x(v);
    const char* anchor = x < 25 ? "start" : x > kWidth - 25 ? "end" : "middle";
    svg += fmt::format(
        "<line class=axis x1={0:.1f} x2={0:.1f} y1={1} y2={2} /><text x={0:.1f} y={3} "
        "text-anchor={4}>{5}</text>",
        x, y, y + 4, y + 16, anchor, number(v, step));
  }
  return svg + fmt::format("<text x={} y={} text-anchor=end>{}</text>", kRight, y + 30, unit);
}

std::string open_svg(double height, std::string_view label) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=img aria-label=\"{}\">", kWidth, height,
                     escape_html(label));
}

struct Mark {
  const char* name;
  Fraction p;
  size_t least;  // runs from which the quantile can be estimated
};
constexpr Mark kMarks[] = {{"p50", kP50, 1}, {"p90", kP90, 36}, {"p99", kP99, 368}};

std::string histogram(const Distribution& d, std::span<const double> ascending, const Axis& axis,
                      double top, double height) {
  constexpr int kBins = 60;
  std::vector<double> counts(kBins, 0);
  int64_t beyond = 0;
  for (double v : ascending) {
    const double at = (v - axis.lo) / (axis.hi - axis.lo) * kBins;
    if (at >= kBins) {
      ++beyond;
    } else {
      counts[static_cast<size_t>(std::max(0.0, at))] += 1;
    }
  }
  const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  const double base = top + height;
  const double width = (kRight - kLeft) / kBins;
  std::string svg =
      fmt::format("<text class=name x={} y={}>{}</text>", kLeft, top - 6, escape_html(d.name));
  for (int i = 0; i < kBins; ++i) {
    const double h = counts[static_cast<size_t>(i)] / most * height;
    if (h == 0) continue;
    svg += fmt::format("<rect class={} x={:.1f} y={:.1f} width={:.1f} height={:.1f} />", d.css,
                       kLeft + i * width, base - h, width - 0.5, h);
  }
  double last = -100;
  for (const Mark& mark : kMarks) {
    if (ascending.size() < mark.least) continue;
    const double value = quantile_sorted(ascending, mark.p);
    if (value > axis.hi) continue;  // among those beyond
    const double x = axis.x(value);
    svg += fmt::format("<line class=mark x1={0:.1f} x2={0:.1f} y1={1} y2={2} />", x, top, base);
    if (x - last < 24) continue;  // names would lie on each other
    // The first stands left of its mark, where there is room for it, the others right of theirs.
    const bool left = (last < 0 && x > 40) || x > kWidth - 30;
    svg += fmt::format("<text class=halo x={:.1f} y={} text-anchor={}>{}</text>",
                       left ? x - 3 : x + 3, top + 8, left ? "end" : "start", mark.name);
    last = x;
  }
  if (beyond > 0)
    svg += fmt::format("<text x={} y={} text-anchor=end>{} more beyond</text>", kRight, top - 6,
                       beyond);
  return svg +
         fmt::format("<line class=axis x1={} x2={} y1={} y2={} />", kLeft, kRight, base, base);
}

}  // namespace

std::string histograms_svg(std::span<const Distribution> distributions) {
  std::vector<std::vector<double>> ascending;
  Axis axis{1e300, 0};
  for (const Distribution& d : distributions) {
    if (d.samples_ms.empty()) return "";
    ascending.push_back(sorted(d.samples_ms));
    const auto& values = ascending.back();
    axis.lo = std::min(axis.lo, values.front());
    // A long tail would press everything else against the left: it is counted, not drawn.
    const double p50 = quantile_sorted(values, kP50), p90 = quantile_sorted(values, kP90);
    axis.hi = std::max(axis.hi, std::min(quantile_sorted(values, kP99),
                                         std::max(p90 + 2 * (p90 - p50), 1.3 * p50)));
  }
  if (ascending.empty()) return "";
  const double margin = std::max((axis.hi - axis.lo) * 0.06, axis.hi * 1e-3);
  axis.lo = std::max(0.0, axis.lo - margin);
  axis.hi += margin;
  constexpr double kHeight = 70, kStride = 100;
  const double bottom = 20 + kStride * static_cast<double>(ascending.size()) - 22;
  std::string svg = open_svg(bottom + 36, "Distributions of latency in milliseconds");
  for (size_t i = 0; i < ascending.size(); ++i) {
    svg += histogram(distributions[i], ascending[i], axis, 20 + kStride * static_cast<double>(i),
                     kHeight);
  }
  return svg + axis_svg(axis, bottom, "ms") + "</svg>";
}

std::string speedup_svg(double speedup, const Interval& interval, std::span<const double> ratios) {
  const bool finite = std::isfinite(interval.hi);
  Axis axis{std::min(1.0, finite ? interval.lo : speedup),
            std::max(1.0, finite ? interval.hi : speedup)};
  // Rounds far off are drawn at the edge.
  const double margin = std::max(0.02, (axis.hi - axis.lo) * 0.25);
  axis.lo = std::max(0.0, axis.lo - margin);
  axis.hi += margin;
  const std::string words = finite
                                ? fmt::format("interval {:.3f} to {:.3f}", interval.lo, interval.hi)
                                : std::string("no interval yet");
  std::string svg = open_svg(100, fmt::format("Speedup {:.3f}, {}", speedup, words));
  svg += fmt::format(
      "<line class=one x1={0:.1f} x2={0:.1f} y1=14 y2=62 /><text x={0:.1f} y=8 "
      "text-anchor=middle>equal</text>",
      std::clamp(axis.x(1), kLeft + 14, kRight - 14));
  for (size_t i = 0; i < ratios.size(); ++i) {
    const double x = axis.x(std::clamp(ratios[i], axis.lo, axis.hi));
    svg += fmt::format("<circle class=round cx={:.1f} cy={} r=2.5 />", x,
                       20 + static_cast<double>(i * 7 % 16));
  }
  if (finite) {  // a bar without an end would look like one that is known
    const double lo = axis.x(interval.lo), hi = axis.x(interval.hi);
    svg += fmt::format("<rect class=b x={:.1f} y=47 width={:.1f} height=8 rx=4 />", lo,
                       std::max(1.0, hi - lo));
  }
  svg += fmt::format("<circle class=point cx={:.1f} cy=51 r=6 />", axis.x(speedup));
  return svg + axis_svg(axis, 64, "times as fast") + "</svg>";
}

}  // namespace hasten
