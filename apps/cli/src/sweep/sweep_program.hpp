// This program, as the engine of sweeps sees it.
#pragma once

#include "ww/sweep/sweep.hpp"

namespace ww::cli {

// Its commands, and the hash of what they are made of: the executable and the parts of the project
// that it loads. Errors: not_found, io_error, permission_denied.
[[nodiscard]] Result<sweep::Program> swept_program();

// "3 timeout, 1 crashed": what did not end well, or empty.
[[nodiscard]] std::string failures_text(const sweep::StatusCounts& counts);

}  // namespace ww::cli
