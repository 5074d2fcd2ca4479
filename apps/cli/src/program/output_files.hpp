// Finds files that a command line would overwrite.
#pragma once

#include <CLI/CLI.hpp>

#include "ww/core/result.hpp"

namespace ww::cli {

// Looks at each option of the command that is marked as an output (option.hpp), before anything
// runs. Error invalid_argument, which names option and file: the file is an input of this call or
// another output of it, through links too, or one that nothing but its own command replaces
// (ww/core/owned_file.hpp). `fit` may replace the calibration beside its campaign. A folder where a
// file is due, a file where a folder is due, and a place that is not there are invalid_argument or
// not_found; a place that may not be written is permission_denied.
[[nodiscard]] Status check_output_files(const CLI::App& app);

}  // namespace ww::cli
