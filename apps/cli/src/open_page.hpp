// Shows a page to the user.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

// --open, of commands that write or serve a page.
CLI::Option* add_open_flag(CLI::App& command, bool& open);

// Opens a file or an address by $BROWSER, or by xdg-open where that is not set, and does not wait
// for it. Returns an exit code: 3 with the reason where neither is there.
[[nodiscard]] int open_page(const std::string& page);

}  // namespace ww::cli
