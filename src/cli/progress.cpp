#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace hasten {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), begin_ns_(now_ns()) {}

void ProgressLine::update(const Progress& progress) {
  const int64_t now = now_ns();
  if (!terminal_ || now - begin_ns_ < 1'000'000'000 || now - last_ns_ < 100'000'000) return;
  last_ns_ = now;
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(std::clamp(progress.fraction, 0.0, 1.0) * kWidth);
  const std::string bar = std::string(static_cast<size_t>(filled), '#') +
                          std::string(static_cast<size_t>(kWidth - filled), '.');
  const std::string line = fmt::format(
      "\r\033[K[{}] {}{} {:.0f} s", bar, progress.stage,
      progress.runs > 0 ? fmt::format(", {} runs", progress.runs) : "", progress.seconds);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace hasten
