// The chips that the driver can be asked for, through the C ABI of core/vgpu_abi.h.
#pragma once

#include <cstdint>

#include "ww/core/vgpu_abi.h"

namespace ww::sim::driver {

// Returns the catalog of ww_vgpu_get_catalog: null for another version. Powers nothing on.
[[nodiscard]] const ww_vgpu_catalog* get_catalog(std::uint32_t version);

}  // namespace ww::sim::driver
