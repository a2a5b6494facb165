// Text from other people's programs (paths, names, source lines) made safe for where it is shown. Invalid UTF-8,
// control characters and characters that change the direction of text become \xNN, byte by byte.
#pragma once

#include <string>
#include <string_view>

namespace reprobe::report {

/// For terminals and everything else that shows text.
std::string printable(std::string_view text);
/// The same, with tabs and line breaks kept: for pages and multi-line messages.
std::string printable_lines(std::string_view text);

/// Bytes of the UTF-8 character that starts at `at`; 0 when no valid one does.
std::size_t character_length(std::string_view text, std::size_t at);
/// Characters before byte `offset`, as SARIF counts columns.
std::size_t characters_before(std::string_view text, std::size_t offset);

/// For XML and HTML, text and attributes.
std::string escape_markup(std::string_view text);
/// A path as a relative URI reference, or as file:// when it is absolute.
std::string uri_of(std::string_view path);

} // namespace reprobe::report
