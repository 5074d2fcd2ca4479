// Puts CLI11's errors about a command line into the form of wirewatt's own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

// Returns the option or word, what is wrong with it, and what would be right: "--rate: '0,2' is not
// a number".
[[nodiscard]] std::string usage_text(const CLI::ParseError& error);

}  // namespace ww::cli
