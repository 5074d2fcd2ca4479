// The wires of nodes: what crossed them, and how far. Either each pair of nodes has a way of its
// own length, or each node has wires to and from its router.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "packet_store.hpp"
#include "vc_router/wiring.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/power/events.hpp"

namespace ww::sim::net {

// Lengths are counted in thousandths of the link length of the energy accounting.
[[nodiscard]] inline std::uint64_t milli_pitches(double pitches) {
  constexpr double kMilli = 1e3;
  return static_cast<std::uint64_t>(std::llround(pitches * kMilli));
}

class PairWires {
 public:
  PairWires(const std::vector<Wiring::Terminal>& terminals, NodeDistances distances, int flit_bits)
      : nodes_(terminals.size()), distances_(std::move(distances)) {
    const bool are_drawn =
        std::any_of(terminals.begin(), terminals.end(),
                    [](const Wiring::Terminal& terminal) { return terminal.pitches != 0; });
    if (!distances_.um.empty() || !are_drawn) {
      return;
    }
    for (const Wiring::Terminal& terminal : terminals) {
      to_router_.push_back(milli_pitches(terminal.pitches));
      // A wire for each bit, there and back.
      of_nodes_.wire_milli_pitches += 2 * to_router_.back() * static_cast<std::uint64_t>(flit_bits);
    }
  }

  [[nodiscard]] bool are_counted() const { return !distances_.um.empty() || !to_router_.empty(); }
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

  // A flit of this packet has arrived; `changed`: the wires that it changed there. Those where it
  // entered count as if it had changed as many.
  void count(const PacketRecord& packet, std::uint64_t changed) {
    if (!to_router_.empty()) {
      const std::uint64_t length = to_router_[packet.source] + to_router_[packet.destination];
      of_nodes_.flit_milli_pitches += length;
      of_nodes_.toggle_milli_pitches += length * changed;
      return;
    }
    const std::uint64_t um = distances_.um[packet.source * nodes_ + packet.destination];
    power::PairWireEvents& events = is_reply(packet.kind) ? replies_ : requests_;
    ++events.flits;
    events.flit_um += um;
    events.toggle_um += um * changed;
  }
  void add_to(power::NetworkEvents& events) const {
    events.request_wires = requests_;
    events.reply_wires = replies_;
    events.pitched_wires.wire_milli_pitches += of_nodes_.wire_milli_pitches;
    events.pitched_wires.flit_milli_pitches += of_nodes_.flit_milli_pitches;
    events.pitched_wires.toggle_milli_pitches += of_nodes_.toggle_milli_pitches;
  }

 private:
  std::size_t nodes_;
  NodeDistances distances_;
  std::vector<std::uint64_t> to_router_;  // [node]: thousandths; empty: not counted
  power::PitchedWireEvents of_nodes_;
  power::PairWireEvents requests_;
  power::PairWireEvents replies_;
};

}  // namespace ww::sim::net
