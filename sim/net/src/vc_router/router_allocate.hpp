// The allocators of Router: which input VC gets which output VC, which input gets the switch.
#pragma once

#include "vc_router/router.hpp"

namespace ww::sim::net {

template <class S>
template <class Rules, class Sink>
inline void Router<S>::allocate_vcs(const Rules& rules, const Sink& sink) {
  for_each_bit<PortId>(want_vc_, [&](PortId output) {
    for (std::uint32_t number = 0; number < rules.groups(); ++number) {
      const GroupId group(number);
      const Mask requests = vc_requests(rules, output, group);
      const std::uint32_t available = free_for(rules, output, group);
      if (available == 0 || (rules.groups() > 1 && requests == 0)) {
        continue;
      }
      if (without_lowest(requests) == 0) {
        const PortVc input_vc(lowest(requests));
        const int start = accept_start(rules, output, input_vc);
        grant_vc(rules, output, group, input_vc, first_from(available, start), sink);
      } else {
        match_vcs(rules, output, group, requests, available, sink);
      }
    }
  });
}

// Where an input VC begins to look among the VCs of an output.
template <class S>
template <class Rules>
inline int Router<S>::accept_start(const Rules& rules, PortId output, PortVc input_vc) const {
  const std::uint32_t start =
      PortVc(vc_accept_pointer_[input_vc]).number() - rules.vc_at(output, VcId{}).number();
  return static_cast<int>(only_if(start < rules.vcs(), start));
}

template <class S>
template <class Rules, class Sink>
inline void Router<S>::grant_vc(const Rules& rules, PortId output, GroupId group, PortVc input_vc,
                                int vc, const Sink& sink) {
  const PortVc output_vc = rules.vc_at(output, VcId(vc));
  vc_grant_pointer_[output_vc] = after(input_vc, rules.all_vcs());
  vc_accept_pointer_[input_vc] = after(output_vc, rules.all_vcs());
  sink(VcGrant{input_vc, output_vc, group});
}

// All requesters want all available VCs of one output port, so a match is found per VC.
template <class S>
template <class Rules, class Sink>
void Router<S>::match_vcs(const Rules& rules, PortId output, GroupId group, Mask requests,
                          std::uint32_t available, const Sink& sink) {
  const auto start_of = [&](PortVc input_vc) { return accept_start(rules, output, input_vc); };
  const auto grant = [&](PortVc input_vc, int vc) {
    grant_vc(rules, output, group, input_vc, vc, sink);
  };
  const auto pointer_of = [&](VcId vc) {
    const PortVc pointer = vc_grant_pointer_[rules.vc_at(output, vc)];
    return static_cast<int>(pointer.number());
  };
  if (rules.config().vc_allocator == Allocator::islip) {
    // Grant: every free VC picks a requester. Accept: a requester picks among its grants.
    std::array<std::uint32_t, static_cast<std::size_t>(S::room_vcs)> offers;
    Mask chosen = 0;
    for_each_bit<VcId>(available, [&](VcId vc) {
      const PortVc input_vc(first_from(rules.by_priority(requests), pointer_of(vc)));
      if ((chosen & mask_of(input_vc)) == 0) {
        chosen |= mask_of(input_vc);
        offers[input_vc.number()] = 0;
      }
      offers[input_vc.number()] |= std::uint32_t{1} << vc.number();
    });
    for_each_bit<PortVc>(chosen, [&](PortVc input_vc) {
      grant(input_vc, first_from(offers[input_vc.number()], start_of(input_vc)));
    });
    return;
  }
  // Separable, inputs first: a requester picks one VC, each VC picks among those.
  std::array<Mask, 32> askers;
  std::uint32_t asked = 0;
  for_each_bit<PortVc>(requests, [&](PortVc input_vc) {
    const VcId vc(first_from(available, start_of(input_vc)));
    if ((asked >> vc.number() & 1u) == 0) {
      asked |= std::uint32_t{1} << vc.number();
      askers[vc.number()] = 0;
    }
    askers[vc.number()] |= mask_of(input_vc);
  });
  for_each_bit<VcId>(asked, [&](VcId vc) {
    const Mask mine = rules.by_priority(askers[vc.number()]);
    grant(PortVc(first_from(mine, pointer_of(vc))), static_cast<int>(vc.number()));
  });
}

// Heads bid as well where some VC that they could get is free and has a credit. Returns the outputs
// bid for.
template <class S>
template <class Rules>
auto Router<S>::guess_requests(const Rules& rules, Mask* guesses) -> Ports {
  Ports wanted = 0;
  for_each_bit<PortId>(want_vc_, [&](PortId output) {
    std::uint32_t usable = 0;
    for_each_bit<VcId>(rules.vcs_of(free_, output), [&](VcId vc) {
      const bool credited = credits_[rules.vc_at(output, vc)] != 0;
      usable |= static_cast<std::uint32_t>(credited) << vc.number();
    });
    Mask& guess = guesses[output.number()];
    for (std::uint32_t number = 0; number < rules.groups(); ++number) {
      const GroupId group(number);
      if ((usable & rules.group_vcs(output, group)) != 0) {
        guess |= vc_requests(rules, output, group);
      }
    }
    wanted |= port_bit(output, guess != 0);
  });
  return wanted;
}

template <class S>
template <bool kGuess, class Rules, class Sink>
inline void Router<S>::allocate_switch(const Rules& rules, Mask bidders, Ports open,
                                       const Sink& sink) {
  Ports wanted = 0;
  std::array<Mask, static_cast<std::size_t>(kGuess ? S::room_ports : 1)> guesses{};
  const Mask* guess_data = nullptr;
  if constexpr (kGuess) {
    if (rules.config().speculative) {
      wanted = guess_requests(rules, guesses.data());
      guess_data = guesses.data();
    }
  }
  if (wanted == 0 && bidders == 0) {
    return;
  }
  if (guess_data == nullptr && without_lowest(bidders) == 0) {
    // One bidder: every allocator agrees.
    const PortVc input_vc(lowest(bidders));
    const PortId output = rules.port_of(output_[input_vc]);
    if ((open & port_bit(output)) != 0) {
      pass_pointers(rules, input_vc, output);
      sink(Winner{input_vc, output, false});
    }
    return;
  }
  if constexpr (S::ports > 0) {
    for (std::uint32_t output = 0; output < S::ports; ++output) {
      wanted |= port_bit(PortId(output), (owners_[PortId(output)] & bidders) != 0);
    }
  } else {
    for_each_bit<PortVc>(
        bidders, [&](PortVc input_vc) { wanted |= port_bit(rules.port_of(output_[input_vc])); });
  }
  wanted &= open;
  if (rules.config().sw_allocator == Allocator::islip) {
    match_islip<kGuess>(rules, bidders, wanted, guess_data, sink);
  } else {
    match_separable<kGuess>(rules, bidders, wanted, guess_data, sink);
  }
}

// The switch's pointers go on behind who has won it.
template <class S>
template <class Rules>
inline void Router<S>::pass_pointers(const Rules& rules, PortVc input_vc, PortId output) {
  const PortId input = rules.port_of(input_vc);
  switch_grant_pointer_[output] = after(input, rules.ports());
  switch_accept_pointer_[input] = after(output, rules.ports());
  switch_vc_pointer_[input] = after(rules.vc_of(input_vc, input), rules.vcs());
}

template <class S>
template <class Rules>
inline void Router<S>::grant_alone(const Rules& rules, PortVc input_vc, PortId output,
                                   PortVc output_vc) {
  vc_grant_pointer_[output_vc] = after(input_vc, rules.all_vcs());
  vc_accept_pointer_[input_vc] = after(output_vc, rules.all_vcs());
  pass_pointers(rules, input_vc, output);
}

// Within an input and output the VC at or after the pointer wins, sure requests before guesses.
template <class S>
template <bool kGuess, class Rules>
auto Router<S>::accept(const Rules& rules, Mask bidders, PortId input, PortId output,
                       const Mask* guesses) -> Winner {
  switch_grant_pointer_[output] = after(input, rules.ports());
  switch_accept_pointer_[input] = after(output, rules.ports());
  std::uint32_t mine =
      rules.vcs_of(rules.by_priority(bidders & owners_[output] & rules.of_port(input)), input);
  bool guess = false;
  if constexpr (kGuess) {
    if (mine == 0) {
      guess = true;
      mine = rules.vcs_of(guesses[output.number()], input);
    }
  }
  const VcId pointer = switch_vc_pointer_[input];
  const VcId vc(first_from(mine, static_cast<int>(pointer.number())));
  switch_vc_pointer_[input] = after(vc, rules.vcs());
  return Winner{rules.vc_at(input, vc), output, guess};
}

template <class S>
template <bool kGuess, class Rules, class Sink>
inline void Router<S>::match_islip(const Rules& rules, Mask bidders, Ports wanted,
                                   const Mask* guesses, const Sink& sink) {
  IdArray<PortId, Ports, S::room_ports> offers{};
  Ports inputs = 0;
  for_each_bit<PortId>(wanted, [&](PortId output) {
    Mask bids = bidders & owners_[output];
    if constexpr (kGuess) {
      if (guesses != nullptr) {
        bids |= guesses[output.number()];
      }
    }
    const PortVc start = rules.vc_at(switch_grant_pointer_[output], VcId{});
    const PortVc input_vc(first_from(rules.by_priority(bids), static_cast<int>(start.number())));
    const PortId input = rules.port_of(input_vc);
    inputs |= port_bit(input);
    offers[input] |= port_bit(output);
  });
  for_each_bit<PortId>(inputs, [&](PortId input) {
    const PortId start = switch_accept_pointer_[input];
    const PortId output(first_from(offers[input], static_cast<int>(start.number())));
    sink(accept<kGuess>(rules, bidders, input, output, guesses));
  });
}

template <class S>
template <bool kGuess, class Rules, class Sink>
void Router<S>::match_separable(const Rules& rules, Mask bidders, Ports wanted, const Mask* guesses,
                                const Sink& sink) {
  using PortMasks = IdArray<PortId, Ports, S::room_ports>;
  PortMasks sure{};  // [input]: outputs bid for
  PortMasks guess{};
  const auto spread = [&](Mask bids, PortId output, PortMasks& into) {
    while (bids != 0) {
      const PortId input = rules.port_of(PortVc(lowest(bids)));
      into[input] |= port_bit(output);
      bids &= static_cast<Mask>(~rules.of_port(input));
    }
  };
  for_each_bit<PortId>(wanted, [&](PortId output) {
    spread(bidders & owners_[output], output, sure);
    if constexpr (kGuess) {
      if (guesses != nullptr) {
        spread(guesses[output.number()], output, guess);
      }
    }
  });
  PortMasks sure_of{};  // [output]: inputs that picked it
  PortMasks guess_of{};
  Ports outputs = 0;
  for (std::uint32_t number = 0; number < rules.ports(); ++number) {
    const PortId input(number);
    if ((sure[input] | guess[input]) == 0) {
      continue;
    }
    const bool is_sure = sure[input] != 0;
    const PortId start = switch_accept_pointer_[input];
    const PortId output(
        first_from(is_sure ? sure[input] : guess[input], static_cast<int>(start.number())));
    outputs |= port_bit(output);
    (is_sure ? sure_of : guess_of)[output] |= port_bit(input);
  }
  for_each_bit<PortId>(outputs, [&](PortId output) {
    const PortId start = switch_grant_pointer_[output];
    const PortId input(first_from(sure_of[output] != 0 ? sure_of[output] : guess_of[output],
                                  static_cast<int>(start.number())));
    sink(accept<kGuess>(rules, bidders, input, output, guesses));
  });
}

}  // namespace ww::sim::net
