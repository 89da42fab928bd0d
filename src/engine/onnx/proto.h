// The messages of an ONNX file, decoded without copying: names and data point into the bytes.
// Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/ir/load_limits.h"

namespace hasten::onnx {

using Bytes = std::span<const std::byte>;
/// Encoded elements of a repeated number. Packed fields give one chunk, unpacked ones one each.
using Chunks = std::vector<Bytes>;

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  std::optional<Bytes> raw_data;
  Chunks float_data, int32_data, int64_data, double_data, uint64_data;
  std::vector<Bytes> string_data;
  std::vector<std::pair<std::string_view, std::string_view>> external_data;
  int32_t data_location = 0;  // 1: external
  bool has_segment = false;
};

/// What a type is, as far as we look at it.
struct TypeProto {
  enum class Kind { kNone, kTensor, kSequence, kMap, kOptional, kSparseTensor, kOpaque };
  struct Dim {
    std::optional<int64_t> value;
    std::string_view param;
  };
  Kind kind = Kind::kNone;
  Kind held = Kind::kNone;  // of a sequence or optional: what it holds
  int32_t elem_type = 0;    // of a tensor, or of the tensors held
  bool has_shape = false;
  std::vector<Dim> dims;
};

struct ValueInfoProto {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

struct AttributeProto {
  /// AttributeProto.AttributeType
  enum Type : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
    kSparseTensors = 12,
    kTypeProto = 13,
    kTypeProtos = 14,
    kLastType = 14,
  };
  std::string_view name, ref_attr_name;
  int32_t type = kUndefined;
  uint32_t seen = 0;  // bit t: a field of type t was there
  float f = 0;
  int64_t i = 0;
  Bytes s;
  std::vector<TensorProto> t;  // 0 or 1
  std::vector<GraphProto> g;   // 0 or 1
  std::vector<TypeProto> tp;   // 0 or 1
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<Bytes> strings;
};

struct NodeProto {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<std::string_view> sparse_initializers;  // their names
  std::vector<ValueInfoProto> inputs, outputs, value_infos;
};

using OpsetIds = std::vector<std::pair<std::string_view, int64_t>>;

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<AttributeProto> defaults;
  std::vector<NodeProto> nodes;
  OpsetIds opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string_view producer;
  GraphProto graph;
  bool has_graph = false;
  OpsetIds opsets;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  std::vector<FunctionProto> functions;
};

struct ReadLimits {
  int64_t max_nodes = 0;  // in all graphs and functions; 0: no limit
  int max_depth = 32;     // of subgraphs
  LoadClock clock;
};

/// Decodes a whole file. Errors: invalid_model with the place in the file; unsupported (more nodes
/// than the limit), deadline.
Result<ModelProto> read_model(Bytes bytes, const ReadLimits& limits = {});

}  // namespace hasten::onnx
