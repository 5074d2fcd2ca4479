// Netrace's binary traces of version 1.0 (Hestness, Grot, Keckler, "Netrace: dependency-driven
// trace-based network-on-chip simulation", NoCArc 2010), unpacked. All numbers are little-endian,
// and nothing is aligned:
//   header, 72 bytes: magic (4), version as a float (4), name (30), nodes (1), 1 unused, cycles
//   (8),
//     packets (8), length of the notes (4), regions (4), 8 unused
//   notes; 24 bytes for each region, which this reader passes over
//   packets of 21 bytes: cycle (8), id (4), address (4), type (1), source (1), destination (1),
//   types
//     of both nodes (1), number of dependents (1); the id of each dependent (4)
// A dependent is a later packet that waits for this one.
#pragma once

#include <iosfwd>
#include <string>

#include "ww/core/result.hpp"
#include "ww/sim/net/packet_trace.hpp"

namespace ww::sim::net {

inline constexpr int kNetraceStart = 'U';  // first byte of the magic number

// Errors: parse_error (what is not in this format, or cut off), out_of_range (a node that the trace
// does not have), unsupported (another version).
[[nodiscard]] Result<PacketTrace> read_netrace(std::istream& in, const std::string& origin);

}  // namespace ww::sim::net
