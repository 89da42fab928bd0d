// Numbers and tables as people read them.
#pragma once

#include <string>
#include <vector>

#include "report/style.h"

namespace hasten {

/// "0.0123 ms", "12.3 ms", "4.56 s": three or four figures.
std::string format_ms(double ms);
/// The same in the unit that suits it: "0.35 µs", "12.3 µs", "1.234 ms".
std::string format_time(double ms);
/// "8.18 GFLOP", "128 FLOP"
std::string format_flops(double flops);
/// "1.23 G", "45.6 M", "789": three figures, decimal prefixes.
std::string format_count(double value);
/// "1.23 GB", "45.6 MB", "789 B".
std::string format_bytes(double bytes);
/// "98.3 %"
std::string format_percent(double fraction);

/// Columns of text, as wide as they need to be.
class Table {
 public:
  /// One letter a column: 'l' left, 'r' right.
  explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}
  void header(std::vector<std::string> cells);
  void row(std::vector<std::string> cells);
  /// Every line indented by two spaces.
  std::string text(const Style& style) const;

 private:
  std::string alignment_;
  bool has_header_ = false;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that a terminal shows for UTF-8 text (one each for code points; no wide characters).
size_t display_width(std::string_view text);

/// The beginning of a text, with "…" where it was cut to fit `width`.
std::string shorten(std::string_view text, size_t width);

}  // namespace hasten
