// The state of all virtual-channel routers of a mesh, as flat arrays.
//
// Layout: everything of one router is contiguous. P ports a router (0 +x, 1 -x, 2 +y, 3 -y, 4...
// local), V virtual channels a port. An input VC is the index port*V + vc, an output VC likewise;
// sets of input VCs of one router are bit masks, so that "who wants this output" is one word.
//
// A flit is written once, into the ring of the input VC that will hold it, when it wins the switch
// upstream (its credit is the room it takes); an arrival event makes it visible later. Events
// lie in a time wheel: one word per router and cycle (arrivals by input port, credits by output
// port) and a live mask over routers, so that idle routers cost nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

struct Flit {
  std::uint32_t packet;
  std::uint8_t x;  // destination router; meaningful in the head
  std::uint8_t y;
  std::uint8_t port;   // local port at the destination router; meaningful in the head
  std::uint8_t flags;  // kHead | kTail | message class << kClassShift | kWest
};
static_assert(sizeof(Flit) == 8);

inline constexpr std::uint8_t kHead = 1;
inline constexpr std::uint8_t kTail = 2;
inline constexpr std::uint8_t kWest = 4;  // adaptive routing: the packet belongs to the -x half
inline constexpr int kClassShift = 3;

inline constexpr std::uint8_t kNobody = 0xFF;
inline constexpr int kMaxPorts = 16;

template <class Mask>
struct RouterHead {
  Mask active{};    // input VCs that own an output VC
  Mask nonempty{};  // input VCs that hold a flit
  Mask routing{};   // input VCs whose head waits for its route
  Mask being_routed{};
  std::uint16_t want_switch{};  // outputs with a nonzero switch request mask
  std::uint16_t want_vc{};      // outputs with a nonzero VC request mask
  // Stages of several cycles work in batches: the next batch begins when the last has ended.
  std::uint8_t vc_grants{};  // of the batch under way
  std::uint8_t switch_grants{};
  bool routing_runs{};
  bool vc_runs{};
  bool switch_runs{};
  std::int64_t routing_due{};
  std::int64_t vc_due{};
  std::int64_t switch_due{};
  std::int64_t crossbar_start{-1};
};

// Byte-sized fields of a router, by offset in its row.
struct RowLayout {
  explicit RowLayout(int ports, int vcs)
      : per_vc(ports * vcs),
        read(0),
        write(per_vc),
        count(2 * per_vc),
        output(3 * per_vc),
        credits(4 * per_vc),
        owner(5 * per_vc),
        vc_grant_pointer(6 * per_vc),
        vc_accept_pointer(7 * per_vc),
        sw_grant_pointer(8 * per_vc),
        sw_accept_pointer(8 * per_vc + ports),
        sw_vc_pointer(8 * per_vc + 2 * ports),
        stride((8 * per_vc + 3 * ports + 63) / 64 * 64) {}
  int per_vc;
  int read, write, count;  // of input VCs: free-running ring positions, visible flits
  int output;              // of input VCs: the output VC owned
  int credits, owner;      // of output VCs
  int vc_grant_pointer;    // of output VCs
  int vc_accept_pointer;   // of input VCs
  int sw_grant_pointer;    // of output ports
  int sw_accept_pointer;   // of input ports
  int sw_vc_pointer;       // of input ports: which VC goes next
  int stride;
};

template <class Mask>
struct MeshState {
  explicit MeshState(const NetworkConfig& config);

  int width, height, routers, ports, vcs, nodes, nodes_per_router, classes;
  int groups;  // VC groups: requesters of one group compete for the VCs of one mask
  int ring;    // flits a ring holds, a power of two
  int slots;   // of the time wheel, a power of two
  int words;   // of a mask over routers
  RowLayout row;

  std::vector<RouterHead<Mask>> head;    // [router]
  std::vector<std::uint8_t> rows;        // [router][RowLayout]
  std::vector<Mask> switch_requests;     // [router][output port]
  std::vector<Mask> vc_requests;         // [router][output port][group]
  std::vector<std::uint32_t> free_vcs;   // [router][output port]: mask over VCs
  std::vector<std::uint32_t> tail_sent;  // [router][output port]: mask over VCs
  std::vector<std::uint64_t> port_use;   // [router][output port]: flits
  std::vector<std::uint32_t> used;       // [router][output port]: credits in use
  std::vector<std::int64_t> last_send;   // [router][output port]; general timing only
  std::vector<Flit> flits;               // [router][input VC][ring]
  std::vector<std::uint32_t> neighbour;  // [router][4]
  std::vector<std::uint8_t> router_x, router_y;

  std::vector<std::uint32_t> events;     // [slot][router]: arrivals | credits << 16
  std::vector<std::uint8_t> arrival_vc;  // [slot][router][input port]
  std::vector<std::uint8_t> credit_vc;   // [slot][router][output port]
  std::vector<std::uint64_t> wake;       // [slot][word]
  std::vector<std::uint64_t> busy;       // [word]

  // tables
  std::vector<std::uint8_t> port_of;             // [VC index] -> port
  std::vector<std::uint32_t> class_vcs;          // [class] -> mask over VCs
  std::vector<std::uint32_t> group_vcs;          // [port][group] -> mask over VCs
  std::vector<std::uint8_t> next_vc, next_port;  // (i + 1) modulo their number
  std::vector<Mask> priority;  // input VCs by falling priority; mesh-priority only

  [[nodiscard]] std::uint8_t* row_of(std::uint32_t router) {
    return rows.data() + static_cast<std::size_t>(router) * static_cast<std::size_t>(row.stride);
  }
  [[nodiscard]] std::size_t at(std::uint32_t router, int per_router, int index) const {
    return static_cast<std::size_t>(router) * static_cast<std::size_t>(per_router) +
           static_cast<std::size_t>(index);
  }

  // The longest time from winning a switch to an event that it causes.
  [[nodiscard]] static int longest_delay(const NetworkConfig& config) {
    return 3 * config.st_delay + 2 * (config.link_delay + 1) + config.credit_delay + 4;
  }
};

template <class Mask>
MeshState<Mask>::MeshState(const NetworkConfig& config)
    : width(config.width),
      height(config.height),
      routers(width * height),
      ports(4 + config.concentration),
      vcs(config.vcs),
      nodes(node_count(config)),
      nodes_per_router(config.concentration),
      classes(config.classes),
      groups(config.network == "mesh-adaptive" ? 2 * config.classes : config.classes),
      ring(static_cast<int>(std::bit_ceil(static_cast<unsigned>(config.vc_buffer)))),
      slots(static_cast<int>(std::bit_ceil(static_cast<unsigned>(longest_delay(config) + 1)))),
      words((routers + 63) / 64),
      row(ports, vcs) {
  const auto r = static_cast<std::size_t>(routers);
  const auto p = static_cast<std::size_t>(ports);
  const auto per_vc = static_cast<std::size_t>(ports * vcs);
  const auto s = static_cast<std::size_t>(slots);
  const std::uint32_t all_vcs = (std::uint32_t{1} << vcs) - 1;
  head.resize(r);
  rows.resize(r * static_cast<std::size_t>(row.stride));
  switch_requests.resize(r * p);
  vc_requests.resize(r * p * static_cast<std::size_t>(groups));
  free_vcs.assign(r * p, all_vcs);
  tail_sent.resize(r * p);
  port_use.resize(r * p);
  used.resize(r * p);
  last_send.assign(r * p, -1);
  flits.resize(r * per_vc * static_cast<std::size_t>(ring));
  neighbour.resize(r * 4);
  router_x.resize(r);
  router_y.resize(r);
  events.resize(s * r);
  arrival_vc.resize(s * r * p);
  credit_vc.resize(s * r * p);
  wake.resize(s * static_cast<std::size_t>(words));
  busy.resize(static_cast<std::size_t>(words));
  for (int router = 0; router < routers; ++router) {
    const auto id = static_cast<std::uint32_t>(router);
    std::uint8_t* bytes = row_of(id);
    for (int i = 0; i < ports * vcs; ++i) {
      bytes[row.credits + i] = static_cast<std::uint8_t>(config.vc_buffer);
      bytes[row.owner + i] = kNobody;
    }
    const int x = router % width;
    const int y = router / width;
    router_x[id] = static_cast<std::uint8_t>(x);
    router_y[id] = static_cast<std::uint8_t>(y);
    // Links of the rim are never asked for; they point at their own router.
    neighbour[id * 4 + 0] = static_cast<std::uint32_t>(x + 1 < width ? router + 1 : router);
    neighbour[id * 4 + 1] = static_cast<std::uint32_t>(x > 0 ? router - 1 : router);
    neighbour[id * 4 + 2] = static_cast<std::uint32_t>(y + 1 < height ? router + width : router);
    neighbour[id * 4 + 3] = static_cast<std::uint32_t>(y > 0 ? router - width : router);
  }
  for (int i = 0; i < ports * vcs; ++i) {
    port_of.push_back(static_cast<std::uint8_t>(i / vcs));
  }
  for (int i = 0; i < vcs; ++i) {
    next_vc.push_back(static_cast<std::uint8_t>((i + 1) % vcs));
  }
  for (int i = 0; i < ports; ++i) {
    next_port.push_back(static_cast<std::uint8_t>((i + 1) % ports));
  }
  const auto span_mask = [](int first, int last) {  // VCs first to last-1
    return ((std::uint32_t{1} << last) - 1) & ~((std::uint32_t{1} << first) - 1);
  };
  group_vcs.resize(p * static_cast<std::size_t>(groups));
  for (int c = 0; c < classes; ++c) {
    const int first = c * vcs / classes;
    const int last = (c + 1) * vcs / classes;
    class_vcs.push_back(span_mask(first, last));
    for (int port = 0; port < ports; ++port) {
      const bool halves = groups != classes && (port == 2 || port == 3);
      const int middle = halves ? (first + last) / 2 : last;
      const auto base = static_cast<std::size_t>(port * groups);
      if (groups == classes) {
        group_vcs[base + static_cast<std::size_t>(c)] = span_mask(first, last);
      } else {
        group_vcs[base + static_cast<std::size_t>(2 * c)] = span_mask(first, middle);
        group_vcs[base + static_cast<std::size_t>(2 * c + 1)] = span_mask(middle, last);
      }
    }
  }
  if (config.network == "mesh-priority") {
    // Under way before being injected; within both, replies (the last class) before requests.
    for (const bool local : {false, true}) {
      for (int c = classes - 1; c >= 0; --c) {
        Mask mask{};
        for (int port = local ? 4 : 0; port < (local ? ports : 4); ++port) {
          mask |= static_cast<Mask>(static_cast<Mask>(class_vcs[static_cast<std::size_t>(c)])
                                    << (port * vcs));
        }
        priority.push_back(mask);
      }
    }
  }
}

}  // namespace ww::sim::net
