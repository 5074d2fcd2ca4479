// Streams and events. Every command runs when it is given, in the order of the calls, which is an
// order that every program allows; so chip time has no overlap of streams.
#pragma once

#include "hip/session.hpp"

namespace ww::sim::icd::hip {

// Whether a stream handle is the default stream, one of the fixed ones, or one that is alive.
[[nodiscard]] bool is_stream(const void* stream);

// Notes the present chip time in an event. Error kInvalidHandle.
int record_event(void* event);

}  // namespace ww::sim::icd::hip
