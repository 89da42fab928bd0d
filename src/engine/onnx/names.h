// How names of an ONNX file are read.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "engine/onnx/proto.h"

namespace hasten::onnx {

/// "ai.onnx" is another name of the domain "".
inline std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

/// Nodes without a name go by their first output's.
inline std::string name_of(const NodeProto& p) {
  if (!p.name.empty() || p.outputs.empty()) return std::string(p.name);
  return std::string(p.outputs[0]);
}

/// What tells a function from others.
using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
inline FunctionKey function_key(std::string_view domain, std::string_view name,
                                std::string_view overload) {
  return {plain_domain(domain), name, overload};
}

/// "map", "sequence" …
inline const char* type_kind_name(TypeProto::Kind kind) {
  static constexpr const char* kNames[] = {"none",     "tensor",        "sequence", "map",
                                           "optional", "sparse tensor", "opaque"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace hasten::onnx
