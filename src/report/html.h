// The report of an optimization: one file, no script, no request to anywhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure/profile.h"
#include "measure/proof.h"

namespace hasten {

struct HtmlReport {
  const Proof* proof = nullptr;
  /// Of our own engine: the ops it spends its time on. May be null.
  const Profile* profile = nullptr;
  /// "CPU", "AMD EPYC …": facts about the machine, in order.
  std::vector<std::pair<std::string, std::string>> machine;
};

/// Readable on a phone (400 px), light and dark as the reader's system is.
std::string html_report(const HtmlReport& report);

}  // namespace hasten
