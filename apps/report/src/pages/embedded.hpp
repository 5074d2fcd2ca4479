// Files that the build embeds: the pages' style and script, and Chart.js.
#pragma once

#include <string_view>

namespace ww::report {

// The text of an embedded file by its name without folder; empty where there is none.
[[nodiscard]] std::string_view embedded_text(std::string_view name);

}  // namespace ww::report
