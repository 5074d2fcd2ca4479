// Declares buffers of an unmodified program approximable, as its settings ask.
#pragma once

#include <vector>

#include "common/runtime/approximations.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// Declares what the rules say of a buffer that was made, or of the buffers among a kernel's
// arguments before it runs. Needs the lock.
void approximate_buffer(std::vector<ApproximationRule>& rules, cl_mem memory);
void approximate_arguments(std::vector<ApproximationRule>& rules, const _cl_kernel& kernel);

}  // namespace ww::sim::driver
