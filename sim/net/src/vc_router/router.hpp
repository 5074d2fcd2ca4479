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
  template <class Rules>
  Arrival take_flit(const Rules& rules, PortVc input_vc);
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

  // The matches of this cycle; they change the pointers alone. Each winner goes to `sink`.
  // kGuess: heads may bid before they have a VC, if the rules say so. Outputs that are not `open`
  // take no flit. Inlined by force, for the call would cost a fifth of the work.
  template <bool kGuess, class Rules, class Sink>
  [[gnu::always_inline]] void allocate_switch(const Rules& rules, Ports open, const Sink& sink);
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
  template <class Rules>
  [[gnu::always_inline]] Departure depart(const Rules& rules, Winner winner, bool tail);

  // Where in its ring the front flit of an input VC lies.
  [[nodiscard]] SmallCount front(PortVc input_vc) const { return read_[input_vc]; }
  [[nodiscard]] PortVc output_vc(PortVc input_vc) const { return output_[input_vc]; }
  [[nodiscard]] bool has_flits(PortVc input_vc) const {
    return (nonempty_ & mask_of(input_vc)) != 0;
  }
  [[nodiscard]] std::uint32_t credits(PortVc output_vc) const { return credits_[output_vc]; }
  [[nodiscard]] std::uint32_t free_vcs(PortId output) const { return free_vcs_[output]; }
  [[nodiscard]] bool has_owner(PortVc output_vc) const { return !owner_[output_vc].is_none(); }
  [[nodiscard]] bool wants_vcs() const { return want_vc_ != 0; }
  [[nodiscard]] bool wants_switch_or_vcs() const { return (want_switch_ | want_vc_) != 0; }
  [[nodiscard]] bool is_idle() const {
    return (want_switch_ | want_vc_ | static_cast<Ports>(routing_ != 0)) == 0;
  }
  // Some packet that owns a VC has a flit here, with or without a credit.
  [[nodiscard]] bool holds_active_flits() const { return (active_ & nonempty_) != 0; }

  void count_flit(PortId output) { ++port_use_[output]; }
  [[nodiscard]] std::uint64_t flits_sent(PortId output) const { return port_use_[output]; }

 private:
  template <class T, int kCount>
  using ByPort = IdArray<PortId, T, kCount>;
  template <class T>
  using ByVc = IdArray<PortVc, T, S::room_vcs>;

  [[nodiscard]] static constexpr Mask mask_of(PortVc vc) { return mask_of_bit<Mask>(vc.number()); }
  [[nodiscard]] static constexpr Ports port_bit(PortId port, bool set = true) {
    return static_cast<Ports>(Ports{set} << port.number());
  }
  template <class Rules>
  [[nodiscard]] Mask& vc_requests(const Rules& rules, PortId output, GroupId group) {
    return vc_requests_[output.number() * rules.groups() + group.number()];
  }

  template <class Rules, class Sink>
  void match_vcs(const Rules& rules, PortId output, GroupId group, Mask requests,
                 std::uint32_t available, const Sink& sink);
  template <bool kGuess, class Rules, class Sink>
  [[gnu::always_inline]] void match_islip(const Rules& rules, Ports wanted, const Mask* guesses,
                                          const Sink& sink);
  template <bool kGuess, class Rules, class Sink>
  void match_separable(const Rules& rules, Ports wanted, const Mask* guesses, const Sink& sink);
  template <bool kGuess, class Rules>
  Winner accept(const Rules& rules, PortId input, PortId output, const Mask* guesses);
  template <class Rules>
  [[nodiscard]] Ports guess_requests(const Rules& rules, Mask* guesses);

  Mask active_{};                                // input VCs that own an output VC
  Mask nonempty_{};                              // input VCs that hold a flit
  Mask routing_{};                               // input VCs whose head waits for its route
  Ports want_switch_{};                          // outputs with a nonzero switch request mask
  Ports want_vc_{};                              // outputs with a nonzero VC request mask
  Ports has_free_{};                             // outputs with a nonzero free_vcs mask
  ByPort<Mask, S::room_ports> switch_requests_;  // [output]
  std::array<Mask, static_cast<std::size_t>(S::room_ports* S::room_groups)>
      vc_requests_{};                               // [output][group]
  ByPort<std::uint32_t, S::room_ports> free_vcs_;   // [output]: VCs that no packet owns
  ByPort<std::uint32_t, S::room_ports> tail_sent_;  // [output]: VCs whose last packet has left
  ByVc<SmallCount> read_;                           // [input VC]: free-running ring positions
  ByVc<SmallCount> count_;                          // [input VC]: visible flits
  ByVc<StoredVc> output_;                           // [input VC]: the output VC owned
  ByVc<SmallCount> credits_;                        // [output VC]
  ByVc<StoredVc> owner_;                            // [output VC]: the input VC, or none
  ByVc<StoredVc> vc_grant_pointer_;                 // [output VC]: input VC
  ByVc<StoredVc> vc_accept_pointer_;                // [input VC]: output VC
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
  has_free_ = static_cast<Ports>(~Ports{0});
  credits_.fill(SmallCount(config.vc_buffer));
  owner_.fill(StoredVc::none());
  free_vcs_.fill(vcs_between(0, config.vcs));
}

template <class S>
template <class Rules>
auto Router<S>::take_flit(const Rules& rules, PortVc input_vc) -> Arrival {
  const Mask mine = mask_of(input_vc);
  ++count_[input_vc];
  // First in its VC: a head wants a route, a later flit the switch if there is a credit.
  const bool first = (nonempty_ & mine) == 0;
  const bool active = (active_ & mine) != 0;
  const PortVc output_vc = output_[input_vc];
  const bool bids = first & active & (credits_[output_vc] != 0);
  const PortId output = rules.port_of(output_vc);
  nonempty_ |= mine;
  switch_requests_[output] |= only_if(bids, mine);
  want_switch_ |= port_bit(output, bids);
  return {first, first && !active};
}

template <class S>
template <class Rules>
bool Router<S>::take_credit(const Rules& rules, PortVc output_vc) {
  const std::uint32_t credits = ++credits_[output_vc];
  const PortId output = rules.port_of(output_vc);
  const StoredVc owner = owner_[output_vc];
  constexpr std::uint32_t kBits = 8 * sizeof(Mask);  // a power of two
  const Mask owner_bit = mask_of(PortVc(PortVc(owner).number() & (kBits - 1)));
  const Mask woken = only_if(!owner.is_none() & (credits == 1), owner_bit & nonempty_);
  switch_requests_[output] |= woken;
  want_switch_ |= port_bit(output, woken != 0);
  const VcRouterConfig& config = rules.config();
  if (config.wait_for_tail_credit && credits == static_cast<std::uint32_t>(config.vc_buffer)) {
    const std::uint32_t vc = std::uint32_t{1} << rules.vc_of(output_vc, output).number();
    free_vcs_[output] |= tail_sent_[output] & vc;
    has_free_ |= port_bit(output, free_vcs_[output] != 0);
  }
  return woken != 0;
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
  if (others == 0) {
    want_vc_ &= ~port_bit(output);
  }
  const std::uint32_t vc = std::uint32_t{1} << rules.vc_of(output_vc, output).number();
  free_vcs_[output] &= ~vc;
  has_free_ &= ~port_bit(output, free_vcs_[output] == 0);
  tail_sent_[output] &= ~vc;
  owner_[output_vc] = grant.input_vc;
  output_[grant.input_vc] = grant.output_vc;
  active_ |= mine;
  if (credits_[output_vc] != 0) {
    switch_requests_[output] |= mine;
    want_switch_ |= port_bit(output);
  }
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
inline auto Router<S>::depart(const Rules& rules, Winner winner, bool tail) -> Departure {
  const PortVc input_vc = winner.input_vc;
  const PortId output = winner.output;
  const PortVc output_vc = output_[input_vc];
  const VcId vc = rules.vc_of(output_vc, output);
  ++read_[input_vc];
  const std::uint32_t left = --count_[input_vc];
  const std::uint32_t credits = --credits_[output_vc];
  const Mask mine = mask_of(input_vc);
  const std::uint32_t released = static_cast<std::uint32_t>(tail) << vc.number();
  owner_[output_vc].clear_if(tail);
  active_ &= ~only_if(tail, mine);
  tail_sent_[output] |= released;
  free_vcs_[output] |= rules.config().wait_for_tail_credit ? 0 : released;
  has_free_ |= port_bit(output, free_vcs_[output] != 0);
  const bool stops = tail | (left == 0) | (credits == 0);
  const Mask requests = switch_requests_[output] & ~only_if(stops, mine);
  switch_requests_[output] = requests;
  want_switch_ &= ~port_bit(output, requests == 0);
  nonempty_ &= ~only_if(left == 0, mine);
  return {vc, tail && left != 0};
}

}  // namespace ww::sim::net

#include "vc_router/router_allocate.hpp"
