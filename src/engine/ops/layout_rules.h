// Which operators run on nchw16c, and what they want of each input then.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/ops/op.h"

namespace hasten {

enum class InputLayout : uint8_t {
  kAsIs,  // whatever there is: a parameter, a constant per channel, a plain first layer
  kPlain,
  kBlocked,
};

struct BlockedRule {
  std::vector<InputLayout> inputs;
  bool output_blocked = true;
  /// Convolutions are worth a reorder of their input; others only follow what is blocked already.
  bool worth_reorder = false;
};

/// May images of so many channels be joined along them in nchw16c by copying runs of channels? The
/// zeros that pad the last block must come with the last image.
bool joins_blocked(std::span<const int64_t> channels);

/// How the node runs on blocked data, by what is known of its values (layouts aside), or nothing
/// where it can't, or where that isn't certain for every shape that may come.
std::optional<BlockedRule> blocked_rule(const Graph& graph, const Node& node);

/// hasten.Reorder from one value to another that is the same in that layout.
Node reorder_node(const Graph& graph, ValueId from, ValueId to, Layout layout);

}  // namespace hasten
