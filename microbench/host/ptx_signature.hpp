// The parameters of a PTX entry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/module_driver.hpp"
#include "ww/core/result.hpp"

namespace ww::microbench {

// Offsets as the driver packs them: each parameter at a multiple of its size, in order (PTX ISA,
// section 5.1.6: kernel parameters). Scalars of 1 to 8 bytes alone. Errors: not_found (no such
// entry), parse_error, unsupported (arrays and vectors).
[[nodiscard]] Result<std::vector<ArgumentSlot>> ptx_arguments(std::string_view ptx,
                                                              const std::string& kernel);

}  // namespace ww::microbench
