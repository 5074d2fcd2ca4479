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
// either half the x links are used in one direction only and no cycle closes: whichever of the two
// minimal outputs a head is told to take, so the measure of congestion does not matter. Minimal
// routes end: no livelock. Priority arbitration does not change the channel graph; injection may
// starve while through traffic saturates a port, which stuck() reports.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "network/mesh/mesh_state.hpp"
#include "packet_store.hpp"
#include "reply_buffers.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// kGeneral adds stages of several cycles and speculation; kPriority the levels of mesh-priority.
template <class S, bool kGeneral, bool kPriority>
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
  [[nodiscard]] std::span<const std::uint64_t> waiting_sources() const override {
    return node_waiting_;
  }
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return store_.length(node, message_class);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override { return store_.inside(); }
  [[nodiscard]] power::NetworkEvents events() const override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] Status check_conservation() const override;
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override;

 private:
  static constexpr std::uint32_t kAhead = 6;  // events fetched ahead of their turn
  using Mask = typename S::Mask;
  using Block = RouterBlock<S>;

  struct Winner {
    Small input_vc;
    Small output;
    bool speculative;
  };
  struct VcGrant {
    Small input_vc;
    Small output_vc;
    Small group;
  };
  struct SwitchWinner {
    std::uint32_t router;
    Winner winner;
  };

  [[nodiscard]] int ports() const { return S::ports > 0 ? S::ports : ports_; }
  [[nodiscard]] int vcs() const { return S::vcs > 0 ? S::vcs : vcs_; }
  [[nodiscard]] int groups() const { return S::groups > 0 ? S::groups : groups_; }
  [[nodiscard]] int port_of(int any_vc) const {
    return S::vcs > 0 ? any_vc / std::max(S::vcs, 1)
                      : port_table_[static_cast<std::size_t>(any_vc)];
  }
  [[nodiscard]] std::uint32_t router_of(std::uint32_t node) const {
    return S::ports == 5 ? node : node / nodes_per_router_;
  }
  [[nodiscard]] WheelSlot& slot_in(int cycles) {
    return wheel_[static_cast<std::size_t>(now_ + cycles) & slot_mask_];
  }
  // The flit at a ring position of a VC: router << shift | input VC.
  [[nodiscard]] Flit& flit_at(std::uint32_t vc, Small position) {
    return flits_[(static_cast<std::size_t>(vc) << ring_shift_) + (position & ring_mask_)];
  }
  static void mark(std::uint64_t* words, std::uint32_t index, bool set = true) {
    words[index / 64] |= static_cast<std::uint64_t>(set) << (index % 64);
  }
  [[nodiscard]] Mask by_priority(Mask requests) const;

  void build();
  void build_tables();
  void deliver();
  void take_injection_credits();
  bool inject_from(std::uint32_t node);
  void send_flit(std::uint32_t node, std::uint32_t index, int vc, bool first, bool last);

  void fetch_ahead(const EventList& list, std::uint32_t n) const;
  void take_arrivals(EventList& arrivals);
  void take_credits(EventList& credits);
  void step_routers();
  void step_general(std::uint32_t router, Block& block);
  void begin_head(std::uint32_t router, Block& block, int input_vc);
  void route(std::uint32_t router, Block& block, int input_vc);
  [[nodiscard]] int adaptive_output(std::uint32_t router, const Block& block,
                                    const Flit& flit) const;
  void share_congestion();

  template <class Sink>
  void allocate_vcs(Block& block, const Sink& sink);
  template <class Sink>
  void match_vcs(Block& block, int output, int group, Mask requests, std::uint32_t available,
                 const Sink& sink);
  void take_vc(Block& block, VcGrant grant);

  int allocate_switch(Block& block, Winner* winners);
  int match_islip(Block& block, std::uint32_t wanted, const Mask* guesses, Winner* winners);
  int match_separable(Block& block, std::uint32_t wanted, const Mask* guesses, Winner* winners);
  Winner accept(Block& block, int input, int output, const Mask* guesses);
  [[nodiscard]] std::uint32_t guess_requests(const Block& block, Mask* guesses) const;

  void traverse(std::uint32_t router, Block& block, Winner winner);
  [[nodiscard]] int send_delay(std::uint32_t router, int output);
  void count_toggles(std::uint32_t router, int output, int output_vc, const Flit& flit);

  const NetworkConfig config_;
  const int ports_;
  const int vcs_;
  const int groups_;
  const std::uint32_t routers_;
  const std::uint32_t nodes_;
  const std::uint32_t nodes_per_router_;
  const int classes_;
  const bool adaptive_;
  const bool regional_;  // adaptive by RCA, not DyXY
  const bool large_;     // too large for the nearest caches
  const bool lookahead_;
  const bool wait_for_tail_;
  const int flit_delay_;    // from winning the switch to the next router's input, without waiting
  const int credit_delay_;  // from winning the switch to use of the credit upstream
  const int vc_shift_;      // of events and rings: router << vc_shift_ | VC of the router
  const int ring_shift_;
  const std::size_t ring_mask_;
  const std::size_t slots_;
  const std::size_t slot_mask_;
  const std::size_t words_;  // of a mask over routers
  const std::size_t node_words_;
  const Mask port_mask_;  // the VCs of port 0

  std::int64_t now_{0};
  std::int64_t last_move_{0};
  std::uint64_t injected_flits_{0};
  std::uint64_t ejected_flits_{0};
  std::uint64_t vc_grants_{0};

  std::vector<Block> blocks_;             // [router]
  std::vector<Flit> flits_;               // [router][input VC][ring], padded to powers of two
  std::vector<Small> write_;              // [router][input VC]: free-running ring positions
  std::vector<WheelSlot> wheel_;          // [slot]
  std::vector<SwitchWinner> winners_;     // of this cycle
  std::vector<std::uint64_t> busy_;       // [word]: routers with work left over
  std::vector<Small> port_table_;         // [VC index]
  std::vector<std::uint32_t> class_vcs_;  // [class]: mask over VCs
  std::vector<std::uint32_t> group_vcs_;  // [output][group]: mask over VCs
  std::vector<Mask> levels_;              // input VCs by falling priority; mesh-priority only
  PacketStore store_;
  ReplyBuffers reply_buffers_;

  // injection
  std::vector<Small> node_credits_;            // [node][VC]
  std::vector<std::uint32_t> node_free_;       // [node]: VCs not held by a packet
  std::vector<std::uint32_t> node_tail_sent_;  // [node]
  std::vector<std::uint32_t> node_credited_;   // [node]: VCs with a credit
  std::vector<std::int8_t> node_last_vc_;      // [node][class]
  std::vector<Small> node_last_class_;         // [node]
  std::vector<Small> node_vc_;                 // [node][class]: VC of the front packet
  std::vector<std::uint16_t> node_sent_;       // [node][class]: flits of the front packet sent
  std::vector<std::int64_t> node_last_send_;   // [node]
  std::vector<std::uint64_t> node_live_;       // mask over nodes that may send
  std::vector<std::uint64_t> node_waiting_;    // mask over nodes with flits in their queues
  std::vector<Delivery> deliveries_;

  // set anew for each tick: where the events go that a flit causes
  EventList* flits_out_{};  // to the next router, when it need not wait
  EventList* injected_out_{};
  std::array<EventList*, 2> credits_out_{};  // to the previous router, to a node

  // RCA (Gratz, Grot and Keckler, HPCA 2008), in one dimension: [router][output], 8 binary places.
  // What a router knows of an output: the mean of its own busy VCs there and of what the next
  // router along the same direction told it in the cycle before.
  using Congestion = std::array<std::uint16_t, 4>;
  std::vector<Congestion> congestion_;
  std::vector<Congestion> congestion_before_;

  // general timing
  std::vector<Batches<S>> batches_;      // [router]
  std::vector<VcGrant> held_vc_grants_;  // [router][input VC]
  std::vector<Winner> held_winners_;     // [router][port]

  // toggles: per link the last word, per output VC the index of its next flit
  std::size_t flit_bytes_;
  std::vector<std::byte> last_word_;
  std::vector<std::uint16_t> next_flit_;
  std::vector<std::uint64_t> link_toggles_;
  std::vector<std::byte> word_scratch_;
};

}  // namespace ww::sim::net
