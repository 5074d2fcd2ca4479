// Runs work that may end the process (vendor libraries that abort, drivers that hang) in a child.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "ww/core/result.hpp"

namespace ww::measure {

// Runs `body` in a forked child and returns the text that `body` returned. The user does not see
// the child's stderr. Errors: io_error (no process), device_error (the child was killed by a
// signal, did not answer within `patience`, or ended without an answer), each with the end of its
// stderr. Once `stop` gives true, the child has two seconds left to answer in; then it is ended,
// with the error cancelled. Call it while no other thread has locks that `body` needs.
[[nodiscard]] Result<std::string> run_in_child(const std::function<std::string()>& body,
                                               std::chrono::milliseconds patience,
                                               const std::function<bool()>& stop = {});

}  // namespace ww::measure
