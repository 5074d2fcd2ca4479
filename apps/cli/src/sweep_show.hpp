// wirewatt sweep show: what a sweep found.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

#include "command.hpp"
#include "ww/core/result.hpp"

namespace ww::cli {

void add_sweep_show(CLI::App& sweep, Outcome& outcome);

// Names the points that have no good result, with their reasons, a few of them.
Status print_failures(const std::filesystem::path& database);

}  // namespace ww::cli
