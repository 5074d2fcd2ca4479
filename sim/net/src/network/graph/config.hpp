#pragma once

#include <string>

namespace ww::sim::net {

struct GraphConfig {
  std::string topology;         // a file, .toml or BookSim's anynet
  std::string routing{"file"};  // as the file says, or "minimal", "up-down"
  int uplinks{4};               // crossbar-hierarchical: links from a cluster to the middle
  int bridge_links{8};          // crossbar-partitioned: links between the halves, each way
  int bridge_delay{4};          // and their cycles
  int radix{4};                 // fly, fattree: ports of a router to one side
  int chiplet_side{2};          // chiplet-mesh: routers along a side of a chiplet
  int die_to_die_delay{4};      // and the cycles to the next chiplet
  double die_to_die_pj_per_bit{0.5};
  int global_delay{8};        // dragonfly: cycles between groups
  std::string ways{"fixed"};  // or drawn where BookSim 2 draws them: "booksim", "booksim-adaptive"
  std::string deadlock{"refuse"};  // or "watch": run routes that could wait in a circle
  bool express_links{false};       // cmesh: links over half a side, along the edges
};

}  // namespace ww::sim::net
