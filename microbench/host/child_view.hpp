// A look at a driver from a process of its own: it may hang or crash at its first call.
#pragma once

#include <functional>
#include <string>

#include "ww/core/result.hpp"

namespace ww::microbench {

// Runs `body` in a child and gives the text that it returned. Errors: device_error (it crashed,
// ended the process, or did not answer within 20 s or the driver's deadline), io_error.
[[nodiscard]] Result<std::string> in_child(const std::function<std::string()>& body);

}  // namespace ww::microbench
