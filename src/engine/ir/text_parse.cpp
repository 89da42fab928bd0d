#include <charconv>
#include <limits>
#include <unordered_map>

#include "engine/ir/half.h"
#include "engine/ir/text.h"

namespace hasten {

namespace {

constexpr int kMaxDepth = 64;  // of blocks

/// One line, read from left to right. The first error is kept; everything after it fails too.
class Line {
 public:
  Line(std::string_view text, size_t number) : text_(text), number_(number) {}

  size_t indent() const { return std::min(text_.find_first_not_of(' '), text_.size()); }
  bool empty() const { return indent() == text_.size(); }

  bool eat(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  /// eat() for a word: not if more letters follow.
  bool eat_word(std::string_view token) {
    const size_t old = at_;
    if (eat(token) && (at_ == text_.size() || !is_word(text_[at_], ""))) return true;
    at_ = old;
    return false;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  Status expect(std::string_view token) {
    if (eat(token)) return {};
    return error(fmt::format("'{}'", token));
  }
  /// A quoted string, or a word that may hold the characters of `extra`.
  Result<std::string> word(std::string_view extra) {
    skip_space();
    if (peek('"')) return string();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_], extra)) ++at_;
    if (at_ == start) return error("a name");
    return std::string(text_.substr(start, at_ - start));
  }
  Result<std::string> string() {
    HASTEN_CHECK(expect("\""));
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (at_ == text_.size()) break;
        c = text_[at_++];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'x') {
          unsigned code = 0;
          if (text_.size() - at_ < 2) break;
          auto [end, failed] =
              std::from_chars(text_.data() + at_, text_.data() + at_ + 2, code, 16);
          if (failed != std::errc() || end != text_.data() + at_ + 2)
            return error("two hex digits");
          c = static_cast<char>(code);
          at_ += 2;
        }
      }
      out += c;
    }
    if (at_ >= text_.size()) return error("a closing quote");
    ++at_;
    return out;
  }
  template <class T>
  Result<T> number() {
    skip_space();
    T value{};
    const char* begin = text_.data() + at_;
    auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed != std::errc()) return error("a number that fits");
    at_ += static_cast<size_t>(end - begin);
    return value;
  }
  /// A float with its bits: "1.5", "-inf", "nan", "nan(0x7fc00001)".
  template <class F, class U>
  Result<F> real() {
    skip_space();
    if (eat("nan(0x")) {
      HASTEN_TRY(const U bits, hex<U>());
      HASTEN_CHECK(expect(")"));
      return std::bit_cast<F>(bits);
    }
    if (eat("nan")) return std::numeric_limits<F>::quiet_NaN();
    return number<F>();
  }
  template <class U>
  Result<U> hex() {
    U value = 0;
    const char* begin = text_.data() + at_;
    auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value, 16);
    if (failed != std::errc()) return error("the bits of a NaN");
    at_ += static_cast<size_t>(end - begin);
    return value;
  }
  int64_t left() const { return static_cast<int64_t>(text_.size() - at_); }
  /// Is the number that comes next written as a float?
  bool is_real() {
    skip_space();
    const size_t end = text_.find_first_of(",]}", at_);
    return text_.substr(at_, end - at_).find_first_of(".einf") != std::string_view::npos;
  }
  tl::unexpected<Error> error(std::string_view wanted) const {
    return fail(Code::kInvalidArgument, "line {}: {} expected at '{}'", number_, wanted,
                text_.substr(std::min(text_.find_first_not_of(' ', at_), text_.size()), 24));
  }

 private:
  static bool is_word(char c, std::string_view extra) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           extra.find(c) != extra.npos;
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  size_t number_;
  size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) {
    size_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, end), ++number);
      if (!line.empty()) lines_.push_back(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Result<Graph> parse() {
    if (lines_.empty()) return fail(Code::kInvalidArgument, "line 1: the text is empty");
    HASTEN_CHECK(header(lines_[next_++]));
    while (next_ < lines_.size() && lines_[next_].eat_word("meta")) {
      Line& line = lines_[next_++];
      HASTEN_TRY(const std::string key, line.string());
      HASTEN_CHECK(line.expect("="));
      HASTEN_TRY(graph_.metadata[key], line.string());
      HASTEN_CHECK(end(line));
    }
    while (next_ < lines_.size() && lines_[next_].eat_word("const")) {
      HASTEN_CHECK(constant(lines_[next_++]));
    }
    HASTEN_TRY(graph_.main, block(0, 0));
    if (next_ < lines_.size()) return lines_[next_].error("nothing more");
    return std::move(graph_);
  }

 private:
  Status header(Line& line) {
    HASTEN_CHECK(line.expect("graph"));
    HASTEN_TRY(graph_.name, line.string());
    HASTEN_CHECK(line.expect("opset"));
    HASTEN_CHECK(line.expect("{"));
    while (!line.eat("}")) {
      HASTEN_TRY(const std::string domain, line.string());
      HASTEN_CHECK(line.expect(":"));
      HASTEN_TRY(graph_.opsets[domain], line.number<int64_t>());
      if (!line.eat(",") && !line.peek('}')) return line.error("',' or '}'");
    }
    if (line.eat_word("ir")) {
      HASTEN_TRY(graph_.ir_version, line.number<int64_t>());
    }
    return end(line);
  }

  static Status end(Line& line) {
    return line.at_end() ? Status() : line.error("the end of the line");
  }

  Status constant(Line& line) {
    HASTEN_TRY(const ValueId id, definition(line));
    Value& v = graph_.value(id);
    HASTEN_CHECK(line.expect("="));
    if (v.dtype == DType::kNone || !v.has_shape || !is_known(v.shape)) {
      return line.error("a constant with a known type");
    }
    HASTEN_TRY(v.constant, elements(line, v.dtype, to_dims(v.shape)));
    return end(line);
  }

  Result<Block> block(size_t indent, int depth) {
    Block block;
    if (depth > kMaxDepth) return lines_[next_ - 1].error("blocks nested less deeply");
    while (next_ < lines_.size()) {
      Line& line = lines_[next_];
      if (line.indent() != indent) return line.error(fmt::format("{} spaces", indent));
      ++next_;
      if (line.eat_word("in")) {
        HASTEN_TRY(const ValueId id, input(line));
        block.inputs.push_back(id);
        HASTEN_CHECK(end(line));
      } else if (line.eat_word("out")) {
        while (!line.at_end()) {
          if (!block.outputs.empty()) HASTEN_CHECK(line.expect(","));
          HASTEN_TRY(const ValueId id, use(line));
          block.outputs.push_back(id);
        }
        return block;
      } else {
        HASTEN_TRY(Node n, node(line));
        HASTEN_CHECK(blocks(n, indent, depth));
        block.nodes.push_back(std::move(n));
      }
    }
    return fail(Code::kInvalidArgument, "line {}: 'out' expected, the text ends", lines_.size());
  }

  /// An input may be a constant that has been read: its default.
  Result<ValueId> input(Line& line) {
    Line ahead = line;
    HASTEN_TRY(const std::string key, reference(ahead));
    auto it = values_.find(key);
    if (it == values_.end() || !graph_.value(it->second).is_constant()) return definition(line);
    line = ahead;
    return it->second;
  }

  Status blocks(Node& n, size_t indent, int depth) {
    while (next_ < lines_.size() && lines_[next_].indent() == indent + 2) {
      Line& line = lines_[next_++];
      HASTEN_TRY(std::string name, line.word(""));
      HASTEN_CHECK(line.expect(":"));
      HASTEN_CHECK(end(line));
      HASTEN_TRY(Block inner, block(indent + 4, depth + 1));
      n.blocks.push_back({std::move(name), std::move(inner)});
    }
    return {};
  }

  Result<Node> node(Line& line) {
    Node n;
    while (!line.eat("=")) {
      if (!n.outputs.empty()) HASTEN_CHECK(line.expect(","));
      if (line.eat("_")) {
        n.outputs.push_back(kNoValue);
      } else {
        HASTEN_TRY(const ValueId id, definition(line));
        n.outputs.push_back(id);
      }
    }
    HASTEN_TRY(n.op, line.word(".-"));
    if (line.eat("::")) {
      n.domain = std::move(n.op);
      HASTEN_TRY(n.op, line.word(""));
    }
    if (line.eat("@")) {
      HASTEN_TRY(n.version, line.number<int64_t>());
    } else if (auto it = graph_.opsets.find(n.domain); it != graph_.opsets.end()) {
      n.version = it->second;
    }
    HASTEN_CHECK(line.expect("("));
    while (!line.eat(")")) {
      if (!n.inputs.empty()) HASTEN_CHECK(line.expect(","));
      if (line.eat("_")) {
        n.inputs.push_back(kNoValue);
      } else {
        HASTEN_TRY(const ValueId id, use(line));
        n.inputs.push_back(id);
      }
    }
    if (line.eat("{")) {
      while (!line.eat("}")) {
        if (!n.attrs.empty()) HASTEN_CHECK(line.expect(","));
        HASTEN_TRY(std::string name, line.word(""));
        HASTEN_CHECK(line.expect("="));
        HASTEN_TRY(Attr value, attr(line));
        n.attrs.emplace_back(std::move(name), std::move(value));
      }
    }
    if (line.peek('"')) {
      HASTEN_TRY(n.name, line.string());
    }
    HASTEN_CHECK(end(line));
    return n;
  }

  // ---- values ----

  /// "%x#1" as a key.
  Result<std::string> reference(Line& line) {
    HASTEN_CHECK(line.expect("%"));
    HASTEN_TRY(std::string key, line.word("./-@"));
    last_name_ = key;
    int number = 0;
    if (line.eat("#")) {
      HASTEN_TRY(number, line.number<int>());
    }
    key += '\0';
    return key + std::to_string(number);
  }

  Result<ValueId> use(Line& line) {
    const Line start = line;
    HASTEN_TRY(const std::string key, reference(line));
    auto it = values_.find(key);
    if (it == values_.end()) return start.error("a value that is made before");
    return it->second;
  }

  Result<ValueId> definition(Line& line) {
    const Line start = line;
    HASTEN_TRY(const std::string key, reference(line));
    Value v;
    v.name = last_name_;
    if (line.eat(":")) HASTEN_CHECK(type(line, v));
    const ValueId id = graph_.add_value(std::move(v));
    if (!values_.emplace(key, id).second) return start.error("a value that is not made before");
    return id;
  }

  Status type(Line& line, Value& v) {
    HASTEN_TRY(v.dtype, dtype(line));
    if (line.eat("(")) {
      HASTEN_TRY(v.element, dtype(line));
      HASTEN_CHECK(line.expect(")"));
    }
    HASTEN_CHECK(line.expect("["));
    if (line.eat("...]")) return layout(line, v);
    v.has_shape = true;
    while (!line.eat("]")) {
      if (!v.shape.empty()) HASTEN_CHECK(line.expect(","));
      HASTEN_TRY(const Dim d, dim(line));
      v.shape.push_back(d);
    }
    return layout(line, v);
  }

  static Status layout(Line& line, Value& v) {
    if (line.eat_word(layout_name(Layout::kNchw16c))) v.layout = Layout::kNchw16c;
    return {};
  }

  static Result<DType> dtype(Line& line) {
    if (line.eat("?")) return DType::kNone;
    const Line start = line;
    HASTEN_TRY(const std::string name, line.word(""));
    const DType dtype = dtype_from_name(name);
    if (dtype == DType::kNone) return start.error("a dtype");
    return dtype;
  }

  Result<Dim> dim(Line& line) {
    const Line start = line;
    if (line.eat("?")) {
      HASTEN_TRY(const int64_t number, line.number<int64_t>());
      auto [it, is_new] = nameless_.try_emplace(number);
      if (is_new) it->second = Dim::fresh();
      return it->second;
    }
    if (line.peek('"')) {
      HASTEN_TRY(const std::string name, line.string());
      return Dim::symbol(name);
    }
    HASTEN_TRY(const std::string text, line.word("."));
    if (text[0] < '0' || text[0] > '9') return Dim::symbol(text);
    int64_t value = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size())
      return start.error("a dimension");
    return Dim(value);
  }

  // ---- attributes and elements ----

  Result<Attr> attr(Line& line) {
    if (line.peek('"')) {
      HASTEN_TRY(std::string text, line.string());
      return Attr(std::move(text));
    }
    if (line.eat("ints[]")) return Attr(std::vector<int64_t>());
    if (line.eat("floats[]")) return Attr(std::vector<float>());
    if (line.eat("strings[]")) return Attr(std::vector<std::string>());
    if (line.eat("[")) return list_attr(line);
    for (const char* number : {"inf", "-inf", "nan"}) {
      if (Line ahead = line; ahead.eat(number)) return float_attr(line);
    }
    Line ahead = line;
    if (ahead.eat("-") || is_digit(ahead)) {
      if (line.is_real()) return float_attr(line);
      HASTEN_TRY(const int64_t value, line.number<int64_t>());
      return Attr(value);
    }
    HASTEN_TRY(const DType type, dtype(line));
    HASTEN_CHECK(line.expect("["));
    Dims dims;
    while (!line.eat("]")) {
      if (!dims.empty()) HASTEN_CHECK(line.expect(","));
      HASTEN_TRY(const int64_t d, line.number<int64_t>());
      dims.push_back(d);
    }
    HASTEN_TRY(Tensor tensor, elements(line, type, std::move(dims)));
    return Attr(std::move(tensor));
  }

  static bool is_digit(Line& line) {
    for (char c = '0'; c <= '9'; ++c) {
      if (line.peek(c)) return true;
    }
    return false;
  }

  static Result<Attr> float_attr(Line& line) {
    HASTEN_TRY(const float value, (line.real<float, uint32_t>()));
    return Attr(value);
  }

  static Result<Attr> list_attr(Line& line) {
    if (line.peek('"')) {
      std::vector<std::string> strings;
      do {
        HASTEN_TRY(strings.emplace_back(), line.string());
      } while (line.eat(","));
      HASTEN_CHECK(line.expect("]"));
      return Attr(std::move(strings));
    }
    if (line.is_real()) {
      std::vector<float> floats;
      do {
        HASTEN_TRY(floats.emplace_back(), (line.real<float, uint32_t>()));
      } while (line.eat(","));
      HASTEN_CHECK(line.expect("]"));
      return Attr(std::move(floats));
    }
    std::vector<int64_t> ints;
    do {
      HASTEN_TRY(ints.emplace_back(), line.number<int64_t>());
    } while (line.eat(","));
    HASTEN_CHECK(line.expect("]"));
    return Attr(std::move(ints));
  }

  Result<Tensor> elements(Line& line, DType type, Dims dims) {
    auto count = checked_count(dims);
    if (!count) return line.error(count.error().message);
    if (line.peek('#')) return line.error("elements (a constant was printed by its hash only)");
    // Two characters an element at least; so no text can ask for more than its length.
    if (*count > line.left()) return line.error(fmt::format("{} elements", *count));
    HASTEN_TRY(Tensor tensor, Tensor::make(type, std::move(dims)));
    HASTEN_CHECK(line.expect("{"));
    for (int64_t i = 0; i < *count; ++i) {
      if (i > 0) HASTEN_CHECK(line.expect(","));
      HASTEN_CHECK(element(line, tensor, i));
    }
    HASTEN_CHECK(line.expect("}"));
    return tensor;
  }

  template <class T>
  static Status number(Line& line, Tensor& t, int64_t i) {
    HASTEN_TRY(t.mutable_as<T>()[i], line.number<T>());
    return {};
  }

  /// A 16-bit float: the bits of a NaN as they are, else rounded (which is exact for what we
  /// print).
  template <class T, class F>
  static Status short_float(Line& line, Tensor& t, int64_t i, F&& round) {
    if (Line ahead = line; ahead.eat("nan(")) {
      HASTEN_CHECK(line.expect("nan(0x"));
      HASTEN_TRY(const uint16_t bits, line.hex<uint16_t>());
      t.mutable_as<T>()[i] = {bits};
      return line.expect(")");
    }
    HASTEN_TRY(const float value, (line.real<float, uint32_t>()));
    t.mutable_as<T>()[i] = round(value);
    return {};
  }

  static Status element(Line& line, Tensor& t, int64_t i) {
    switch (t.dtype()) {
      case DType::kF32: {
        HASTEN_TRY(t.mutable_as<float>()[i], (line.real<float, uint32_t>()));
        return {};
      }
      case DType::kF64: {
        HASTEN_TRY(t.mutable_as<double>()[i], (line.real<double, uint64_t>()));
        return {};
      }
      case DType::kF16:
        return short_float<Half>(line, t, i, to_half);
      case DType::kBF16:
        return short_float<BFloat16>(line, t, i, to_bfloat16);
      case DType::kI8:
        return number<int8_t>(line, t, i);
      case DType::kU8:
        return number<uint8_t>(line, t, i);
      case DType::kI16:
        return number<int16_t>(line, t, i);
      case DType::kU16:
        return number<uint16_t>(line, t, i);
      case DType::kI32:
        return number<int32_t>(line, t, i);
      case DType::kU32:
        return number<uint32_t>(line, t, i);
      case DType::kI64:
        return number<int64_t>(line, t, i);
      case DType::kU64:
        return number<uint64_t>(line, t, i);
      case DType::kBool:
        t.mutable_as<bool>()[i] = line.eat_word("true");
        if (!*(t.as<bool>() + i) && !line.eat_word("false")) return line.error("true or false");
        return {};
      case DType::kString: {
        HASTEN_TRY(t.mutable_as<std::string>()[i], line.string());
        return {};
      }
      case DType::kNone:
      case DType::kSequence:
      case DType::kOptional:
        break;
    }
    return line.error("elements of a known dtype");
  }

  std::vector<Line> lines_;
  size_t next_ = 0;
  Graph graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<int64_t, Dim> nameless_;
  std::string last_name_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return Parser(text).parse(); }

}  // namespace hasten
