// Text inside XML, HTML or SVG.
#pragma once

#include <string>
#include <string_view>

namespace ww {

// `text` as content or as a quoted attribute; control characters, which XML forbids, become spaces.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace ww
