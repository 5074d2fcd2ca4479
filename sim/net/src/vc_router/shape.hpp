// Sizes of a router: room for the largest, and the exact numbers where the compiler may know them.
//
// A router has P ports with V virtual channels each. Sets of its input VCs are bit masks, so that
// "who wants this output" is one word.
#pragma once

#include <cstdint>

#include "bits.hpp"

namespace ww::sim::net {

// kPorts, kVcs, kGroups 0: known at run time only.
template <class MaskType, int kRoomPorts, int kRoomVcs, int kRoomGroups, int kPorts, int kVcs,
          int kGroups>
struct Shape {
  using Mask = MaskType;        // over the input VCs of a router
  using Ports = std::uint32_t;  // over the ports of a router
  using Raw = char8_t;          // holds the number of a PortVc
  static constexpr int room_ports = kRoomPorts;
  static constexpr int room_vcs = kRoomVcs;  // of all ports together
  static constexpr int room_groups = kRoomGroups;
  static constexpr std::uint32_t ports = kPorts;
  static constexpr std::uint32_t vcs = kVcs;
  static constexpr std::uint32_t groups = kGroups;
};
template <int kVcs>
using MeshShape = Shape<Mask64, 5, 5 * kVcs, 1, 5, kVcs, 1>;
template <int kVcs>  // requests and replies, or the two halves of adaptive routing
using GroupedShape = Shape<Mask64, 5, 5 * kVcs, 2, 5, kVcs, 2>;
using SmallShape = Shape<Mask64, 16, 64, 8, 0, 0, 0>;
using LargeShape = Shape<Mask128, 16, 128, 8, 0, 0, 0>;

}  // namespace ww::sim::net
