// OpenCL C to a code object, for AMD devices whose driver does not take source (HIP).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// Compiles with AMD's compiler library in a process of its own (wirewatt-compile-worker: LLVM
// aborts on some inputs). `target`: "gfx90a", or with features, "gfx90a:sramecc+:xnack-". Errors:
// device_error with the compiler's log; missing_dependency (the worker or the library is absent).
[[nodiscard]] Result<std::vector<std::byte>> compile_for_amd(const std::string& target,
                                                             const std::string& text,
                                                             const std::string& name);

}  // namespace ww::microbench
