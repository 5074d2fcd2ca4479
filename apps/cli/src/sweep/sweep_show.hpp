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

// Takes results that came in after the database of a sweep's folder was made, as while jobs run,
// into it; what cannot be is a warning. Any other folder is left alone.
void refresh_sweep(const std::filesystem::path& folder);

}  // namespace ww::cli
