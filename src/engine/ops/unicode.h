// Code points of UTF-8 text, over utf8proc. Bytes that are no UTF-8 stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace hasten {

/// The text with each code point's simple upper (lower) case mapping, of no particular language.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

/// Bytes of the white space at the front of the text: what Python's str.split() splits at. 0: none.
size_t white_space_at(std::string_view text);

}  // namespace hasten
