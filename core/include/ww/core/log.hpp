// Logging to stderr through spdlog; data goes to stdout and files, never here.
#pragma once

#include <spdlog/spdlog.h>

namespace ww::log {

enum class Verbosity { quiet, normal, verbose };

// Sets up the process-wide logger: stderr, "warning: text" without time stamps, coloured on a
// terminal unless NO_COLOR is set.
void set_up(Verbosity verbosity);

}  // namespace ww::log
