// Ends captures for streams and events. Needs the lock.
#pragma once

#include <memory>

#include "hip/stream/stream_table.hpp"

namespace ww::sim::driver::hip {

// Lets go of the capture that the program began on this stream: every stream runs its commands
// again.
void end_capture_of(const Stream& stream);
// Lets events go that were recorded in a capture which has ended.
void forget_capture_in_events(const std::shared_ptr<Capture>& capture);

}  // namespace ww::sim::driver::hip
