// The allocators of Mesh: which input VC gets which output VC, which input gets the switch.
#pragma once

#include "network/mesh/mesh.hpp"

namespace ww::sim::net {

template <class S, bool kGeneral, bool kPriority>
auto Mesh<S, kGeneral, kPriority>::by_priority(Mask requests) const -> Mask {
  if constexpr (kPriority) {
    for (const Mask level : levels_) {
      if ((requests & level) != 0) {
        return requests & level;
      }
    }
  }
  return requests;
}

template <class S, bool kGeneral, bool kPriority>
template <class Sink>
void Mesh<S, kGeneral, kPriority>::allocate_vcs(Block& block, const Sink& sink) {
  for (std::uint32_t outputs = block.want_vc & block.has_free; outputs != 0;
       outputs &= outputs - 1) {
    const int output = lowest(outputs);
    const std::uint32_t free = block.free_vcs[static_cast<std::size_t>(output)];
    for (int group = 0; group < groups(); ++group) {
      const auto at = static_cast<std::size_t>(output * groups() + group);
      const Mask requests = block.vc_requests[at];
      const std::uint32_t available = groups() == 1 ? free : free & group_vcs_[at];
      if (groups() == 1 || (requests != 0 && available != 0)) {
        match_vcs(block, output, group, requests, available, sink);
      }
    }
  }
}

// All requesters want all available VCs of one output port, so a match is found per VC.
template <class S, bool kGeneral, bool kPriority>
template <class Sink>
void Mesh<S, kGeneral, kPriority>::match_vcs(Block& block, int output, int group, Mask requests,
                                             std::uint32_t available, const Sink& sink) {
  const int all_vcs = ports() * vcs();
  const int base = output * vcs();
  const auto start_of = [&](int input_vc) {  // where this input begins among the output's VCs
    const int start =
        static_cast<int>(block.vc_accept_pointer[static_cast<std::size_t>(input_vc)]) - base;
    return only_if(static_cast<unsigned>(start) < static_cast<unsigned>(vcs()), start);
  };
  const auto grant = [&](int input_vc, int vc) {
    const int output_vc = base + vc;
    block.vc_grant_pointer[static_cast<std::size_t>(output_vc)] =
        static_cast<Small>(next_of(input_vc, all_vcs));
    block.vc_accept_pointer[static_cast<std::size_t>(input_vc)] =
        static_cast<Small>(next_of(output_vc, all_vcs));
    sink(VcGrant{static_cast<Small>(input_vc), static_cast<Small>(output_vc),
                 static_cast<Small>(group)});
  };

  if ((requests & (requests - 1)) == 0) {
    const int input_vc = lowest(requests);
    grant(input_vc, first_from(available, start_of(input_vc)));
    return;
  }

  if (config_.vc_allocator == Allocator::islip) {
    // Grant: every free VC picks a requester. Accept: a requester picks among its grants.
    std::array<std::uint32_t, static_cast<std::size_t>(S::room_vcs)> offers;
    Mask chosen = 0;
    for (std::uint32_t left = available; left != 0; left &= left - 1) {
      const int vc = lowest(left);
      const int input_vc =
          first_from(by_priority(requests),
                     static_cast<int>(block.vc_grant_pointer[static_cast<std::size_t>(base + vc)]));
      if ((chosen & bit<Mask>(input_vc)) == 0) {
        chosen |= bit<Mask>(input_vc);
        offers[static_cast<std::size_t>(input_vc)] = 0;
      }
      offers[static_cast<std::size_t>(input_vc)] |= std::uint32_t{1} << vc;
    }
    for (; chosen != 0; chosen &= chosen - 1) {
      const int input_vc = lowest(chosen);
      grant(input_vc, first_from(offers[static_cast<std::size_t>(input_vc)], start_of(input_vc)));
    }
    return;
  }
  // Separable, inputs first: a requester picks one VC, each VC picks among those.
  std::array<Mask, 32> askers;
  std::uint32_t asked = 0;
  for (Mask left = requests; left != 0; left &= left - 1) {
    const int input_vc = lowest(left);
    const int vc = first_from(available, start_of(input_vc));
    if ((asked >> vc & 1u) == 0) {
      asked |= std::uint32_t{1} << vc;
      askers[static_cast<std::size_t>(vc)] = 0;
    }
    askers[static_cast<std::size_t>(vc)] |= bit<Mask>(input_vc);
  }
  for (; asked != 0; asked &= asked - 1) {
    const int vc = lowest(asked);
    grant(first_from(by_priority(askers[static_cast<std::size_t>(vc)]),
                     static_cast<int>(block.vc_grant_pointer[static_cast<std::size_t>(base + vc)])),
          vc);
  }
}

// Heads bid as well where some VC that they could get is free and has a credit. Returns the outputs
// bid for.
template <class S, bool kGeneral, bool kPriority>
std::uint32_t Mesh<S, kGeneral, kPriority>::guess_requests(const Block& block,
                                                           Mask* guesses) const {
  std::uint32_t wanted = 0;
  for (std::uint32_t outputs = block.want_vc; outputs != 0; outputs &= outputs - 1) {
    const int output = lowest(outputs);
    std::uint32_t usable = 0;
    for (std::uint32_t left = block.free_vcs[static_cast<std::size_t>(output)]; left != 0;
         left &= left - 1) {
      const int vc = lowest(left);
      if (block.credits[static_cast<std::size_t>(output * vcs() + vc)] != 0) {
        usable |= std::uint32_t{1} << vc;
      }
    }
    for (int group = 0; group < groups(); ++group) {
      const auto at = static_cast<std::size_t>(output * groups() + group);
      if ((usable & group_vcs_[at]) != 0) {
        guesses[output] |= block.vc_requests[at];
      }
    }
    if (guesses[output] != 0) {
      wanted |= std::uint32_t{1} << output;
    }
  }
  return wanted;
}

template <class S, bool kGeneral, bool kPriority>
int Mesh<S, kGeneral, kPriority>::allocate_switch(Block& block, Winner* winners) {
  std::uint32_t wanted = block.want_switch;
  std::array<Mask, static_cast<std::size_t>(kGeneral ? S::room_ports : 1)> guesses{};
  const Mask* guess_data = nullptr;
  if constexpr (kGeneral) {
    if (config_.speculative) {
      wanted |= guess_requests(block, guesses.data());
      guess_data = guesses.data();
    }
  }
  if (wanted == 0) {
    return 0;
  }
  if (guess_data == nullptr && (wanted & (wanted - 1)) == 0) {
    // One output, one bidder: every allocator agrees.
    const int output = lowest(wanted);
    const Mask bids = block.switch_requests[static_cast<std::size_t>(output)];
    if ((bids & (bids - 1)) == 0) {
      const int input_vc = lowest(bids);
      const int input = port_of(input_vc);
      const int vc = input_vc - input * vcs();
      const auto i = static_cast<std::size_t>(input);
      block.switch_grant_pointer[static_cast<std::size_t>(output)] =
          static_cast<Small>(next_of(input, ports()));
      block.switch_accept_pointer[i] = static_cast<Small>(next_of(output, ports()));
      block.switch_vc_pointer[i] = static_cast<Small>(next_of(vc, vcs()));
      winners[0] = Winner{static_cast<Small>(input_vc), static_cast<Small>(output), false};
      return 1;
    }
  }
  return config_.sw_allocator == Allocator::islip
             ? match_islip(block, wanted, guess_data, winners)
             : match_separable(block, wanted, guess_data, winners);
}

// Within an input and output the VC at or after the pointer wins, sure requests before guesses.
template <class S, bool kGeneral, bool kPriority>
auto Mesh<S, kGeneral, kPriority>::accept(Block& block, int input, int output, const Mask* guesses)
    -> Winner {
  const auto i = static_cast<std::size_t>(input);
  const auto o = static_cast<std::size_t>(output);
  block.switch_grant_pointer[o] = static_cast<Small>(next_of(input, ports()));
  block.switch_accept_pointer[i] = static_cast<Small>(next_of(output, ports()));
  const int first = input * vcs();
  Mask mine = static_cast<Mask>(
      by_priority(block.switch_requests[o] & static_cast<Mask>(port_mask_ << first)) >> first);
  bool guess = false;
  if constexpr (kGeneral) {
    if (mine == 0) {
      guess = true;
      mine = static_cast<Mask>(guesses[output] >> first) & port_mask_;
    }
  }
  const int vc =
      first_from(static_cast<std::uint32_t>(mine), static_cast<int>(block.switch_vc_pointer[i]));
  block.switch_vc_pointer[i] = static_cast<Small>(next_of(vc, vcs()));
  return Winner{static_cast<Small>(first + vc), static_cast<Small>(output), guess};
}

template <class S, bool kGeneral, bool kPriority>
int Mesh<S, kGeneral, kPriority>::match_islip(Block& block, std::uint32_t wanted,
                                              const Mask* guesses, Winner* winners) {
  std::array<std::uint32_t, static_cast<std::size_t>(S::room_ports)> offers{};
  std::uint32_t inputs = 0;
  for (std::uint32_t left = wanted; left != 0; left &= left - 1) {
    const int output = lowest(left);
    const auto o = static_cast<std::size_t>(output);
    Mask bids = block.switch_requests[o];
    if constexpr (kGeneral) {
      if (guesses != nullptr) {
        bids |= guesses[output];
      }
    }
    const int input_vc =
        first_from(by_priority(bids), static_cast<int>(block.switch_grant_pointer[o]) * vcs());
    const int input = port_of(input_vc);
    inputs |= std::uint32_t{1} << input;
    offers[static_cast<std::size_t>(input)] |= std::uint32_t{1} << output;
  }
  int count = 0;
  for (; inputs != 0; inputs &= inputs - 1) {
    const int input = lowest(inputs);
    const auto i = static_cast<std::size_t>(input);
    winners[count++] =
        accept(block, input,
               first_from(offers[i], static_cast<int>(block.switch_accept_pointer[i])), guesses);
  }
  return count;
}

template <class S, bool kGeneral, bool kPriority>
int Mesh<S, kGeneral, kPriority>::match_separable(Block& block, std::uint32_t wanted,
                                                  const Mask* guesses, Winner* winners) {
  using PortMasks = std::array<std::uint32_t, static_cast<std::size_t>(S::room_ports)>;
  PortMasks sure{};  // [input]: outputs bid for
  PortMasks guess{};
  const auto spread = [&](Mask bids, int output, PortMasks& into) {
    while (bids != 0) {
      const int input = port_of(lowest(bids));
      into[static_cast<std::size_t>(input)] |= std::uint32_t{1} << output;
      bids &= static_cast<Mask>(~static_cast<Mask>(port_mask_ << (input * vcs())));
    }
  };
  for (std::uint32_t left = wanted; left != 0; left &= left - 1) {
    const int output = lowest(left);
    spread(block.switch_requests[static_cast<std::size_t>(output)], output, sure);
    if constexpr (kGeneral) {
      if (guesses != nullptr) {
        spread(guesses[output], output, guess);
      }
    }
  }
  PortMasks sure_of{};  // [output]: inputs that picked it
  PortMasks guess_of{};
  std::uint32_t outputs = 0;
  for (int input = 0; input < ports(); ++input) {
    const auto i = static_cast<std::size_t>(input);
    if ((sure[i] | guess[i]) == 0) {
      continue;
    }
    const bool is_sure = sure[i] != 0;
    const int output =
        first_from(is_sure ? sure[i] : guess[i], static_cast<int>(block.switch_accept_pointer[i]));
    outputs |= std::uint32_t{1} << output;
    (is_sure ? sure_of : guess_of)[static_cast<std::size_t>(output)] |= std::uint32_t{1} << input;
  }
  int count = 0;
  for (; outputs != 0; outputs &= outputs - 1) {
    const int output = lowest(outputs);
    const auto o = static_cast<std::size_t>(output);
    winners[count++] = accept(block,
                              first_from(sure_of[o] != 0 ? sure_of[o] : guess_of[o],
                                         static_cast<int>(block.switch_grant_pointer[o])),
                              output, guesses);
  }
  return count;
}

}  // namespace ww::sim::net
