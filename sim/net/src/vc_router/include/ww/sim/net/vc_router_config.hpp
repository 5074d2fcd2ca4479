// Settings of the virtual-channel routers, whatever network they form.
#pragma once

#include "ww/sim/net/allocator.hpp"

namespace ww::sim::net {

// Delays in cycles, named and defined as in BookSim 2 (Jiang et al., ISPASS 2013). A hop without
// routing delay takes vc_alloc + sw_alloc + st (+ link): 4 cycles by default; routing_delay 0 means
// lookahead routing.
struct VcRouterConfig {
  int vcs{4};        // per port, divided evenly among the classes
  int vc_buffer{8};  // flits per virtual channel
  int routing_delay{0};
  int vc_alloc_delay{1};
  int sw_alloc_delay{1};
  int st_delay{1};
  int credit_delay{1};
  bool speculative{false};           // head flits bid for the switch while they bid for a VC
  bool wait_for_tail_credit{false};  // a VC is reused only once its last flit has left downstream
  Allocator vc_allocator{Allocator::islip};
  Allocator sw_allocator{Allocator::islip};
};

// Cycles from sending a flit until its credit can be used again, when the flit leaves the next
// buffer at once.
[[nodiscard]] int credit_loop(const VcRouterConfig& config, int link_delay);

}  // namespace ww::sim::net
