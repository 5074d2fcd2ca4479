// Texts in the width of the terminal that they are shown on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ww::cli {

// Columns of the terminal that stdout is; `otherwise` where it is none, or does not say.
[[nodiscard]] std::size_t terminal_columns(std::size_t otherwise);

// A text in lines of at most `room` letters, broken at blanks; its own line breaks stay. A word
// that is longer has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t room);

// The text, or as many of its letters (UTF-8) as have room, with "…" for the rest.
[[nodiscard]] std::string cut(const std::string& text, std::size_t room);

}  // namespace ww::cli
