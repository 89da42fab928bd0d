// Timelines for chrome://tracing and https://ui.perfetto.dev.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hasten {

/// Something that took [begin_ns, end_ns] on one track.
struct TraceEvent {
  std::string name, category;
  int64_t begin_ns = 0, end_ns = 0;
  int track = 1;
  std::vector<std::pair<std::string, std::string>> details;
};

/// The events as "complete" events of the Trace Event Format; times count from the first begin.
/// Source: docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
std::string chrome_trace(std::span<const TraceEvent> events, const std::string& process);

}  // namespace hasten
