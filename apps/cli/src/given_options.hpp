// Lists the options a user gave, for calibrations that have no use for some of them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ww::cli {

// Names of the options that were given to a command: "--voltage"; "a program after --".
[[nodiscard]] std::vector<std::string> given_options(const CLI::App& command);

}  // namespace ww::cli
