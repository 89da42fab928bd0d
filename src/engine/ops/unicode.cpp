#include "engine/ops/unicode.h"

#include <utf8proc.h>

namespace hasten {

namespace {

/// The code point at the front, and how many bytes it takes; -1 and 1 where it is no UTF-8.
struct CodePoint {
  utf8proc_int32_t value = -1;
  size_t bytes = 1;
};

CodePoint first_of(std::string_view text) {
  CodePoint c;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  // At most four bytes: a size beyond the parameter's range must not wrap.
  const auto size = static_cast<utf8proc_ssize_t>(text.size() < 4 ? text.size() : 4);
  const utf8proc_ssize_t n = utf8proc_iterate(bytes, size, &c.value);
  if (n > 0) c.bytes = static_cast<size_t>(n);
  return c;
}

std::string map(std::string_view text, utf8proc_int32_t (*f)(utf8proc_int32_t)) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    if (c.value < 0) {
      out += text.front();
    } else {
      utf8proc_uint8_t bytes[4];
      const utf8proc_ssize_t n = utf8proc_encode_char(f(c.value), bytes);
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

std::string to_upper(std::string_view text) {
  // Unicode has no simple upper case of sharp s; utf8proc gives the capital one.
  constexpr utf8proc_int32_t kSharpS = 0xdf;
  return map(text, [](utf8proc_int32_t c) { return c == kSharpS ? c : utf8proc_toupper(c); });
}
std::string to_lower(std::string_view text) { return map(text, utf8proc_tolower); }

size_t white_space_at(std::string_view text) {
  if (text.empty()) return 0;
  const CodePoint c = first_of(text);
  if (c.value < 0) return 0;
  const utf8proc_property_t* p = utf8proc_get_property(c.value);
  const bool space =
      p->category == UTF8PROC_CATEGORY_ZS || p->bidi_class == UTF8PROC_BIDI_CLASS_WS ||
      p->bidi_class == UTF8PROC_BIDI_CLASS_B || p->bidi_class == UTF8PROC_BIDI_CLASS_S;
  return space ? c.bytes : 0;
}

}  // namespace hasten
