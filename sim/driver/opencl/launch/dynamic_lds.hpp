// Where a kernel's __local arguments lie.
#pragma once

#include <cstdint>
#include <optional>

#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// Where each dynamic LDS argument begins [bytes from the group segment's start], aligned to its
// pointee. Writes the offsets into the kernarg segment and gives the bytes beyond the kernel's
// own, or nothing when they exceed 2^32.
[[nodiscard]] std::optional<std::uint32_t> lay_out_lds(_cl_kernel& kernel);

}  // namespace ww::sim::driver
