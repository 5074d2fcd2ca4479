// Meshes of input-queued virtual-channel routers (wormhole, credits), in BookSim 2's timing:
// routing (0 cycles when it looks ahead), VC allocation, switch allocation, switch traversal, link.
//
// Semantics kept from BookSim 2's iq_router (Jiang et al., ISPASS 2013):
// - an input VC whose front is a head asks for every free VC of its class at its output; the VC
//   allocator matches inputs x VCs against outputs x VCs;
// - an active input VC with a flit and a credit asks for the switch; per input and output the VC at
//   or after a pointer asks, and the pointer moves past the VC that wins;
// - a credit goes back when the flit wins the switch, and counts credit_delay after it arrives;
// - an output VC is free again once its tail has won the switch, or with wait_for_tail_credit once
//   the buffer behind it is empty;
// - a stage of n > 1 cycles is not pipelined: it serves whoever waits when the last batch ended.
//
// Deadlock: XY routing takes no turn from y to x, so the channel graph has no cycle (Dally and
// Seitz 1987). Message classes have disjoint VCs, so a request never waits for a reply's buffer.
// Adaptive routing is minimal in double-y form (Dally and Towles, ch. 14; DyXY, DAC'06, separates
// VCs likewise): packets to the east and to the west use disjoint VCs of the y links, so within
// either half the x links are used in one direction only and no cycle closes. Minimal routes end:
// no livelock. Priority arbitration does not change the channel graph; injection may starve while
// through traffic saturates a port, which stuck() reports.
#pragma once

#include <array>

#include "impl/mesh_state.hpp"
#include "packet_store.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// kGeneral adds stages of several cycles and speculation; kPriority the levels of mesh-priority.
template <class Mask, bool kGeneral, bool kPriority>
class Mesh final : public Network {
 public:
  explicit Mesh(const NetworkConfig& config);

  [[nodiscard]] const NetworkConfig& config() const override { return config_; }
  [[nodiscard]] Cycles now() const override { return Cycles{static_cast<std::uint64_t>(now_)}; }
  Status inject(const Packet& packet) override;
  void tick() override;
  [[nodiscard]] std::span<const Delivery> deliveries() const override { return deliveries_; }
  [[nodiscard]] std::optional<Cycles> next_event() const override;
  void skip_to(Cycles cycle) override;
  [[nodiscard]] std::uint64_t packets_inside() const override { return store_.inside(); }
  [[nodiscard]] power::NetworkEvents events() const override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] Status check_conservation() const override;
  [[nodiscard]] std::optional<std::string> stuck(Cycles patience) const override;

 private:
  struct Winner {
    std::uint8_t input_vc;
    std::uint8_t output;
    bool speculative;
  };
  struct VcGrant {
    std::uint8_t input_vc;
    std::uint8_t output_vc;
    std::uint8_t group;
  };

  [[nodiscard]] std::size_t slot_in(int cycles) const {
    return static_cast<std::size_t>(now_ + cycles) & slot_mask_;
  }
  [[nodiscard]] Mask by_priority(Mask requests) const;

  void take_injection_credits();
  bool inject_from(std::uint32_t node);
  void step(std::uint32_t router);
  void take_events(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row,
                   std::uint32_t events);
  void begin_head(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row, int input_vc);
  void route(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row, int input_vc);

  int allocate_vcs(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row,
                   VcGrant* grants);
  int match_vcs(std::uint32_t router, std::uint8_t* row, int output, int group, Mask requests,
                std::uint32_t available, VcGrant* grants);
  void take_vc(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row, VcGrant grant);

  int allocate_switch(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row,
                      Winner* winners);
  int match_switch(std::uint8_t* row, std::uint32_t wanted, const Mask* requests,
                   const Mask* speculative, Winner* winners);
  void traverse(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row, Winner winner);
  // The stages of several cycles and speculation.
  void step_general(std::uint32_t router, RouterHead<Mask>& head, std::uint8_t* row);
  [[nodiscard]] int send_delay(std::uint32_t router, RouterHead<Mask>& head, int output);

  void count_toggles(std::uint32_t router, int output, int output_vc, const Flit& flit);

  const NetworkConfig config_;
  MeshState<Mask> state_;
  PacketStore store_;
  std::int64_t now_{0};
  std::size_t slot_mask_;
  bool adaptive_;
  bool count_use_;
  int flit_delay_;    // from winning the switch to the next router's input, without waiting
  int credit_delay_;  // from winning the switch to use of the credit upstream
  Mask port_mask_;    // the VCs of port 0

  // injection: [node] and [node][class], [node][vc]
  std::vector<std::uint8_t> node_credits_;
  std::vector<std::uint32_t> node_free_;  // VCs not held by a packet
  std::vector<std::uint32_t> node_tail_sent_;
  std::vector<std::uint32_t> node_credited_;  // VCs with a credit
  std::vector<std::int8_t> node_last_vc_;     // [node][class]
  std::vector<std::uint8_t> node_last_class_;
  std::vector<std::uint16_t> node_sent_;      // [node][class]: flits of the front packet sent
  std::vector<std::uint8_t> node_vc_;         // [node][class]: VC of the front packet
  std::vector<std::uint64_t> node_live_;      // mask over nodes that may send
  std::vector<std::uint64_t> node_wake_;      // [slot][word]
  std::vector<std::uint8_t> node_credit_vc_;  // [slot][node]
  int node_words_;

  std::vector<std::vector<std::uint32_t>> ejections_;  // [slot]: packets whose tail arrives
  std::vector<std::uint32_t> ejected_bodies_;          // [slot]: flits that are no tails
  std::vector<Delivery> deliveries_;

  // batches of several cycles: [router][...]
  std::vector<VcGrant> held_vc_grants_;
  std::vector<Winner> held_winners_;
  std::array<std::uint32_t, 128> grant_scratch_{};

  std::uint64_t injected_flits_{0};
  std::uint64_t ejected_flits_{0};
  std::uint64_t vc_grants_{0};
  std::int64_t last_move_{0};

  // toggles: per link the last word, per output VC the index of its next flit
  std::size_t flit_bytes_;
  std::vector<std::byte> last_word_;
  std::vector<std::uint16_t> next_flit_;
  std::vector<std::uint64_t> link_toggles_;
  std::vector<std::byte> word_scratch_;
};

}  // namespace ww::sim::net
