// How much arithmetic a node is, told from shapes.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "engine/ir/graph.h"

namespace hasten {

/// The dims of input i; nothing if they are not known or the input is absent.
using DimsOf = std::function<std::optional<Dims>(size_t i)>;

/// The dims of a value, if all are numbers.
std::optional<Dims> known_dims(const Graph& graph, ValueId id);

/// How many elements that is, where integers might overflow.
double element_count(std::span<const int64_t> dims);

/// Multiply-adds of a node: convolutions, matrix products, Einsum, recurrent layers. 0 for one that
/// has none; nothing where a shape is missing.
std::optional<double> multiply_adds(const Node& node, const DimsOf& in,
                                    const std::optional<Dims>& out);
std::optional<double> multiply_adds(const Graph& graph, const Node& node);

/// Elements that the plain loops of a node visit, at most: its multiply-adds, for a pool its
/// windows, for what takes samples or compares each with each those; at least its outputs.
double loop_steps(const Node& node, const DimsOf& in, const std::optional<Dims>& out);
double loop_steps(const Graph& graph, const Node& node);

}  // namespace hasten
