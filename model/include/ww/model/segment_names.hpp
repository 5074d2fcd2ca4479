// Names of the segments of on-chip wires where users see them: dashboards, traces, the live view.
#pragma once

#include <array>

namespace ww::model {

// Names in the order of wire_segments.
inline constexpr std::array<const char*, 3> kSegmentNames = {"registers-L1", "L1-L2", "L2-memory"};

}  // namespace ww::model
