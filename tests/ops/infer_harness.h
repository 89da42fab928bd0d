// What inference says of one node: facts in, text out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/ops/infer_graph.h"
#include "tests/ops/op_harness.h"

namespace hasten::test {

inline Dim sym(const std::string& name) { return Dim::symbol(name); }

/// Of a value without even a rank.
inline Facts unshaped(DType dtype) {
  Facts facts;
  facts.dtype = dtype;
  return facts;
}
/// Of a value of which only dtype and shape are known.
inline Facts shaped(DType dtype, Shape shape) {
  Facts facts = unshaped(dtype);
  facts.has_shape = true;
  facts.shape = std::move(shape);
  return facts;
}
/// Of known elements.
inline Facts known(Tensor value) {
  Facts facts = shaped(value.dtype(), to_shape(value.dims()));
  facts.value = std::move(value);
  return facts;
}
/// Of a known int64 list whose elements are dims, symbols included.
inline Facts known_dims(const Shape& dims) {
  std::vector<int64_t> codes;
  for (Dim d : dims) codes.push_back(d.code());
  return known(Tensor::ints({static_cast<int64_t>(codes.size())}, codes));
}

/// "f32[batch,3]", with " = {2,batch}" after it where int64 elements are known; fresh symbols are
/// written "?". Several outputs are separated by "; ". The message, if inference fails.
inline std::string infer_text(const std::string& op, int64_t opset, const std::vector<Facts>& in,
                              Attrs attrs = {}, size_t outputs = 1) {
  Node node;
  node.name = "n";
  node.op = op;
  node.version = opset;
  node.def = find_op("", op, opset);
  node.attrs = std::move(attrs);
  std::vector<const Facts*> pointers;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool absent = in[i].dtype == DType::kNone;
    node.inputs.push_back(absent ? kNoValue : static_cast<ValueId>(i));
    pointers.push_back(absent ? nullptr : &in[i]);
  }
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<ValueId>(100 + i));
  std::vector<Facts> out(outputs);
  const auto status = infer_node(node, pointers, out, [](const Node& n, std::span<const Tensor> t) {
    return evaluate_node(n, t);
  });
  if (!status) return status.error().message;
  std::string text;
  for (const Facts& f : out) {
    if (!text.empty()) text += "; ";
    text += f.text();
    if (!f.known_value() || f.dtype != DType::kI64) continue;
    text += " = {";
    for (int64_t i = 0; i < f.value.count(); ++i) {
      if (i > 0) text += ',';
      text += Dim::from_code(f.value.as<int64_t>()[i]).text();
    }
    text += '}';
  }
  // "?17" -> "?"
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    while (text[i] == '?' && i + 1 < text.size() && std::isdigit(text[i + 1])) ++i, text[i] = '?';
  }
  return plain;
}

}  // namespace hasten::test
