// The wires between the nodes of a crossbar: what crossed them, and how far.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "packet_store.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/power/events.hpp"

namespace ww::sim::net {

class PairWires {
 public:
  PairWires(std::size_t nodes, NodeDistances distances)
      : nodes_(nodes), distances_(std::move(distances)) {}

  [[nodiscard]] bool are_measured() const { return !distances_.um.empty(); }
  // Cycles that its flits take beyond those of any node's wires.
  [[nodiscard]] int more_cycles(const PacketRecord& packet) const {
    return distances_.more_cycles.empty()
               ? 0
               : distances_.more_cycles[packet.source * nodes_ + packet.destination];
  }
  [[nodiscard]] int most_cycles() const {
    const auto& cycles = distances_.more_cycles;
    return cycles.empty() ? 0 : *std::max_element(cycles.begin(), cycles.end());
  }

  // A flit of this packet has arrived; `changed`: the wires that it changed.
  void count(const PacketRecord& packet, std::uint64_t changed) {
    const std::uint64_t um = distances_.um[packet.source * nodes_ + packet.destination];
    power::PairWireEvents& events = is_reply(packet.kind) ? replies_ : requests_;
    ++events.flits;
    events.flit_um += um;
    events.toggle_um += um * changed;
  }
  void add_to(power::NetworkEvents& events) const {
    events.request_wires = requests_;
    events.reply_wires = replies_;
  }

 private:
  [[nodiscard]] static bool is_reply(PacketKind kind) {
    return kind == PacketKind::read_reply || kind == PacketKind::write_reply ||
           kind == PacketKind::atomic_reply;
  }

  std::size_t nodes_;
  NodeDistances distances_;
  power::PairWireEvents requests_;
  power::PairWireEvents replies_;
};

}  // namespace ww::sim::net
