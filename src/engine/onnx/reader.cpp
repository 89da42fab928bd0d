#include <new>

#include "engine/onnx/fields.h"

namespace hasten::onnx {

bool is_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = p + text.size();
  while (p < end) {
    const unsigned c = *p++;
    if (c < 0x80) continue;
    const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || end - p < more) return false;
    const unsigned d = *p;
    if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) ||
        (c == 0xf4 && d > 0x8f)) {
      return false;
    }
    for (int i = 0; i < more; ++i) {
      if ((*p++ & 0xc0) != 0x80) return false;
    }
  }
  return true;
}

std::string_view Fields::text() {
  const uint32_t number = tag();
  const Bytes view = bytes();
  const std::string_view s(reinterpret_cast<const char*>(view.data()), view.size());
  if (!is_utf8(s)) throw ReadError(fmt::format("field {} is not UTF-8 text", number));
  return s;
}

namespace {

using protozero::pbf_wire_type;

struct LimitReached {
  Error error;
};

class Reader {
 public:
  explicit Reader(const ReadLimits& limits) : limits_(limits) {}

  ModelProto model(Bytes bytes) {
    ModelProto m;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          m.ir_version = f.int64();
          break;
        case 2:
          m.producer = f.text();
          break;
        case 7: {
          if (m.has_graph) throw ReadError("the model has more than one graph");
          m.has_graph = true;
          Place place(*this, "graph");
          m.graph = graph(f.bytes());
          break;
        }
        case 8:
          m.opsets.push_back(opset(f.bytes()));
          break;
        case 14:
          m.metadata.push_back(pair(f.bytes()));
          break;
        case 25: {
          Place place(*this, "functions", m.functions.size());
          m.functions.push_back(function(f.bytes()));
          break;
        }
        default:
          f.skip();
      }
    }
    return m;
  }

  /// "graph.node[3].attribute[0], byte 4711"
  std::string place(Bytes file) const {
    std::string out;
    for (const auto& [name, index] : places_) {
      if (!out.empty()) out += '.';
      out += index < 0 ? std::string(name) : fmt::format("{}[{}]", name, index);
    }
    if (at_ == nullptr) return out;
    return fmt::format("{}{}byte {}", out, out.empty() ? "" : ", ",
                       at_ - reinterpret_cast<const char*>(file.data()));
  }

 private:
  /// Where we are, for messages; stays as it was when an exception passes.
  class Place {
   public:
    Place(Reader& reader, const char* name, int64_t index = -1)
        : reader_(reader), exceptions_(std::uncaught_exceptions()) {
      reader_.places_.emplace_back(name, index);
    }
    Place(Reader& reader, const char* name, size_t index)
        : Place(reader, name, static_cast<int64_t>(index)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      if (std::uncaught_exceptions() == exceptions_) reader_.places_.pop_back();
    }

   private:
    Reader& reader_;
    int exceptions_;
  };

  bool next(Fields& f) {
    at_ = f.at();
    return f.next();
  }

  GraphProto graph(Bytes bytes) {
    if (++depth_ > limits_.max_depth) {
      throw ReadError(fmt::format("subgraphs are nested more than {} deep", limits_.max_depth));
    }
    GraphProto g;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1: {
          Place place(*this, "node", g.nodes.size());
          g.nodes.push_back(node(f.bytes()));
          break;
        }
        case 2:
          g.name = f.text();
          break;
        case 5: {
          Place place(*this, "initializer", g.initializers.size());
          g.initializers.push_back(tensor(f.bytes()));
          break;
        }
        case 11: {
          Place place(*this, "input", g.inputs.size());
          g.inputs.push_back(value_info(f.bytes()));
          break;
        }
        case 12: {
          Place place(*this, "output", g.outputs.size());
          g.outputs.push_back(value_info(f.bytes()));
          break;
        }
        case 13: {
          Place place(*this, "value_info", g.value_infos.size());
          g.value_infos.push_back(value_info(f.bytes()));
          break;
        }
        case 15: {
          Place place(*this, "sparse_initializer", g.sparse_initializers.size());
          g.sparse_initializers.push_back(sparse_name(f.bytes()));
          break;
        }
        default:
          f.skip();
      }
    }
    --depth_;
    return g;
  }

  NodeProto node(Bytes bytes) {
    if (++nodes_ > limits_.max_nodes && limits_.max_nodes > 0) {
      throw LimitReached{{Code::kUnsupported, fmt::format("the model has more nodes than the limit "
                                                          "of {} (see --max-nodes)",
                                                          limits_.max_nodes)}};
    }
    if (Status in_time = limits_.clock.check(); !in_time)
      throw LimitReached{std::move(in_time.error())};
    NodeProto n;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          n.inputs.push_back(f.text());
          break;
        case 2:
          n.outputs.push_back(f.text());
          break;
        case 3:
          n.name = f.text();
          break;
        case 4:
          n.op_type = f.text();
          break;
        case 5: {
          Place place(*this, "attribute", n.attributes.size());
          n.attributes.push_back(attribute(f.bytes()));
          break;
        }
        case 7:
          n.domain = f.text();
          break;
        case 8:
          n.overload = f.text();
          break;
        default:
          f.skip();
      }
    }
    if (n.op_type.empty()) throw ReadError("a node without op_type");
    return n;
  }

  AttributeProto attribute(Bytes bytes) {
    AttributeProto a;
    auto saw = [&](AttributeProto::Type type) { a.seen |= 1u << type; };
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          a.name = f.text();
          break;
        case 2:
          a.f = f.float32();
          saw(AttributeProto::kFloat);
          break;
        case 3:
          a.i = f.int64();
          saw(AttributeProto::kInt);
          break;
        case 4:
          a.s = f.bytes();
          saw(AttributeProto::kString);
          break;
        case 5:
          if (!a.t.empty()) throw ReadError("an attribute with two tensors in one field");
          a.t.push_back(tensor(f.bytes()));
          saw(AttributeProto::kTensor);
          break;
        case 6: {
          if (!a.g.empty()) throw ReadError("an attribute with two graphs in one field");
          Place place(*this, "g");
          a.g.push_back(graph(f.bytes()));
          saw(AttributeProto::kGraph);
          break;
        }
        case 7:
          f.floats(a.floats);
          saw(AttributeProto::kFloats);
          break;
        case 8:
          f.ints(a.ints);
          saw(AttributeProto::kInts);
          break;
        case 9:
          a.strings.push_back(f.bytes());
          saw(AttributeProto::kStrings);
          break;
        case 10:
          f.skip();
          saw(AttributeProto::kTensors);
          break;
        case 11:
          f.skip();
          saw(AttributeProto::kGraphs);
          break;
        case 14:
          a.tp = {type(f.bytes())};
          saw(AttributeProto::kTypeProto);
          break;
        case 15:
          f.skip();
          saw(AttributeProto::kTypeProtos);
          break;
        case 20:
          a.type = f.int32();
          break;
        case 21:
          a.ref_attr_name = f.text();
          break;
        case 22:
          f.skip();
          saw(AttributeProto::kSparseTensor);
          break;
        case 23:
          f.skip();
          saw(AttributeProto::kSparseTensors);
          break;
        default:
          f.skip();
      }
    }
    if (a.name.empty()) throw ReadError("an attribute without a name");
    return a;
  }

  TensorProto tensor(Bytes bytes) {
    TensorProto t;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          f.ints(t.dims);
          break;
        case 2:
          t.data_type = f.int32();
          break;
        case 3:
          t.has_segment = true;
          f.skip();
          break;
        case 4:
          f.chunks(t.float_data, pbf_wire_type::fixed32);
          break;
        case 5:
          f.chunks(t.int32_data, pbf_wire_type::varint);
          break;
        case 6:
          t.string_data.push_back(f.bytes());
          break;
        case 7:
          f.chunks(t.int64_data, pbf_wire_type::varint);
          break;
        case 8:
          t.name = f.text();
          break;
        case 9:
          if (t.raw_data) throw ReadError("a tensor with two raw_data fields");
          t.raw_data = f.bytes();
          break;
        case 10:
          f.chunks(t.double_data, pbf_wire_type::fixed64);
          break;
        case 11:
          f.chunks(t.uint64_data, pbf_wire_type::varint);
          break;
        case 13:
          t.external_data.push_back(pair(f.bytes()));
          break;
        case 14:
          t.data_location = f.int32();
          break;
        default:
          f.skip();
      }
    }
    return t;
  }

  /// The name of a SparseTensorProto is that of its values.
  std::string_view sparse_name(Bytes bytes) {
    std::string_view name;
    Fields f(bytes);
    while (next(f)) {
      if (f.tag() == 1) {
        name = tensor(f.bytes()).name;
      } else {
        f.skip();
      }
    }
    return name;
  }

  ValueInfoProto value_info(Bytes bytes) {
    ValueInfoProto v;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          v.name = f.text();
          break;
        case 2:
          v.type = type(f.bytes());
          break;
        default:
          f.skip();
      }
    }
    return v;
  }

  TypeProto type(Bytes bytes) {
    TypeProto t;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          tensor_type(f.bytes(), t);
          break;
        case 4:
          t.kind = TypeProto::Kind::kSequence;
          held_type(f.bytes(), t);
          break;
        case 5:
          t.kind = TypeProto::Kind::kMap;
          f.skip();
          break;
        case 7:
          t.kind = TypeProto::Kind::kOpaque;
          f.skip();
          break;
        case 8:
          t.kind = TypeProto::Kind::kSparseTensor;
          f.skip();
          break;
        case 9:
          t.kind = TypeProto::Kind::kOptional;
          held_type(f.bytes(), t);
          break;
        default:
          f.skip();
      }
    }
    return t;
  }

  /// Sequence and Optional: one level down, and the element type of tensors below that.
  void held_type(Bytes bytes, TypeProto& t) {
    Fields f(bytes);
    while (next(f)) {
      if (f.tag() != 1) {
        f.skip();
        continue;
      }
      Fields held(f.bytes());
      while (next(held)) {
        if (held.tag() == 1) {
          TypeProto tensor;
          tensor_type(held.bytes(), tensor);
          t.held = TypeProto::Kind::kTensor;
          t.elem_type = tensor.elem_type;
        } else {
          if (held.tag() == 4) t.held = TypeProto::Kind::kSequence;
          held.skip();
        }
      }
    }
  }

  void tensor_type(Bytes bytes, TypeProto& t) {
    t.kind = TypeProto::Kind::kTensor;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          t.elem_type = f.int32();
          break;
        case 2: {
          t.has_shape = true;
          Fields shape(f.bytes());
          while (next(shape)) {
            if (shape.tag() == 1) {
              t.dims.push_back(dim(shape.bytes()));
            } else {
              shape.skip();
            }
          }
          break;
        }
        default:
          f.skip();
      }
    }
  }

  TypeProto::Dim dim(Bytes bytes) {
    TypeProto::Dim d;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          d.value = f.int64();
          break;
        case 2:
          d.param = f.text();
          break;
        default:
          f.skip();
      }
    }
    return d;
  }

  std::pair<std::string_view, int64_t> opset(Bytes bytes) {
    std::pair<std::string_view, int64_t> id;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          id.first = f.text();
          break;
        case 2:
          id.second = f.int64();
          break;
        default:
          f.skip();
      }
    }
    return id;
  }

  std::pair<std::string_view, std::string_view> pair(Bytes bytes) {
    std::pair<std::string_view, std::string_view> entry;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          entry.first = f.text();
          break;
        case 2:
          entry.second = f.text();
          break;
        default:
          f.skip();
      }
    }
    return entry;
  }

  FunctionProto function(Bytes bytes) {
    FunctionProto fn;
    Fields f(bytes);
    while (next(f)) {
      switch (f.tag()) {
        case 1:
          fn.name = f.text();
          break;
        case 4:
          fn.inputs.push_back(f.text());
          break;
        case 5:
          fn.outputs.push_back(f.text());
          break;
        case 6:
          fn.attributes.push_back(f.text());
          break;
        case 7: {
          Place place(*this, "node", fn.nodes.size());
          fn.nodes.push_back(node(f.bytes()));
          break;
        }
        case 9:
          fn.opsets.push_back(opset(f.bytes()));
          break;
        case 10:
          fn.domain = f.text();
          break;
        case 11:
          fn.defaults.push_back(attribute(f.bytes()));
          break;
        case 13:
          fn.overload = f.text();
          break;
        default:
          f.skip();
      }
    }
    return fn;
  }

  const ReadLimits limits_;
  std::vector<std::pair<const char*, int64_t>> places_;
  const char* at_ = nullptr;
  int64_t nodes_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<ModelProto> read_model(Bytes bytes, const ReadLimits& limits) {
  Reader reader(limits);
  auto broken = [&](const char* what) {
    // The library's words for a byte that begins no field, as text has them.
    if (std::string_view(what).starts_with("unknown pbf field type")) what = "this is no protobuf";
    return fail(Code::kInvalidModel, "not an ONNX file, or a damaged one: {} ({})", what,
                reader.place(bytes));
  };
  try {
    return reader.model(bytes);
  } catch (LimitReached& limit) {
    return fail(std::move(limit.error));
  } catch (const ReadError& e) {
    return broken(e.what());
  } catch (const protozero::end_of_buffer_exception&) {
    return broken("it ends in the middle of a field");
  } catch (const protozero::exception& e) {
    return broken(e.what());
  } catch (const std::bad_alloc&) {
    return fail(Code::kOutOfMemory, "no memory to read the model");
  }
}

}  // namespace hasten::onnx
