// The C ABI of core/vgpu_abi.h over the process's virtual GPU.
#pragma once

#include <cstdint>

#include "ww/core/vgpu_abi.h"

namespace ww::sim::driver {

// Returns the ABI of ww_vgpu_get_abi: null for another version or when there is no chip. Powers the
// chip on.
[[nodiscard]] const ww_vgpu_abi* get_abi(std::uint32_t version);

}  // namespace ww::sim::driver
