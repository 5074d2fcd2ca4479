// Dapper's reply plane: memory controllers (MCs) with their output buffers and data approximators,
// and the overlay circuits that they own in turn.
//
// Cycle by cycle: in the usable part of its window an MC sends a flit a cycle; each takes three
// cycles (x, y, local), pipelined. A window of T cycles begins with `setup` cycles in which the
// routers connect, and ends with two in which the last flit makes its way, so that no flit meets
// another circuit; in an epoch's last window of each MC one more cycle carries its statistics. A
// packet that no longer fits waits for the MC's next window, and those behind it with it; one that
// is longer than the whole window is sent in parts, each later one with a header flit of its own.
// An MC without packets leaves its window idle: the paper has nothing else.
//
// Header: one flit holds 16 bits of kind, flags and length of the destination list, and for each
// destination its node and an 8-bit tag of the request that it answers; what does not fit takes
// further header flits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "network/dapper/approximator.hpp"
#include "network/dapper/circuits.hpp"
#include "network/dapper/config.hpp"
#include "network/dapper/windows.hpp"
#include "packet_store.hpp"
#include "ring.hpp"

namespace ww::sim::net {

class ReplyPlane {
 public:
  // config: validated, network dapper.
  ReplyPlane(const NetworkConfig& config, std::vector<NodeId> mcs);

  // True if circuits lead from one node to the other: from an MC to any node but itself.
  [[nodiscard]] bool reaches(NodeId source, NodeId destination) const {
    return mc_of_[source] != kNoMc && source != destination;
  }
  [[nodiscard]] bool is_controller(NodeId node) const { return mc_of_[node] != kNoMc; }
  // A packet that has passed PacketStore::check(), to a destination that is reached.
  void inject(const Packet& packet, NodeId destination, std::int64_t now);
  // Cycle `now`: what arrives is appended to `deliveries`, then flits leave.
  void tick(std::int64_t now, Deliveries& deliveries);
  // The first cycle >= now in which something arrives or leaves; -1 when it is empty.
  [[nodiscard]] std::int64_t next_event(std::int64_t now) const;
  // Epochs that end at or before `now` are done with.
  void advance_to(std::int64_t now);

  // Packets that have not wholly left an MC's output buffer; 0 for other nodes.
  [[nodiscard]] std::uint32_t queued(NodeId node, std::int64_t now) const;
  void mark_waiting(std::span<std::uint64_t> nodes, std::int64_t now) const;
  [[nodiscard]] std::uint64_t packets_inside() const { return store_.inside(); }
  [[nodiscard]] const power::OverlayEvents& events() const { return circuits_.events(); }
  // Flits of packets, as injected; ejected once for each destination.
  [[nodiscard]] std::uint64_t injected_flits() const { return injected_flits_; }
  [[nodiscard]] std::uint64_t ejected_flits() const { return ejected_flits_; }
  void add_use(std::vector<LinkUse>& links) const { circuits_.add_use(links); }
  [[nodiscard]] Status check_conservation() const;
  [[nodiscard]] std::optional<Stuck> stuck(std::int64_t now, std::int64_t patience) const;
  // The windows of the current epoch, for tests.
  [[nodiscard]] std::span<const int> windows() const { return lengths_; }

 private:
  static constexpr std::uint32_t kNoMc = ~std::uint32_t{0};
  static constexpr int kDrain = 2;  // cycles of a flit's way behind the first

  struct Waiter {
    std::uint32_t packet{};
    std::int64_t ready{};  // past the approximator
    Approximable how{};
  };
  struct Controller {
    Ring<Waiter> buffer;
    std::uint32_t partly_sent{};    // flits of the front that earlier windows took
    std::uint64_t arrivals{};       // in this epoch
    std::uint64_t occupancy_sum{};  // packets x cycles of this epoch, up to `counted_to`
    std::int64_t counted_to{};
  };
  struct UnderWay {
    std::int64_t arrival{};
    std::uint32_t packet{};
  };
  // The cycles of a window in which flits may leave.
  struct Usable {
    std::int64_t begin{};
    std::int64_t end{};
  };

  // How long a packet may wait for its controller's window while nothing is wrong: this epoch may
  // have none for it, and in a period the window may be over, or too short for what is left of it,
  // until the next period's. Algorithm 3 as printed promises no window.
  [[nodiscard]] std::int64_t longest_turn() const;
  [[nodiscard]] Usable usable(const Window& window) const;
  [[nodiscard]] std::uint32_t header_flits(std::size_t destinations) const;
  void end_epoch();
  void lay_out();
  void count_occupancy(Controller& controller, std::int64_t now);
  void try_send(std::int64_t now);
  void send(std::uint32_t mc, std::int64_t now, std::int64_t room);
  void send_part(std::uint32_t mc, std::int64_t now, std::int64_t room);
  void choose_group(Controller& controller, std::int64_t room);
  void launch(std::uint32_t mc, std::uint32_t flits, bool whole, std::int64_t now);
  [[nodiscard]] bool fits(std::uint32_t mc, const Usable& part, std::int64_t from) const;

  const NetworkConfig config_;
  const OverlayConfig overlay_;
  const std::vector<NodeId> mcs_;
  std::vector<std::uint32_t> mc_of_;  // [node], or kNoMc
  PacketStore store_;
  Circuits circuits_;
  std::vector<Controller> controllers_;
  Ring<UnderWay> under_way_;  // by arrival

  std::vector<int> lengths_;     // T_i of this epoch
  std::vector<Window> windows_;  // of this epoch, cycles since its begin
  std::size_t window_{};         // the one that `now` lies in
  std::int64_t epoch_begin_{};
  std::size_t setups_{};          // windows of this epoch that have been set up
  std::int64_t channel_free_{};   // first cycle in which the x stage is free
  std::uint32_t sending_{kNoMc};  // who sends until then
  std::int64_t last_move_{};
  std::uint64_t queued_{};  // packets in all output buffers
  std::uint64_t injected_flits_{};
  std::uint64_t ejected_flits_{};
  std::uint32_t node_bits_{1};

  // of the packet that leaves
  std::vector<Waiting> candidates_;
  std::vector<std::uint32_t> followers_;
  std::vector<std::uint32_t> group_;
  std::vector<NodeId> destinations_;
  std::vector<std::byte> word_;
  std::vector<McStats> stats_;
  std::vector<std::uint64_t> reports_;
};

}  // namespace ww::sim::net
