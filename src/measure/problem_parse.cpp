// Lines of a problem list (declared in problem.h).
#include <algorithm>
#include <charconv>

#include "measure/problem.h"

namespace hasten {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
         });
}

/// The inside of [a,b]; nothing where it is no such list.
std::optional<std::vector<std::string_view>> list_of(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 3) return std::nullopt;
  return split(text.substr(1, text.size() - 2), ',');
}

class LineParser {
 public:
  LineParser(Problem& problem) : p_(problem) {}

  Status parse(std::span<const std::string_view> words) {
    const std::string_view op = words[0];
    const size_t colons = op.find("::");
    if (!is_word(colons == op.npos ? op : op.substr(0, colons)) ||
        (colons != op.npos && !is_word(op.substr(colons + 2)))) {
      return error("'{}' is no operator; a line begins with one, such as Conv or hasten::Silu", op);
    }
    p_.op = op;
    bool keys = false;
    for (const std::string_view word : words.subspan(1)) {
      const size_t equals = word.find('=');
      // A constant has its = in front or behind the colon of its dtype.
      const bool key = equals != word.npos && equals > 0 && word[equals - 1] != ':';
      if (key) {
        HASTEN_CHECK(option(word.substr(0, equals), word.substr(equals + 1)));
      } else if (keys) {
        return error("'{}' stands behind a KEY=VALUE; write the operands first", word);
      } else {
        HASTEN_TRY(p_.operands.emplace_back(), operand(word));
      }
      keys = keys || key;
    }
    if (p_.operands.empty())
      return error("'{}' has no operands; write their dims, such as 1x64x56x56", op);
    return {};
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kInvalidArgument, "{}: {}", p_.place(),
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<Operand> operand(std::string_view word) const {
    constexpr const char* kForms =
        "write 1x64x56x56, u8:1x64, w:64x64x3x3 for a weight, =0.05 or i64:=[1,2] for a constant, "
        "or _ for none";
    Operand out;
    if (word == "_") {
      out.kind = Operand::kAbsent;
      return out;
    }
    std::string_view rest = word;
    if (rest.starts_with("w:")) {
      out.kind = Operand::kWeight;
      rest.remove_prefix(2);
    }
    if (const size_t colon = rest.find(':'); colon != rest.npos) {
      out.dtype = dtype_from_name(rest.substr(0, colon));
      if (out.dtype == DType::kNone || holds_objects(out.dtype)) {
        return error("operand '{}': '{}' is no dtype; there are f32, f16, bf16, i8, u8, i64 …",
                     word, rest.substr(0, colon));
      }
      rest.remove_prefix(colon + 1);
    }
    if (rest.starts_with('=') && out.kind != Operand::kWeight) {
      rest.remove_prefix(1);
      const auto list = list_of(rest);
      out.kind = list ? Operand::kList : Operand::kScalar;
      for (const std::string_view part : list.value_or(std::vector{rest})) {
        const auto value = number<double>(part);
        if (!value) return error("operand '{}': '{}' is no number; {}", word, part, kForms);
        out.values.push_back(*value);
      }
      return out;
    }
    for (const std::string_view part : split(rest, 'x')) {
      const auto dim = number<int64_t>(part);
      if (!dim || *dim < 1)
        return error("operand '{}': '{}' is no dim from 1; {}", word, part, kForms);
      out.dims.push_back(*dim);
    }
    if (const auto count = checked_count(out.dims); !count)
      return error("operand '{}': {}", word, count.error().message);
    return out;
  }

  Status option(std::string_view key, std::string_view value) {
    if (!is_word(key)) return error("'{}' is no name of an attribute or key", key);
    if (key == "then") {
      for (const std::string_view op : split(value, ',')) {
        if (!is_word(op)) return error("then={}: '{}' is no operator", value, op);
        p_.then.emplace_back(op);
      }
      return {};
    }
    if (key == "math") {
      if (value != "exact" && value != "fast") return error("math={}: want exact or fast", value);
      p_.exact_math = value == "exact";
      return {};
    }
    if (key == "layout") {
      if (value != "nchw16c" && value != "plain")
        return error("layout={}: want nchw16c or plain", value);
      p_.blocked = value == "nchw16c";
      return {};
    }
    if (key == "outputs") {
      const auto n = number<int64_t>(value);
      if (!n || *n < 1 || *n > 100) return error("outputs={}: want a number from 1", value);
      p_.outputs = *n;
      return {};
    }
    if (key == "tolerance") {
      const auto t = number<double>(value);
      if (!t || !(*t >= 0)) return error("tolerance={}: want a number from 0", value);
      p_.tolerance = *t;
      return {};
    }
    return attribute(key, value);
  }

  Status attribute(std::string_view key, std::string_view value) {
    const auto list = list_of(value);
    const std::vector<std::string_view> parts = list.value_or(std::vector{value});
    const auto all = [&](auto test) { return std::all_of(parts.begin(), parts.end(), test); };
    const bool numbers = all([](auto v) { return number<double>(v).has_value(); });
    if (!numbers && !all(is_word)) {
      return error("attribute {}={}: want a number, a word or a list such as [1,1]", key, value);
    }
    std::string text;
    for (const std::string_view part : parts)
      text +=
          (text.empty() ? "" : ",") + (numbers ? std::string(part) : fmt::format("\"{}\"", part));
    p_.attributes += fmt::format(fmt::runtime(list ? "{}{}=[{}]" : "{}{}={}"),
                                 p_.attributes.empty() ? "" : ", ", key, text);
    return {};
  }

  Problem& p_;
};

}  // namespace

Result<std::vector<Problem>> parse_problems(std::string_view text, const std::string& file) {
  std::vector<Problem> problems;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const auto parts = words(line);
    if (parts.empty()) continue;
    Problem& problem = problems.emplace_back();
    problem.file = file;
    problem.line = number;
    problem.text = fmt::format("{}", fmt::join(parts, " "));
    HASTEN_CHECK(LineParser(problem).parse(parts));
  }
  if (problems.empty()) {
    return fail(
        Code::kInvalidArgument,
        "{}: there is no problem in it; write one a line, such as MatMul 128x384 w:384x1536", file);
  }
  return problems;
}

}  // namespace hasten
