// Describes this program to the engine of sweeps.
#pragma once

#include "ww/sweep/sweep.hpp"

namespace ww::cli {

// Returns this program's commands, and the hash of their parts: the executable and the parts of the
// project that it loads. Errors: not_found, io_error, permission_denied.
[[nodiscard]] Result<sweep::Program> swept_program();

// "3 timeout, 1 crashed": what did not end well, or empty.
[[nodiscard]] std::string failures_text(const sweep::StatusCounts& counts);

}  // namespace ww::cli
