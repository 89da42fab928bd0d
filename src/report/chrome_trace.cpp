#include "report/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hasten {

std::string chrome_trace(std::span<const TraceEvent> events, const std::string& process) {
  using Json = nlohmann::ordered_json;
  int64_t start = events.empty() ? 0 : events[0].begin_ns;
  for (const TraceEvent& e : events) start = std::min(start, e.begin_ns);
  auto us = [](int64_t ns) { return static_cast<double>(ns) * 1e-3; };
  Json list = Json::array();
  list.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", process}}}});
  for (const TraceEvent& e : events) {
    Json details = Json::object();
    for (const auto& [key, value] : e.details) details[key] = value;
    list.push_back({{"name", e.name},
                    {"cat", e.category},
                    {"ph", "X"},
                    {"ts", us(e.begin_ns - start)},
                    {"dur", us(e.end_ns - e.begin_ns)},
                    {"pid", 1},
                    {"tid", e.track},
                    {"args", details}});
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", list}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hasten
