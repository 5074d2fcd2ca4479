// Sizes of a router: room for the largest, and the exact numbers where the compiler may know them.
//
// A router has P ports with V virtual channels each. Sets of its input VCs are bit masks, so that
// "who wants this output" is one word.
#pragma once

#include <cstdint>

#include <type_traits>

#include "bits.hpp"
#include "wide_mask.hpp"

namespace ww::sim::net {

// kPorts, kVcs, kGroups 0: known at run time only. PortsType: over the ports of a router.
template <class MaskType, int kRoomPorts, int kRoomVcs, int kRoomGroups, int kPorts = 0,
          int kVcs = 0, int kGroups = 0, class PortsType = std::uint32_t>
struct Shape {
  using Mask = MaskType;  // over the input VCs of a router
  using Ports = PortsType;
  using Raw = std::conditional_t<(kRoomVcs < 255), char8_t, char16_t>;  // holds a PortVc
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
using SmallShape = Shape<Mask64, 16, 64, 12>;
using LargeShape = Shape<Mask128, 16, 128, 12>;
// Crossbars, and routers in the middle of hierarchies.
using WideShape = Shape<WideMask<4>, 64, 256, 12, 0, 0, 0, Mask64>;
using WidestShape = Shape<WideMask<16>, 128, 1024, 12, 0, 0, 0, Mask128>;

}  // namespace ww::sim::net
