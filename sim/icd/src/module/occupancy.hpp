// How many blocks of a kernel a CU runs at once.
#pragma once

#include "module/module.hpp"

namespace ww::sim::icd::hip {

// Errors: kInvalidValue, for blocks that cannot run at all.
[[nodiscard]] tl::expected<std::uint64_t, int> resident_blocks(const Function& function,
                                                               const Dim3& threads,
                                                               std::size_t dynamic_lds);

}  // namespace ww::sim::icd::hip
