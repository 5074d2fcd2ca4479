// Bufferless meshes: every flit that enters a router leaves it, if need be the wrong way.
//
// BLESS (Moscibroda and Mutlu, ISCA 2009, FLIT-BLESS with oldest-first): flits choose in order of
// age; each takes a productive port that is free (x first), else any free one. A node injects when
// an input is free and ejects at most one flit a cycle, the oldest.
//
// CHIPPER (Fallin, Craik and Mutlu, HPCA 2011): eject, inject into an empty slot, then a
// permutation network of four two-input sorters: the first two look at N/S against E/W, the last
// two at the final port; in each, the winner steers and the loser takes what is left. A golden flit
// wins; else the lower input. The golden packet's rank (source x slot) changes every epoch.
//
// Packets may arrive flit by flit in any order; flits carry their packet, so each is routed on its
// own. Receivers have buffers for a fixed number of packets, and drop and ask again when they are
// taken (reassembly.hpp). A request to send again is a flit of its own; it and what is sent again
// leave a node before new packets do.
//
// Livelock: BLESS: the globally oldest flit wins every port it wants, so it moves closer in each
// hop and arrives; then the next one is oldest. Ages are packet sequence numbers: a total order.
// CHIPPER: a golden packet's flits win each sorter against all others; golden ranks come round for
// every packet; an epoch is long enough for a flit to cross the mesh; one golden packet at a time,
// its flits ordered by number. Requests and flits sent again have their packet's age and rank, and
// each is sent once. Deadlock: nothing waits inside the network, and what reaches its node leaves
// it, taken or dropped. stuck() watches ages and that flits are taken.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "network/bufferless/reassembly.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"

namespace ww::sim::net {

class Deflection final : public ClockedNetwork {
 public:
  explicit Deflection(const NetworkConfig& config);

  Status inject(const Packet& packet) override;
  void tick() override;
  [[nodiscard]] std::optional<Cycles> next_event() const override;
  [[nodiscard]] power::NetworkEvents events() const override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] Status check_conservation() const override;
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint16_t kAskAgain = 0xFFFF;  // as a flit's index: receiver to sender

  struct Flying {
    std::uint32_t packet{kNone};
    std::uint16_t index{};
    std::uint16_t hops{};
    std::uint64_t order{};  // packet sequence number, then flit: smaller is older
    std::int64_t since{};   // cycle in which it entered the network
    [[nodiscard]] bool here() const { return packet != kNone; }
  };
  using Inputs = std::array<Flying, 4>;

  // Packets that a node sends besides new ones.
  struct Again {
    std::deque<std::uint32_t> requests;  // packets to ask for
    std::deque<std::uint32_t> packets;   // whose dropped flits go out
    std::size_t flits_sent{};            // of the front packet
  };

  [[nodiscard]] std::size_t words() const { return (routers_ + 63) / 64; }
  [[nodiscard]] int x_of(std::uint32_t router) const {
    return static_cast<int>(router) % config_.width;
  }
  [[nodiscard]] int y_of(std::uint32_t router) const {
    return static_cast<int>(router) / config_.width;
  }
  [[nodiscard]] bool exists(std::uint32_t router, int port) const {
    switch (port) {
      case 0: return x_of(router) + 1 < config_.width;
      case 1: return x_of(router) > 0;
      case 2: return y_of(router) + 1 < config_.height;
      default: return y_of(router) > 0;
    }
  }
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t router, int port) const {
    const auto width = static_cast<std::uint32_t>(config_.width);
    switch (port) {
      case 0: return router + 1;
      case 1: return router - 1;
      case 2: return router + width;
      default: return router - width;
    }
  }
  [[nodiscard]] NodeId goal(const Flying& flit) const {
    const PacketRecord& record = store_[flit.packet];
    return flit.index == kAskAgain ? record.source : record.destination;
  }
  [[nodiscard]] Flying make_flit(std::uint32_t packet, std::uint16_t index) const {
    return Flying{packet, index, 0, (orders_[packet] << 16) | index, now_};
  }

  // deflection.cpp
  void step(std::uint32_t router, std::size_t slot);
  void eject(std::uint32_t router, Inputs& inputs);
  void arrive(const Flying& flit);
  void take(const Flying& flit);
  void inject_flit(std::uint32_t router, Inputs& inputs);
  [[nodiscard]] Flying next_again(std::uint32_t router);
  [[nodiscard]] Flying next_new(std::uint32_t router, bool room);

  // deflection_route.cpp
  [[nodiscard]] std::uint32_t productive(std::uint32_t router, const Flying& flit) const;
  [[nodiscard]] bool golden(const Flying& flit) const;
  [[nodiscard]] bool before(const Flying& a, const Flying& b) const;
  [[nodiscard]] bool before_in_sorter(const Flying& a, const Flying& b) const;
  void oldest_first(std::uint32_t router, const Inputs& inputs);
  void permute(std::uint32_t router, const Inputs& inputs);
  void finish(std::uint32_t router, const std::array<Flying, 2>& pair, int first_port);
  void settle(std::uint32_t router);
  void send(std::uint32_t router, int port, const Flying& flit);
  void count_toggles(std::size_t link, const Flying& flit);

  const bool chipper_;
  const std::uint32_t routers_;
  const int hop_;              // cycles from a router's input to the next one's
  const std::uint64_t epoch_;  // of a golden packet [cycles]: long enough to cross the mesh
  const std::size_t slots_;
  Reassembly reassembly_;
  ReplyBuffers reply_buffers_;
  std::vector<Flying> flights_;         // [slot][router][input port]
  std::vector<std::uint64_t> present_;  // [slot][word]: routers that flits reach
  std::vector<std::uint64_t> orders_;   // [packet]: sequence number
  std::vector<std::uint16_t> sent_;     // [node]: flits of the front packet sent
  std::vector<std::uint8_t> last_class_;
  std::vector<std::uint64_t> asking_;  // [word]: nodes with something in again_
  std::vector<Again> again_;           // [node]
  std::vector<std::uint64_t> link_use_;
  std::vector<std::vector<std::uint32_t>> ending_;  // [slot]: packets whose last flit arrives
  Inputs out_{};
  std::int64_t last_taken_{0};
  std::uint64_t sequence_{0};
  std::uint64_t injected_flits_{0};  // of packets, each counted once
  std::uint64_t ejected_flits_{0};
  std::uint64_t resent_flits_{0};
  std::uint64_t entered_flits_{0};  // the network: requests and flits sent again too
  std::uint64_t left_flits_{0};
  std::vector<std::byte> last_word_;
  std::vector<std::uint64_t> link_toggles_;
};

}  // namespace ww::sim::net
