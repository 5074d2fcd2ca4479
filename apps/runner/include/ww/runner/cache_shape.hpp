// The caches through which a memory trace went.
#pragma once

#include <string>

#include "ww/sim/trace/cache_replay.hpp"

namespace ww::runner {

// Returns the caches of the virtual chip that made a trace (`Reader::producer()`). A trace of no
// built-in chip (an import, a drawn chip) gets the W9100's.
[[nodiscard]] sim::trace::CacheShape cache_shape(const std::string& producer);

}  // namespace ww::runner
