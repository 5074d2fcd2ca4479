// How many blocks of a kernel a CU runs at once.
#pragma once

#include "hip/module/module.hpp"

namespace ww::sim::driver::hip {

// Errors: kInvalidValue, for blocks that cannot run at all.
[[nodiscard]] tl::expected<std::uint64_t, int> resident_blocks(const Function& function,
                                                               const Dim3& threads,
                                                               std::size_t dynamic_lds);

}  // namespace ww::sim::driver::hip
