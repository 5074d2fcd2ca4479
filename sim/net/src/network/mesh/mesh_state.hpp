// What a virtual-channel router holds, in one block per router.
//
// P ports a router (0 +x, 1 -x, 2 +y, 3 -y, 4... local), V virtual channels a port. An input VC is
// the index port*V + vc, an output VC likewise; sets of input VCs of a router are bit masks, so
// that "who wants this output" is one word.
//
// A flit is written once, into the ring of the input VC that will hold it, when it wins the switch
// upstream (its credit is the room it takes); an arrival event makes it visible later. Events are
// words in lists, one list per kind and cycle of a time wheel: idle routers cost nothing, and a
// straight loop over a list mispredicts less than a loop over each router's ports. For the same
// reason whatever can be chosen by arithmetic is not chosen by a branch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bits.hpp"

namespace ww::sim::net {

// A small number. Not uint8_t: as an alias of char it could be any object's bytes, and every store
// would make the compiler load all pointers and sizes anew.
using Small = char8_t;

struct Flit {
  std::uint32_t packet;
  Small x;  // destination router; meaningful in the head
  Small y;
  Small port;   // local port at the destination router; meaningful in the head
  Small flags;  // kHead | kTail | kWest | message class << kClassShift
};
static_assert(sizeof(Flit) == 8);

inline constexpr int kHead = 1;
inline constexpr int kTail = 2;
inline constexpr int kWest = 4;  // adaptive routing: the packet belongs to the -x half
inline constexpr int kClassShift = 3;

inline constexpr Small kNobody = 0xFF;

// Sizes of a router: room for the largest, and the exact numbers where the compiler may know them
// (0: known at run time only). Groups: requesters of one group compete for the same VCs.
template <class MaskType, int kRoomPorts, int kRoomVcs, int kRoomGroups, int kPorts, int kVcs,
          int kGroups>
struct Shape {
  using Mask = MaskType;
  static constexpr int room_ports = kRoomPorts;
  static constexpr int room_vcs = kRoomVcs;  // of all ports together
  static constexpr int room_groups = kRoomGroups;
  static constexpr int ports = kPorts;
  static constexpr int vcs = kVcs;
  static constexpr int groups = kGroups;
};
template <int kVcs>
using MeshShape = Shape<Mask64, 5, 5 * kVcs, 1, 5, kVcs, 1>;
template <int kVcs>  // requests and replies, or the two halves of adaptive routing
using GroupedShape = Shape<Mask64, 5, 5 * kVcs, 2, 5, kVcs, 2>;
using SmallShape = Shape<Mask64, 16, 64, 8, 0, 0, 0>;
using LargeShape = Shape<Mask128, 16, 128, 8, 0, 0, 0>;

template <class S>
struct RouterBlock {
  using Mask = typename S::Mask;
  template <class T, int kCount>
  using Array = std::array<T, static_cast<std::size_t>(kCount)>;

  Mask active{};                                 // input VCs that own an output VC
  Mask nonempty{};                               // input VCs that hold a flit
  Mask routing{};                                // input VCs whose head waits for its route
  std::uint32_t want_switch{};                   // outputs with a nonzero switch request mask
  std::uint32_t want_vc{};                       // outputs with a nonzero VC request mask
  std::uint32_t has_free{~0u};                   // outputs with a nonzero free_vcs mask
  Array<Mask, S::room_ports> switch_requests{};  // [output]
  Array<Mask, S::room_ports * S::room_groups> vc_requests{};  // [output][group]
  Array<std::uint32_t, S::room_ports> free_vcs{};             // [output]: VCs that no packet owns
  Array<std::uint32_t, S::room_ports> tail_sent{};      // [output]: VCs whose last packet has left
  Array<Small, S::room_vcs> read{};                     // [input VC]: free-running ring positions
  Array<Small, S::room_vcs> count{};                    // [input VC]: visible flits
  Array<Small, S::room_vcs> output{};                   // [input VC]: the output VC owned
  Array<Small, S::room_vcs> credits{};                  // [output VC]
  Array<Small, S::room_vcs> owner{};                    // [output VC]: the input VC, or kNobody
  Array<Small, S::room_vcs> vc_grant_pointer{};         // [output VC]
  Array<Small, S::room_vcs> vc_accept_pointer{};        // [input VC]
  Array<Small, S::room_ports> switch_grant_pointer{};   // [output]
  Array<Small, S::room_ports> switch_accept_pointer{};  // [input]
  Array<Small, S::room_ports> switch_vc_pointer{};      // [input]: which VC goes next
  Small x{};
  Small y{};
  // What follows a port: events are the base below plus a VC.
  Array<std::uint32_t, S::room_ports> forward{};  // [output]: arrival at the next router
  Array<std::uint32_t, S::room_ports> back{};     // [input]: credit for the previous router or node
  std::array<std::uint32_t, 4> neighbour{};    // by output; the rim points at itself, never asked
  Array<std::uint32_t, S::room_ports> used{};  // [output]: credits in use; adaptive routing
  Array<std::uint64_t, S::room_ports> port_use{};  // [output]: flits
};

// Stages of several cycles work in batches: the next batch begins when the last has ended.
template <class S>
struct Batches {
  typename S::Mask being_routed{};
  int vc_grants{};
  int switch_grants{};
  bool routing_runs{};
  bool vc_runs{};
  bool switch_runs{};
  std::int64_t routing_due{};
  std::int64_t vc_due{};
  std::int64_t switch_due{};
  std::int64_t crossbar_start{-1};
  std::array<std::int64_t, static_cast<std::size_t>(S::room_ports)> last_send{};
};

// Events of one kind in one cycle. Items beyond `size` are scrap: an event that may not exist is
// written always and counted only if it does.
struct EventList {
  std::vector<std::uint32_t> items;
  std::uint32_t size{};
  void add(std::uint32_t item, bool exists = true) {
    items[size] = item;
    size += exists ? 1 : 0;
  }
};

// What happens in one cycle of the time wheel.
struct WheelSlot {
  EventList arrivals;      // router << shift | input VC
  EventList credits;       // router << shift | output VC
  EventList node_credits;  // node << kNodeShift | VC
  EventList ejections;     // packets whose tail arrives
  std::uint64_t ejected_flits{};
};
inline constexpr int kNodeShift = 5;

}  // namespace ww::sim::net
