// Signs of the compiler's known errors (compile/known_errors.hpp) in a kernel's machine code.
#pragma once

#include <string>
#include <vector>

#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver {

// Lists errors from which the kernel's results may suffer, a sentence each. An error that programs
// compiled here avoid (`compiled_here`) is none of them. Straight-line code is followed only.
[[nodiscard]] std::vector<std::string> signs_of_errors(const binpatch::CodeObject& object,
                                                       const binpatch::Kernel& kernel,
                                                       bool compiled_here);

// Says them on stderr, each error once in the process.
void warn_of_errors(const binpatch::CodeObject& object, const binpatch::Kernel& kernel,
                    bool compiled_here);

}  // namespace ww::sim::driver
