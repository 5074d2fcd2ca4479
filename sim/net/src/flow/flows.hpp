// The way of every packet, for networks in which it is fixed beforehand.
#pragma once

#include <cstdint>
#include <vector>

#include "vc_router/wiring.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// A packet's path: outputs of routers, the last of which leads to its node.
struct Path {
  struct Step {
    std::uint32_t channel{};  // router * ports + output
    std::uint32_t input{};    // of that router, below `ports`
    int delay{1};             // of the link behind the output [cycles]
  };
  std::vector<Step> steps;  // one for each router
  int wire_cycles{};        // of all links, those of both nodes included
};

class Flows {
 public:
  Flows() = default;
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;
  virtual ~Flows() = default;

  [[nodiscard]] virtual std::uint32_t routers() const = 0;
  [[nodiscard]] virtual std::uint32_t ports() const = 0;
  // Shares of the VCs, of which a packet may use one at a time.
  [[nodiscard]] virtual std::uint32_t layers() const = 0;
  // Fills `path`, whose memory is used again.
  virtual void find(NodeId from, NodeId to, Path& path) const = 0;
};

}  // namespace ww::sim::net
