// Charts as inline SVG: no script, no request; colours come from the page's style sheet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/statistics.h"

namespace hasten {

/// Text made safe for HTML and for attribute values.
std::string escape_html(std::string_view text);

/// One distribution of latencies, drawn with the CSS class `css` ("a", "b").
struct Distribution {
  std::string name, css;
  std::span<const double> samples_ms;  // any order
};

/// Histograms one above the other on one time axis, with marks at P50, P90 and P99 where they can
/// be estimated. The axis ends a little behind the last P99: a rare straggler must not squeeze the
/// rest; how many lie beyond is said. "" without samples.
std::string histograms_svg(std::span<const Distribution> distributions);

/// The interval of a speedup against 1, with a dot for each round's ratio.
std::string speedup_svg(double speedup, const Interval& interval, std::span<const double> ratios);

}  // namespace hasten
