// Lines of a packet trace.
#pragma once

#include <string>
#include <string_view>

#include "ww/sim/net/packet_trace.hpp"

namespace ww::sim::net {

inline constexpr std::string_view kPacketTraceMark = "wirewatt-packets 1";

[[nodiscard]] std::string packet_line(const TracedPacket& packet);  // of one cause at most

}  // namespace ww::sim::net
