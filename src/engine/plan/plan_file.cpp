#include "engine/plan/plan_file.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/mapped_file.h"
#include "engine/ops/bind.h"
#include "plan_file_generated.h"

namespace hasten {

namespace {

constexpr char kMagic[8] = {'H', 'A', 'S', 'T', 'P', 'L', 'A', 'N'};
constexpr uint32_t kFormat = 1;
constexpr uint64_t kPage = 4096;
constexpr const char* kProducer = "hasten " HASTEN_VERSION;

class Writer {
 public:
  std::string write(const Graph& graph, const PackedStore& packed, const std::string& isa,
                    const std::string& model_hash, bool exact_math) {
    std::vector<flatbuffers::Offset<fb::Value>> values;
    for (const Value& v : graph.values) values.push_back(value(v));
    std::vector<flatbuffers::Offset<fb::Packed>> entries;
    for (const auto& [key, entry] : packed.entries()) {
      const fb::Blob at = blob(entry.data.get(), entry.bytes);
      entries.push_back(
          fb::CreatePacked(builder_, key.first, builder_.CreateString(key.second), &at));
    }
    std::vector<flatbuffers::Offset<fb::Opset>> opsets;
    for (const auto& [domain, version] : graph.opsets) {
      opsets.push_back(fb::CreateOpset(builder_, builder_.CreateString(domain), version));
    }
    const auto main = block("main", graph.main);
    const std::string blobs_hash = hash_hex(std::as_bytes(std::span(blobs_)));
    builder_.Finish(fb::CreatePlan(
        builder_, builder_.CreateString(kProducer), builder_.CreateString(isa),
        builder_.CreateString(model_hash), exact_math, builder_.CreateString(graph.name),
        graph.ir_version, builder_.CreateVector(opsets), builder_.CreateVector(values), main,
        builder_.CreateVector(entries), builder_.CreateString(blobs_hash)));

    PlanHeader header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.format = kFormat;
    header.metadata_bytes = builder_.GetSize();
    const std::span metadata(builder_.GetBufferPointer(), builder_.GetSize());
    std::memcpy(header.metadata_hash, hash_hex(std::as_bytes(metadata)).data(), 32);
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    file.append(reinterpret_cast<const char*>(metadata.data()), metadata.size());
    file.resize((file.size() + kPage - 1) / kPage * kPage);
    header.file_bytes = file.size() + blobs_.size();
    std::memcpy(file.data(), &header, sizeof header);
    file += blobs_;
    return file;
  }

 private:
  fb::Blob blob(const void* data, size_t bytes) {
    const size_t align = bytes >= kPage ? kPage : 64;
    blobs_.resize((blobs_.size() + align - 1) / align * align);
    const fb::Blob at(blobs_.size(), bytes);
    if (bytes > 0) blobs_.append(static_cast<const char*>(data), bytes);
    return at;
  }

  flatbuffers::Offset<fb::Tensor> tensor(const Tensor& t) {
    const auto dims = builder_.CreateVector(t.dims());
    if (t.dtype() == DType::kString) {
      const std::vector<std::string> strings(t.as<std::string>(), t.as<std::string>() + t.count());
      return fb::CreateTensor(builder_, static_cast<uint8_t>(t.dtype()), dims, nullptr,
                              builder_.CreateVectorOfStrings(strings));
    }
    const fb::Blob at = blob(t.data(), t.bytes());
    return fb::CreateTensor(builder_, static_cast<uint8_t>(t.dtype()), dims, &at);
  }

  flatbuffers::Offset<fb::Value> value(const Value& v) {
    std::vector<flatbuffers::Offset<fb::Dim>> shape;
    for (Dim d : v.shape) {
      shape.push_back(d.known() ? fb::CreateDim(builder_, d.value())
                                : fb::CreateDim(builder_, -1, builder_.CreateString(d.text())));
    }
    const auto constant = v.is_constant() ? tensor(v.constant) : flatbuffers::Offset<fb::Tensor>();
    return fb::CreateValue(builder_, builder_.CreateString(v.name), static_cast<uint8_t>(v.dtype),
                           v.has_shape, builder_.CreateVector(shape),
                           static_cast<uint8_t>(v.layout), constant,
                           static_cast<uint8_t>(v.element));
  }

  flatbuffers::Offset<fb::Attr> attr(const std::string& name, const Attr& a) {
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    flatbuffers::Offset<fb::Tensor> inner;
    if (const auto* i = std::get_if<int64_t>(&a)) ints = {*i};
    if (const auto* f = std::get_if<float>(&a)) floats = {*f};
    if (const auto* s = std::get_if<std::string>(&a)) strings = {*s};
    if (const auto* is = std::get_if<std::vector<int64_t>>(&a)) ints = *is;
    if (const auto* fs = std::get_if<std::vector<float>>(&a)) floats = *fs;
    if (const auto* ss = std::get_if<std::vector<std::string>>(&a)) strings = *ss;
    if (const auto* t = std::get_if<Tensor>(&a)) inner = tensor(*t);
    return fb::CreateAttr(builder_, builder_.CreateString(name), static_cast<uint8_t>(a.index()),
                          builder_.CreateVector(ints), builder_.CreateVector(floats),
                          builder_.CreateVectorOfStrings(strings), inner);
  }

  flatbuffers::Offset<fb::Node> node(const Node& n) {
    std::vector<flatbuffers::Offset<fb::Attr>> attrs;
    for (const auto& [name, a] : n.attrs) attrs.push_back(attr(name, a));
    std::vector<flatbuffers::Offset<fb::Block>> blocks;
    for (const auto& [name, b] : n.blocks) blocks.push_back(block(name, b));
    return fb::CreateNode(builder_, builder_.CreateString(n.name), builder_.CreateString(n.domain),
                          builder_.CreateString(n.op), n.version, builder_.CreateVector(n.inputs),
                          builder_.CreateVector(n.outputs), builder_.CreateVector(attrs),
                          builder_.CreateVector(blocks));
  }

  flatbuffers::Offset<fb::Block> block(const std::string& name, const Block& b) {
    std::vector<flatbuffers::Offset<fb::Node>> nodes;
    for (const Node& n : b.nodes) nodes.push_back(node(n));
    return fb::CreateBlock(builder_, builder_.CreateString(name), builder_.CreateVector(nodes),
                           builder_.CreateVector(b.inputs), builder_.CreateVector(b.outputs));
  }

  flatbuffers::FlatBufferBuilder builder_;
  std::string blobs_;
};

/// Buffers are sized by layouts, and what crosses the borders of a block, constants too, lies
/// plain.
class LayoutCheck {
 public:
  explicit LayoutCheck(const Graph& graph) : graph_(graph) {}

  Status run() {
    for (const Value& v : graph_.values) {
      const bool image = v.dtype == DType::kF32 && v.has_shape && v.shape.size() == 4;
      if (v.layout != Layout::kPlain && (v.is_constant() || !image)) return refuse(v);
    }
    return block(graph_.main);
  }

 private:
  static Status refuse(const Value& v) {
    return fail(Code::kInvalidModel, "value '{}' can't be laid out as {}", v.name,
                layout_name(v.layout));
  }
  Status plain(ValueId id) const {
    if (id == kNoValue || graph_.value(id).layout == Layout::kPlain) return {};
    return refuse(graph_.value(id));
  }
  Status block(const Block& b) const {
    for (const ValueId id : b.inputs) HASTEN_CHECK(plain(id));
    for (const ValueId id : b.outputs) HASTEN_CHECK(plain(id));
    for (const Node& node : b.nodes) {
      if (node.blocks.empty()) continue;
      Status ok;
      for_each_use(node, [&](ValueId id) {
        if (ok) ok = plain(id);
      });
      HASTEN_CHECK(ok);
      for (const ValueId id : node.outputs) HASTEN_CHECK(plain(id));
      for (const auto& [name, inner] : node.blocks) HASTEN_CHECK(block(inner));
    }
    return {};
  }

  const Graph& graph_;
};

class Reader {
 public:
  Reader(std::shared_ptr<MappedFile> file, std::span<const std::byte> blobs)
      : file_(std::move(file)), blobs_(blobs) {}

  Status read(const fb::Plan& plan, PlanFile& out) {
    Graph& graph = out.graph;
    graph.name = text(plan.graph_name());
    graph.ir_version = plan.ir_version();
    for (const fb::Opset* o : each(plan.opsets())) graph.opsets[text(o->domain())] = o->version();
    for (const fb::Value* v : each(plan.values())) {
      HASTEN_TRY(Value made, value(*v));
      graph.values.push_back(std::move(made));
    }
    HASTEN_CHECK(block(*plan.main(), graph.main));
    out.packed = std::make_unique<PackedStore>();
    for (const fb::Packed* p : each(plan.packed())) {
      HASTEN_TRY(const auto bytes, blob(p->blob()));
      out.packed->put(p->value(), text(p->format()),
                      {std::shared_ptr<const void>(file_, bytes.data()), bytes.size()});
    }
    HASTEN_CHECK(verify(graph));
    return LayoutCheck(graph).run();
  }

 private:
  template <class T>
  static std::vector<const T*> each(const flatbuffers::Vector<flatbuffers::Offset<T>>* v) {
    std::vector<const T*> out;
    for (flatbuffers::uoffset_t i = 0; v != nullptr && i < v->size(); ++i) out.push_back(v->Get(i));
    return out;
  }
  /// The verifier aligns a vector's size, not its elements.
  template <class T>
  static std::vector<T> all(const flatbuffers::Vector<T>* v) {
    std::vector<T> out(v == nullptr ? 0 : v->size());
    if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
    return out;
  }
  static std::string text(const flatbuffers::String* s) { return s ? s->str() : std::string(); }

  Result<std::span<const std::byte>> blob(const fb::Blob* at) const {
    if (at == nullptr || at->offset() > blobs_.size() ||
        at->bytes() > blobs_.size() - at->offset() || at->offset() % 64 != 0) {
      return fail(Code::kInvalidModel, "a blob lies outside the file");
    }
    return blobs_.subspan(at->offset(), at->bytes());
  }

  Result<Tensor> tensor(const fb::Tensor& t) const {
    if (!dtype_supported(t.dtype())) return fail(Code::kInvalidModel, "dtype {}", t.dtype());
    const auto dtype = static_cast<DType>(t.dtype());
    Dims dims = all(t.dims());
    HASTEN_TRY(const int64_t count, checked_count(dims));
    if (dtype == DType::kString) {
      if (t.strings() == nullptr || static_cast<int64_t>(t.strings()->size()) != count) {
        return fail(Code::kInvalidModel, "a string tensor of the wrong size");
      }
      HASTEN_TRY(Tensor made, Tensor::make(dtype, dims));
      for (flatbuffers::uoffset_t i = 0; i < t.strings()->size(); ++i) {
        made.mutable_as<std::string>()[i] = t.strings()->Get(i)->str();
      }
      return made;
    }
    HASTEN_TRY(const auto bytes, blob(t.blob()));
    if (count > std::numeric_limits<int64_t>::max() / 8 ||
        bytes.size() != static_cast<size_t>(count) * dtype_size(dtype)) {
      return fail(Code::kInvalidModel, "a tensor {} of {} bytes", dims_text(dims), bytes.size());
    }
    return Tensor::borrow(dtype, std::move(dims), bytes.data(), file_);
  }

  Result<Value> value(const fb::Value& v) const {
    Value out;
    out.name = text(v.name());
    for (const uint8_t dtype : {v.dtype(), v.element()}) {
      if (dtype != 0 && !dtype_supported(dtype) && !holds_objects(static_cast<DType>(dtype)))
        return fail(Code::kInvalidModel, "dtype {}", dtype);
    }
    out.dtype = static_cast<DType>(v.dtype());
    out.element = static_cast<DType>(v.element());
    out.has_shape = v.has_shape();
    for (const fb::Dim* d : each(v.shape())) {
      if (d->symbol() == nullptr && d->value() < 0)
        return fail(Code::kInvalidModel, "dim {}", d->value());
      out.shape.push_back(d->symbol() ? Dim::symbol(d->symbol()->str()) : Dim(d->value()));
    }
    if (v.layout() > static_cast<uint8_t>(Layout::kNchw16c))
      return fail(Code::kInvalidModel, "layout {}", v.layout());
    out.layout = static_cast<Layout>(v.layout());
    if (v.constant()) {
      HASTEN_TRY(out.constant, tensor(*v.constant()));
      if (out.dtype != out.constant.dtype() || !out.has_shape ||
          out.shape != to_shape(out.constant.dims())) {
        return fail(Code::kInvalidModel, "constant '{}' is declared otherwise than it is",
                    out.name);
      }
    }
    return out;
  }

  Result<Attr> attr(const fb::Attr& a) const {
    const auto ints = all(a.ints());
    const auto floats = all(a.floats());
    std::vector<std::string> strings;
    for (flatbuffers::uoffset_t i = 0; a.strings() != nullptr && i < a.strings()->size(); ++i) {
      strings.push_back(a.strings()->Get(i)->str());
    }
    switch (a.kind()) {
      case 0:
        if (ints.size() == 1) return Attr(ints[0]);
        break;
      case 1:
        if (floats.size() == 1) return Attr(floats[0]);
        break;
      case 2:
        if (strings.size() == 1) return Attr(strings[0]);
        break;
      case 3:
        return Attr(ints);
      case 4:
        return Attr(floats);
      case 5:
        return Attr(strings);
      case 6:
        if (a.tensor()) {
          HASTEN_TRY(Tensor t, tensor(*a.tensor()));
          return Attr(std::move(t));
        }
        break;
      default:
        break;
    }
    return fail(Code::kInvalidModel, "attribute '{}' of kind {}", text(a.name()), a.kind());
  }

  Result<Node> node(const fb::Node& n) {
    Node out;
    out.name = text(n.name());
    out.domain = text(n.domain());
    out.op = text(n.op());
    out.version = n.version();
    out.inputs = all(n.inputs());
    out.outputs = all(n.outputs());
    for (const fb::Attr* a : each(n.attrs())) {
      HASTEN_TRY(Attr made, attr(*a));
      out.attrs.emplace_back(text(a->name()), std::move(made));
    }
    for (const fb::Block* b : each(n.blocks())) {
      out.blocks.push_back({text(b->name()), Block()});
      HASTEN_CHECK(block(*b, out.blocks.back().block));
    }
    HASTEN_CHECK(bind_node(out));
    if (out.def == nullptr) return fail(Code::kInvalidModel, "{}: unknown", out.label());
    return out;
  }

  Status block(const fb::Block& b, Block& out) {
    out.inputs = all(b.inputs());
    out.outputs = all(b.outputs());
    for (const fb::Node* n : each(b.nodes())) {
      HASTEN_TRY(Node made, node(*n));
      out.nodes.push_back(std::move(made));
    }
    return {};
  }

  std::shared_ptr<MappedFile> file_;
  std::span<const std::byte> blobs_;
};

}  // namespace

std::string write_plan(const Graph& graph, const PackedStore& packed, const std::string& isa,
                       const std::string& model_hash, bool exact_math) {
  return Writer().write(graph, packed, isa, model_hash, exact_math);
}

Status save_plan(const std::string& path, const Graph& graph, const PackedStore& packed,
                 const std::string& isa, const std::string& model_hash, bool exact_math) {
  return write_file_atomic(path, write_plan(graph, packed, isa, model_hash, exact_math));
}

Result<PlanFile> load_plan(const std::string& path, const std::string& isa, bool verify_blobs) {
  HASTEN_TRY(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<MappedFile>(std::move(mapped));
  const auto bytes = file->bytes();
  auto refuse = [&](Code code, std::string why) {
    return fail(code, "plan file '{}': {}; make it anew with hasten plan or hasten optimize", path,
                why);
  };
  PlanHeader header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return refuse(Code::kInvalidModel, "not a plan file");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != kFormat) {
    return refuse(Code::kUnsupported,
                  fmt::format("format {}, this hasten reads {}", header.format, kFormat));
  }
  if (header.reserved != 0) return refuse(Code::kInvalidModel, "its header has been changed");
  if (header.file_bytes != bytes.size() || header.metadata_bytes > bytes.size() - sizeof header) {
    return refuse(Code::kInvalidModel, fmt::format("it has {} bytes, its header says {}",
                                                   bytes.size(), header.file_bytes));
  }
  const auto metadata = bytes.subspan(sizeof header, header.metadata_bytes);
  if (hash_hex(metadata) != std::string_view(header.metadata_hash, 32)) {
    return refuse(Code::kInvalidModel, "its metadata has been changed");
  }
  // The buffer lies 64 bytes into a page, so it is aligned as the verifier wants it.
  const auto* start = reinterpret_cast<const uint8_t*>(metadata.data());
  flatbuffers::Verifier verifier(start, metadata.size(), 64, 10'000'000);
  if (!fb::VerifyPlanBuffer(verifier))
    return refuse(Code::kInvalidModel, "its metadata is malformed");
  const fb::Plan& plan = *fb::GetPlan(start);
  PlanFile out;
  out.producer = plan.producer()->str();
  out.isa = plan.isa()->str();
  out.model_hash = plan.model_hash()->str();
  out.exact_math = plan.exact_math();
  if (out.producer != kProducer) {
    return refuse(Code::kUnsupported,
                  fmt::format("made by {}, this is {}", out.producer, kProducer));
  }
  if (out.isa != isa) {
    return refuse(Code::kUnsupported,
                  fmt::format("made for {}, this process uses {}", out.isa, isa));
  }
  const uint64_t blobs_at = (sizeof header + header.metadata_bytes + kPage - 1) / kPage * kPage;
  if (blobs_at > bytes.size()) return refuse(Code::kInvalidModel, "it is truncated");
  const auto padding = bytes.subspan(sizeof header + header.metadata_bytes,
                                     blobs_at - sizeof header - header.metadata_bytes);
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; }))
    return refuse(Code::kInvalidModel, "the gap behind its metadata has been changed");
  const auto blobs = bytes.subspan(blobs_at);
  if (verify_blobs && hash_hex(blobs) != plan.blobs_hash()->str()) {
    return refuse(Code::kInvalidModel, "its weights have been changed");
  }
  const Status ok = Reader(file, blobs).read(plan, out);
  HASTEN_CHECK(file->check_intact());
  if (!ok) return refuse(Code::kInvalidModel, ok.error().message);
  out.graph.files.push_back(std::move(file));
  return out;
}

}  // namespace hasten
