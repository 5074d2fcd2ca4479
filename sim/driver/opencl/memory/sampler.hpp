// Samplers: what other files need to know of them.
#pragma once

#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// True for a live sampler of this process. Safe for any pointer, also one that was never a handle.
[[nodiscard]] bool known_sampler(const _cl_sampler* sampler);

}  // namespace ww::sim::driver
