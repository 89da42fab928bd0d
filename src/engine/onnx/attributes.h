// AttributeProto -> Attr.
#pragma once

#include <string_view>

#include "engine/ir/graph.h"
#include "engine/onnx/proto.h"

namespace hasten::onnx {

/// The type of an attribute: as it says, or else as its one field shows (files of old).
/// Errors: invalid_model (a type that doesn't exist, or fields of another type).
Result<AttributeProto::Type> attribute_type(const AttributeProto& attribute);

/// Everything but tensors and graphs. Error: unsupported (lists of those, types, sparse tensors).
Result<Attr> decode_attribute(const AttributeProto& attribute, AttributeProto::Type type);

/// About what the decoded attribute will take.
size_t attribute_bytes(const AttributeProto& attribute);

/// "int", "floats" …
const char* attribute_type_name(AttributeProto::Type type);

/// The type that the ONNX operators (domain "", opsets 7 and later) want for an attribute of that
/// name; kUndefined if none has it.
AttributeProto::Type expected_type(std::string_view op, int64_t opset, std::string_view attribute);

}  // namespace hasten::onnx
