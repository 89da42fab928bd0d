#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hasten {

namespace {

/// Four significant figures without an exponent: 0.01234, 1.234, 12.34, 123.4, 1234.
std::string figures(double value, int count) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(count - 1 - magnitude, 0, 6));
}

std::string with_prefix(double value, const char* unit) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  while (std::fabs(value) >= 999.5 && i + 1 < kPrefixes.size()) {
    value /= 1000;
    ++i;
  }
  const bool whole = i == 0 && value == std::floor(value);
  const std::string tail = fmt::format("{}{}", kPrefixes[i], unit);
  return fmt::format("{}{}{}", whole ? fmt::format("{:.0f}", value) : figures(value, 3),
                     tail.empty() ? "" : " ", tail);
}

}  // namespace

std::string format_ms(double ms) {
  if (ms >= 10000) return figures(ms / 1000, 3) + " s";
  return figures(ms, ms < 0.1 ? 3 : 4) + " ms";
}

std::string format_time(double ms) {
  if (ms >= 0.1 || ms == 0) return format_ms(ms);
  return fmt::format("{:.{}f} µs", ms * 1e3, ms < 0.001 ? 2 : ms < 0.01 ? 2 : 1);
}

std::string format_flops(double flops) { return with_prefix(flops, "FLOP"); }

std::string format_count(double value) { return with_prefix(value, ""); }

std::string format_bytes(double bytes) { return with_prefix(bytes, "B"); }

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

size_t display_width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string cut;
  size_t shown = 0;
  for (char c : text) {
    if ((c & 0xc0) != 0x80 && ++shown >= width) break;
    cut += c;
  }
  return cut + "…";
}

void Table::header(std::vector<std::string> cells) {
  has_header_ = true;
  row(std::move(cells));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(alignment_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(const Style& style) const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < widths.size(); ++c) {
      const std::string padding(widths[c] - display_width(rows_[r][c]), ' ');
      line += "  " + (alignment_[c] == 'r' ? padding + rows_[r][c] : rows_[r][c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (r == 0 && has_header_ ? style.dim(line) : line) + "\n";
  }
  return out;
}

}  // namespace hasten
