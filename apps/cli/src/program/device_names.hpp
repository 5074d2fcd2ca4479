// Finds devices that no name of a device means.
#pragma once

#include <CLI/CLI.hpp>

#include "ww/core/result.hpp"

namespace ww::cli {

// Looks at --device of the command that was given, before anything runs: a name of none of the
// forms that devices have (ww/core/device_name.hpp) is refused with the name that is nearest to it.
// Error invalid_argument. Whether there is such a device is for the command to find out.
[[nodiscard]] Status check_device_name(const CLI::App& command);

}  // namespace ww::cli
