// An input-queued virtual-channel router: its state, and the allocators that change it.
//
// It sees counts of flits and credits, never the flits themselves: the network moves those, and
// calls take_flit(), take_credit(), request_vc() and depart() as they come and go. Between these
// calls allocate_switch() and allocate_vcs() match requests. Semantics are those of BookSim 2's
// iq_router (vc_network.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "bits.hpp"
#include "vc_router/rules.hpp"

namespace ww::sim::net {

template <class S>
class Router {
 public:
  using Mask = typename S::Mask;
  using Ports = typename S::Ports;
  using StoredVc = Packed<PortVc, typename S::Raw>;

  struct Winner {  // of the switch
    StoredVc input_vc;
    Packed<PortId> output;
    bool speculative;
  };
  struct VcGrant {
    StoredVc input_vc;
    StoredVc output_vc;
    Packed<GroupId> group;
  };

  // No flit inside, all credits at hand. `forward` is the channel that an output's VC 0 leads to,
  // `back` the output VC or the node behind an input's VC 0.
  void clear(const VcRouterConfig& config);
  void connect_output(PortId output, Channel forward) { forward_[output] = forward; }
  void connect_input(PortId input, CreditTo back) { back_[input] = back; }
  [[nodiscard]] Channel forward(PortId output, VcId vc) const {
    return Channel(forward_[output].number() + vc.number());
  }
  [[nodiscard]] CreditTo back(PortId input, VcId vc) const {
    return CreditTo(back_[input].number() + vc.number());
  }

  // A flit becomes visible in an input VC.
  struct Arrival {
    bool first;   // it found the VC empty
    bool begins;  // it is a head that wants a route
  };
  Arrival take_flit(PortVc input_vc);
  // A credit comes back to an output VC. True when a flit that waited for it can now go on.
  template <class Rules>
  bool take_credit(const Rules& rules, PortVc output_vc);

  // Heads that wait for their route.
  void await_route(PortVc input_vc) { routing_ |= mask_of(input_vc); }
  [[nodiscard]] bool awaits_routes() const { return routing_ != 0; }
  [[nodiscard]] Mask take_awaiting() {
    const Mask waiting = routing_;
    routing_ = 0;
    return waiting;
  }
  // The head of an input VC wants a VC of `output`.
  template <class Rules>
  void request_vc(const Rules& rules, PortVc input_vc, PortId output, GroupId group);

  // Takes back what heads ask for that have no VC yet. Returns their input VCs.
  template <class Rules>
  [[nodiscard]] Mask withdraw_vc_requests(const Rules& rules);

  // Input VCs with a flit, a VC of an output and a credit there: they bid for the switch.
  [[nodiscard]] Mask bidders() const { return active_ & nonempty_ & credited_ & ~barred_; }
  // The matches of this cycle; they change the pointers alone. Each winner goes to `sink`, which
  // may let its flit depart() at once if all bidders were known before. kGuess: heads may bid
  // before they have a VC, if the rules say so. Outputs that are not `open` take no flit. Inlined
  // by force, for the call would cost a fifth of the work.
  template <bool kGuess, class Rules, class Sink>
  [[gnu::always_inline]] void allocate_switch(const Rules& rules, Mask bidders, Ports open,
                                              const Sink& sink);
  // Gives each grant to `sink`, which may take_vc() at once.
  template <class Rules, class Sink>
  void allocate_vcs(const Rules& rules, const Sink& sink);
  template <class Rules>
  [[gnu::always_inline]] void take_vc(const Rules& rules, VcGrant grant);
  // A guess counts only if its input VC has got a VC of that output, with a credit.
  template <class Rules>
  [[nodiscard]] bool guessed_right(const Rules& rules, Winner winner) const;

  // The front flit of an input VC leaves through the switch.
  struct Departure {
    VcId vc;    // of the output
    bool more;  // it was a tail, and the next packet's head is behind it
  };
  // `credits`: how many it takes, none where a node takes whatever comes.
  template <class Rules>
  [[gnu::always_inline]] Departure depart(const Rules& rules, Winner winner, bool tail,
                                          std::uint32_t credits = 1);

  // A router whose packets share neither inputs nor outputs has nothing to arbitrate: each flit
  // leaves in the cycle after it came. Then no flit is counted here, and these do all.
  [[nodiscard]] bool owns_vc(PortVc input_vc) const { return (active_ & mask_of(input_vc)) != 0; }
  // Whether a head from `input_vc` to `output` shares them with a packet that owns a VC.
  template <class Rules>
  [[nodiscard]] bool would_share(const Rules& rules, PortVc input_vc, PortId output) const {
    const Mask same_input = active_ & rules.of_port(rules.port_of(input_vc));
    return (owners_[output] | same_input) != 0;
  }
  // VCs of an output that a head of the group may get, as a mask over the output's.
  template <class Rules>
  [[nodiscard]] std::uint32_t free_for(const Rules& rules, PortId output, GroupId group) const {
    const std::uint32_t free = rules.vcs_of(free_, output);
    return rules.groups() == 1 ? free : free & rules.group_vcs(output, group);
  }
  // Which of `available` the head of an input VC gets, as a VC of the router.
  template <class Rules>
  [[nodiscard]] PortVc choose_alone(const Rules& rules, PortVc input_vc, PortId output,
                                    std::uint32_t available) const {
    return rules.vc_at(output, VcId(first_from(available, accept_start(rules, output, input_vc))));
  }
  // Chooses among all VCs, where no packet owns one.
  template <class Rules>
  [[nodiscard]] PortVc choose_of_all(const Rules& rules, PortVc input_vc, PortId output,
                                     GroupId group) const {
    const int start = accept_start(rules, output, input_vc);
    return rules.vc_at(
        output,
        VcId(rules.groups() == 1 ? start : first_from(rules.group_vcs(output, group), start)));
  }
  // The head of an input VC gets that VC, and the switch in the next cycle.
  template <class Rules>
  [[gnu::always_inline]] void grant_alone(const Rules& rules, PortVc input_vc, PortId output,
                                          PortVc output_vc);
  [[nodiscard]] SmallCount& credits_of(PortVc output_vc) { return credits_[output_vc]; }
  void spend_credits(PortVc output_vc, std::uint32_t credits) {
    credits_[output_vc] = SmallCount(static_cast<int>(credits_[output_vc] - credits));
  }
  template <class Rules>
  void release_alone(const Rules& rules, PortVc input_vc);
  // Counts flits from now on. In this cycle the `barred` input VCs do not bid, since their last
  // flit leaves in it, and the `withheld` output VCs are not free, since a tail leaves.
  void begin_arbitration(Mask barred, Mask withheld);
  void end_first_arbitration(Mask withheld) {
    barred_ = Mask{};
    free_ |= withheld;
  }
  [[nodiscard]] Mask owning_vcs() const { return active_; }
  [[nodiscard]] bool is_empty() const { return (active_ | nonempty_) == 0; }

  // Where in its ring the front of an input VC lies, and that it is now the next one.
  [[nodiscard]] SmallCount front(PortVc input_vc) const { return read_[input_vc]; }
  void pass_front(PortVc input_vc) { ++read_[input_vc]; }
  [[nodiscard]] std::uint32_t flits(PortVc input_vc) const { return count_[input_vc]; }
  [[nodiscard]] PortVc output_vc(PortVc input_vc) const { return output_[input_vc]; }
  [[nodiscard]] bool has_flits(PortVc input_vc) const {
    return (nonempty_ & mask_of(input_vc)) != 0;
  }
  [[nodiscard]] std::uint32_t credits(PortVc output_vc) const { return credits_[output_vc]; }
  template <class Rules>
  [[nodiscard]] std::uint32_t free_vcs(const Rules& rules, PortId output) const {
    return rules.vcs_of(free_, output);
  }
  [[nodiscard]] bool has_owner(PortVc output_vc) const { return !owner_[output_vc].is_none(); }
  [[nodiscard]] bool wants_vcs() const { return want_vc_ != 0; }
  [[nodiscard]] bool wants_switch_or_vcs() const { return want_vc_ != 0 || bidders() != 0; }
  [[nodiscard]] bool is_idle() const { return !wants_switch_or_vcs() && routing_ == 0; }
  // Some packet that owns a VC has a flit here, with or without a credit.
  [[nodiscard]] bool holds_active_flits() const { return (active_ & nonempty_) != 0; }

  void count_flit(PortId output) { ++port_use_[output]; }
  [[nodiscard]] std::uint64_t flits_sent(PortId output) const { return port_use_[output]; }

 private:
  template <class T, int kCount>
  using ByPort = IdArray<PortId, T, kCount>;
  template <class T>
  using ByVc = IdArray<PortVc, T, S::room_vcs>;

  // Where a round-robin pointer goes: to the index after this one of `count`. first_from() begins
  // at 0 again where no bit is left, so that a mask with room to spare needs no such step.
  template <class Id>
  [[nodiscard]] static constexpr Id after(Id id, std::uint32_t count) {
    if constexpr (S::ports > 0 && S::ports * S::vcs < 8 * sizeof(Mask)) {
      return Id(id.number() + 1);
    } else {
      return next_in(id, count);
    }
  }
  [[nodiscard]] static constexpr Mask mask_of(PortVc vc) { return mask_of_bit<Mask>(vc.number()); }
  [[nodiscard]] static constexpr Ports port_bit(PortId port, bool set = true) {
    return static_cast<Ports>(Ports{set} << port.number());
  }
  template <class Rules>
  [[nodiscard]] Mask& vc_requests(const Rules& rules, PortId output, GroupId group) {
    return vc_requests_[output.number() * rules.groups() + group.number()];
  }

  template <class Rules>
  [[nodiscard]] int accept_start(const Rules& rules, PortId output, PortVc input_vc) const;
  template <class Rules>
  [[gnu::always_inline]] void pass_pointers(const Rules& rules, PortVc input_vc, PortId output);
  template <class Rules, class Sink>
  void grant_vc(const Rules& rules, PortId output, GroupId group, PortVc input_vc, int vc,
                const Sink& sink);
  template <class Rules, class Sink>
  void match_vcs(const Rules& rules, PortId output, GroupId group, Mask requests,
                 std::uint32_t available, const Sink& sink);
  template <bool kGuess, class Rules, class Sink>
  [[gnu::always_inline]] void match_islip(const Rules& rules, Mask bidders, Ports wanted,
                                          const Mask* guesses, const Sink& sink);
  template <bool kGuess, class Rules, class Sink>
  void match_separable(const Rules& rules, Mask bidders, Ports wanted, const Mask* guesses,
                       const Sink& sink);
  template <bool kGuess, class Rules>
  Winner accept(const Rules& rules, Mask bidders, PortId input, PortId output, const Mask* guesses);
  template <class Rules>
  [[nodiscard]] Ports guess_requests(const Rules& rules, Mask* guesses);

  Mask active_{};                       // input VCs that own an output VC
  Mask nonempty_{};                     // input VCs that hold a flit
  Mask credited_{};                     // active input VCs whose output VC has a credit
  Mask barred_{};                       // input VCs that may not bid in this cycle
  Mask routing_{};                      // input VCs whose head waits for its route
  Mask free_{};                         // output VCs that no packet owns
  Mask tail_sent_{};                    // output VCs whose last packet has left
  Ports want_vc_{};                     // outputs with a nonzero VC request mask
  ByPort<Mask, S::room_ports> owners_;  // [output]: active input VCs that own a VC of it
  std::array<Mask, static_cast<std::size_t>(S::room_ports* S::room_groups)>
      vc_requests_{};                 // [output][group]
  ByVc<SmallCount> read_;             // [input VC]: free-running ring positions
  ByVc<SmallCount> count_;            // [input VC]: visible flits
  ByVc<StoredVc> output_;             // [input VC]: the output VC owned
  ByVc<SmallCount> credits_;          // [output VC]
  ByVc<StoredVc> owner_;              // [output VC]: the input VC, or none
  ByVc<StoredVc> vc_grant_pointer_;   // [output VC]: input VC
  ByVc<StoredVc> vc_accept_pointer_;  // [input VC]: output VC
  ByPort<Packed<PortId>, S::room_ports> switch_grant_pointer_;   // [output]: input
  ByPort<Packed<PortId>, S::room_ports> switch_accept_pointer_;  // [input]: output
  ByPort<Packed<VcId>, S::room_ports> switch_vc_pointer_;        // [input]: which VC goes next
  ByPort<Channel, S::room_ports> forward_;                       // [output]
  ByPort<CreditTo, S::room_ports> back_;                         // [input]
  ByPort<std::uint64_t, S::room_ports> port_use_;                // [output]: flits
};

template <class S>
void Router<S>::clear(const VcRouterConfig& config) {
  *this = Router{};
  free_ = ~Mask{};
  credits_.fill(SmallCount(config.vc_buffer));
  owner_.fill(StoredVc::none());
}

template <class S>
inline auto Router<S>::take_flit(PortVc input_vc) -> Arrival {
  const Mask mine = mask_of(input_vc);
  ++count_[input_vc];
  const bool first = (nonempty_ & mine) == 0;
  nonempty_ |= mine;
  return {first, static_cast<bool>(first & ((active_ & mine) == 0))};
}

template <class S>
template <class Rules>
inline bool Router<S>::take_credit(const Rules& rules, PortVc output_vc) {
  const std::uint32_t credits = ++credits_[output_vc];
  const VcRouterConfig& config = rules.config();
  if (config.wait_for_tail_credit && credits == static_cast<std::uint32_t>(config.vc_buffer)) {
    free_ |= tail_sent_ & mask_of(output_vc);
  }
  const StoredVc owner = owner_[output_vc];
  if (credits != 1 || owner.is_none()) {
    return false;
  }
  credited_ |= mask_of(owner);
  return (nonempty_ & mask_of(owner)) != 0;
}

template <class S>
template <class Rules>
void Router<S>::request_vc(const Rules& rules, PortVc input_vc, PortId output, GroupId group) {
  vc_requests(rules, output, group) |= mask_of(input_vc);
  want_vc_ |= port_bit(output);
}

template <class S>
template <class Rules>
auto Router<S>::withdraw_vc_requests(const Rules& rules) -> Mask {
  Mask heads = 0;
  for_each_bit<PortId>(want_vc_, [&](PortId output) {
    for (std::uint32_t group = 0; group < rules.groups(); ++group) {
      Mask& requests = vc_requests(rules, output, GroupId(group));
      heads |= requests;
      requests = 0;
    }
  });
  want_vc_ = 0;
  return heads;
}

template <class S>
template <class Rules>
inline void Router<S>::take_vc(const Rules& rules, VcGrant grant) {
  const PortVc output_vc = grant.output_vc;
  const PortId output = rules.port_of(output_vc);
  const Mask mine = mask_of(grant.input_vc);
  Mask& requests = vc_requests(rules, output, grant.group);
  requests &= ~mine;
  Mask others = requests;
  for (std::uint32_t group = 0; rules.groups() > 1 && group < rules.groups(); ++group) {
    others |= vc_requests(rules, output, GroupId(group));
  }
  want_vc_ &= ~port_bit(output, others == 0);
  const Mask taken = mask_of(output_vc);
  free_ &= ~taken;
  tail_sent_ &= ~taken;
  owner_[output_vc] = grant.input_vc;
  output_[grant.input_vc] = grant.output_vc;
  owners_[output] |= mine;
  active_ |= mine;
  credited_ = (credited_ & ~mine) | only_if(credits_[output_vc] != 0, mine);
}

template <class S>
template <class Rules>
bool Router<S>::guessed_right(const Rules& rules, Winner winner) const {
  const PortVc output_vc = output_[winner.input_vc];
  return (active_ & mask_of(winner.input_vc)) != 0 &&
         rules.port_of(output_vc) == PortId(winner.output) && credits_[output_vc] != 0;
}

template <class S>
template <class Rules>
inline auto Router<S>::depart(const Rules& rules, Winner winner, bool tail, std::uint32_t credits)
    -> Departure {
  const PortVc input_vc = winner.input_vc;
  const PortId output = winner.output;
  const PortVc output_vc = output_[input_vc];
  const Mask mine = mask_of(input_vc);
  const std::uint32_t left = --count_[input_vc];
  nonempty_ &= ~only_if(left == 0, mine);
  credits_[output_vc] = SmallCount(static_cast<int>(credits_[output_vc] - credits));
  if (credits_[output_vc] == 0) {
    credited_ &= ~mine;
  }
  const Mask ended = only_if(tail, mine);
  const Mask released = only_if(tail, mask_of(output_vc));
  owner_[output_vc].clear_if(tail);
  active_ &= ~ended;
  owners_[output] &= ~ended;
  if (rules.config().wait_for_tail_credit) {
    tail_sent_ |= released;
  } else {
    free_ |= released;
  }
  return {rules.vc_of(output_vc, output), static_cast<bool>(tail & (left != 0))};
}

template <class S>
template <class Rules>
inline void Router<S>::release_alone(const Rules& rules, PortVc input_vc) {
  const PortVc output_vc = output_[input_vc];
  const Mask mine = mask_of(input_vc);
  owner_[output_vc] = StoredVc::none();
  active_ &= ~mine;
  owners_[rules.port_of(output_vc)] &= ~mine;
  free_ |= mask_of(output_vc);
}

template <class S>
void Router<S>::begin_arbitration(Mask barred, Mask withheld) {
  barred_ = barred;
  free_ &= ~withheld;
  credited_ = Mask{};
  for_each_bit<PortVc>(active_, [&](PortVc input_vc) {
    credited_ |= only_if(credits_[output_[input_vc]] != 0, mask_of(input_vc));
  });
}

}  // namespace ww::sim::net

#include "vc_router/router_allocate.hpp"
