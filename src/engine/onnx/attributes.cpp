#include "engine/onnx/attributes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/onnx/tensor.h"

namespace hasten::onnx {

namespace {

using A = AttributeProto;

constexpr std::array<const char*, A::kLastType + 1> kTypeNames = {
    "undefined", "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
    "strings",   "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types"};

// The names that onnx.defs gives the attributes of domain "", by type; each list is sorted. A name
// has one type in all operators and opsets from 7 on, but for the exceptions of expected_type().
constexpr std::string_view kFloats[] = {"alpha",
                                        "beta",
                                        "bias",
                                        "clip",
                                        "cubic_coeff_a",
                                        "epsilon",
                                        "extrapolation_value",
                                        "gamma",
                                        "height_scale",
                                        "high",
                                        "lambd",
                                        "low",
                                        "max",
                                        "mean",
                                        "min",
                                        "momentum",
                                        "ratio",
                                        "scale",
                                        "seed",
                                        "softcap",
                                        "spatial_scale",
                                        "value_float",
                                        "width_scale"};
constexpr std::string_view kInts[] = {"align_corners",
                                      "allowzero",
                                      "antialias",
                                      "axis",
                                      "batch_axis",
                                      "batch_dims",
                                      "block_size",
                                      "blocksize",
                                      "broadcast",
                                      "ceil_mode",
                                      "center_point_box",
                                      "chunk_size",
                                      "count_include_pad",
                                      "detect_negative",
                                      "detect_positive",
                                      "dtype",
                                      "end",
                                      "exclude_outside",
                                      "exclusive",
                                      "fmod",
                                      "group",
                                      "hidden_size",
                                      "ignore_index",
                                      "input_forget",
                                      "interleaved",
                                      "inverse",
                                      "is_case_sensitive",
                                      "is_causal",
                                      "is_test",
                                      "k",
                                      "keepdims",
                                      "kv_num_heads",
                                      "largest",
                                      "layout",
                                      "linear_before_reset",
                                      "max_gram_length",
                                      "max_skip_count",
                                      "maxsplit",
                                      "min_gram_length",
                                      "new_axis",
                                      "noop_with_empty_axes",
                                      "num_groups",
                                      "num_heads",
                                      "num_outputs",
                                      "num_scan_inputs",
                                      "offset_group",
                                      "onesided",
                                      "output_datatype",
                                      "output_dtype",
                                      "output_height",
                                      "output_sequence",
                                      "output_width",
                                      "p",
                                      "periodic",
                                      "precision",
                                      "q_num_heads",
                                      "qk_matmul_output_mode",
                                      "reverse",
                                      "rotary_embedding_dim",
                                      "sample_size",
                                      "sampling_ratio",
                                      "saturate",
                                      "select_last_index",
                                      "size",
                                      "softmax_precision",
                                      "sorted",
                                      "spatial",
                                      "start",
                                      "stash_type",
                                      "storage_order",
                                      "time_axis",
                                      "to",
                                      "training_mode",
                                      "transA",
                                      "transB",
                                      "upper",
                                      "value_int"};
constexpr std::string_view kStrings[] = {"activation",
                                         "approximate",
                                         "auto_pad",
                                         "case_change_action",
                                         "coordinate_transformation_mode",
                                         "delimiter",
                                         "direction",
                                         "equation",
                                         "keep_aspect_ratio_policy",
                                         "locale",
                                         "mode",
                                         "nearest_mode",
                                         "padding_mode",
                                         "pattern",
                                         "pixel_format",
                                         "reduction",
                                         "round_mode",
                                         "value_string"};
constexpr std::string_view kFloatLists[] = {"activation_alpha", "activation_beta", "scales",
                                            "value_floats", "weights"};
constexpr std::string_view kIntLists[] = {"axes",
                                          "consumed_inputs",
                                          "dilations",
                                          "directions",
                                          "ends",
                                          "kernel_shape",
                                          "ngram_counts",
                                          "ngram_indexes",
                                          "output_padding",
                                          "output_shape",
                                          "paddings",
                                          "pads",
                                          "perm",
                                          "pool_int64s",
                                          "pooled_shape",
                                          "scan_input_axes",
                                          "scan_input_directions",
                                          "scan_output_axes",
                                          "scan_output_directions",
                                          "shape",
                                          "split",
                                          "starts",
                                          "strides",
                                          "value_ints"};
constexpr std::string_view kStringLists[] = {"activations", "pool_strings", "stopwords",
                                             "value_strings"};
constexpr std::string_view kGraphs[] = {"body", "else_branch", "then_branch"};

template <size_t N>
bool has(const std::string_view (&names)[N], std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

std::string to_string(Bytes bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

const char* attribute_type_name(AttributeProto::Type type) {
  return kTypeNames[static_cast<size_t>(type)];
}

AttributeProto::Type expected_type(std::string_view op, int64_t opset, std::string_view name) {
  if (name == "seed" && op == "Dropout") return A::kInt;
  if (name == "value") return op == "Pad" && opset < 11 ? A::kFloat : A::kTensor;
  if (name == "sparse_value") return A::kSparseTensor;
  if (name == "type") return A::kTypeProto;
  if (has(kFloats, name)) return A::kFloat;
  if (has(kInts, name)) return A::kInt;
  if (has(kStrings, name)) return A::kString;
  if (has(kFloatLists, name)) return A::kFloats;
  if (has(kIntLists, name)) return A::kInts;
  if (has(kStringLists, name)) return A::kStrings;
  if (has(kGraphs, name)) return A::kGraph;
  return A::kUndefined;
}

Result<AttributeProto::Type> attribute_type(const AttributeProto& a) {
  if (a.type < 0 || a.type > A::kLastType) {
    return fail(Code::kInvalidModel, "attribute '{}' has the type {}, which doesn't exist", a.name,
                a.type);
  }
  auto type = static_cast<A::Type>(a.type);
  if (type == A::kUndefined) {
    if (std::popcount(a.seen) != 1) {
      return fail(Code::kInvalidModel, "attribute '{}' has no type", a.name);
    }
    type = static_cast<A::Type>(std::countr_zero(a.seen));
  }
  // A zero or an empty list may be left out; a value of another type may not be there, except for
  // the zeros that some writers put into every field.
  const uint32_t others = a.seen & ~(1u << type);
  const uint32_t zeros = (a.f == 0 ? 1u << A::kFloat : 0) | (a.i == 0 ? 1u << A::kInt : 0) |
                         (a.s.empty() ? 1u << A::kString : 0);
  if ((others & ~zeros) != 0) {
    return fail(Code::kInvalidModel, "attribute '{}' is of type {}, but holds a value of type {}",
                a.name, attribute_type_name(type),
                kTypeNames[static_cast<size_t>(std::countr_zero(others & ~zeros))]);
  }
  return type;
}

Result<Attr> decode_attribute(const AttributeProto& a, AttributeProto::Type type) {
  switch (type) {
    case A::kFloat:
      return Attr(a.f);
    case A::kInt:
      return Attr(a.i);
    case A::kString:
      return Attr(to_string(a.s));
    case A::kFloats:
      return Attr(a.floats);
    case A::kInts:
      return Attr(a.ints);
    case A::kStrings: {
      std::vector<std::string> strings;
      strings.reserve(a.strings.size());
      for (Bytes s : a.strings) strings.push_back(to_string(s));
      return Attr(std::move(strings));
    }
    case A::kTypeProto: {
      if (a.tp.empty()) {
        return fail(Code::kInvalidModel, "attribute '{}' is of type type, but holds none", a.name);
      }
      const TypeProto& t = a.tp[0];
      if (t.kind == TypeProto::Kind::kTensor) {
        HASTEN_TRY(const DType dtype, decode_dtype(t.elem_type));
        return Attr(std::string(dtype_name(dtype)));
      }
      if (t.kind == TypeProto::Kind::kSequence) {
        return Attr(std::string(dtype_name(DType::kSequence)));
      }
      return fail(Code::kUnsupported,
                  "attribute '{}' is neither the type of a tensor nor of a "
                  "sequence",
                  a.name);
    }
    default:
      return fail(Code::kUnsupported, "attribute '{}' of type {} is not supported", a.name,
                  attribute_type_name(type));
  }
}

size_t attribute_bytes(const AttributeProto& a) {
  size_t bytes = sizeof(Attr) + a.name.size() + a.s.size() + a.floats.size() * sizeof(float) +
                 a.ints.size() * sizeof(int64_t) + a.strings.size() * sizeof(std::string);
  for (Bytes s : a.strings) bytes += s.size();
  return bytes;
}

}  // namespace hasten::onnx
