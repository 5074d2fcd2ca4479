// Samplers: what other files need to know of them.
#pragma once

#include "object/objects.hpp"

namespace ww::sim::icd {

// True for a live sampler of this process. Safe for any pointer, also one that was never a handle.
[[nodiscard]] bool known_sampler(const _cl_sampler* sampler);

}  // namespace ww::sim::icd
