// The allocators of Mesh: which input VC gets which output VC, which input gets the switch.
#pragma once

#include "impl/mesh.hpp"

namespace ww::sim::net {

template <class Mask, bool kGeneral, bool kPriority>
Mask Mesh<Mask, kGeneral, kPriority>::by_priority(Mask requests) const {
  if constexpr (kPriority) {
    for (const Mask level : state_.priority) {
      if ((requests & level) != 0) {
        return requests & level;
      }
    }
  }
  return requests;
}

template <class Mask, bool kGeneral, bool kPriority>
int Mesh<Mask, kGeneral, kPriority>::allocate_vcs(std::uint32_t router, RouterHead<Mask>& head,
                                                  std::uint8_t* row, VcGrant* grants) {
  int granted = 0;
  for (std::uint32_t outputs = head.want_vc; outputs != 0; outputs &= outputs - 1) {
    const int output = lowest(outputs);
    const std::uint32_t free = state_.free_vcs[state_.at(router, state_.ports, output)];
    if (free == 0) {
      continue;
    }
    const std::size_t first =
        state_.at(router, state_.ports * state_.groups, output * state_.groups);
    for (int group = 0; group < state_.groups; ++group) {
      const Mask requests = state_.vc_requests[first + static_cast<std::size_t>(group)];
      const std::uint32_t available =
          free & state_.group_vcs[static_cast<std::size_t>(output * state_.groups + group)];
      if (requests != 0 && available != 0) {
        granted += match_vcs(router, row, output, group, requests, available, grants + granted);
      }
    }
  }
  return granted;
}

// All requesters want all available VCs of one output port, so a match is found per VC.
template <class Mask, bool kGeneral, bool kPriority>
int Mesh<Mask, kGeneral, kPriority>::match_vcs(std::uint32_t /*router*/, std::uint8_t* row,
                                               int output, int group, Mask requests,
                                               std::uint32_t available, VcGrant* grants) {
  const int per_vc = state_.row.per_vc;
  const int base = output * state_.vcs;
  std::uint8_t* grant_pointer = row + state_.row.vc_grant_pointer;
  std::uint8_t* accept_pointer = row + state_.row.vc_accept_pointer;
  const auto start_of = [&](int input_vc) {  // where this input begins among the output's VCs
    const int start = accept_pointer[input_vc] - base;
    return start > 0 && start < state_.vcs ? start : 0;
  };
  const auto accept = [&](int input_vc, int vc, int index) {
    const int output_vc = base + vc;
    grant_pointer[output_vc] = static_cast<std::uint8_t>(input_vc + 1 == per_vc ? 0 : input_vc + 1);
    accept_pointer[input_vc] =
        static_cast<std::uint8_t>(output_vc + 1 == per_vc ? 0 : output_vc + 1);
    grants[index] = VcGrant{static_cast<std::uint8_t>(input_vc),
                            static_cast<std::uint8_t>(output_vc), static_cast<std::uint8_t>(group)};
  };

  if ((requests & (requests - 1)) == 0) {
    const int input_vc = lowest(requests);
    accept(input_vc, first_from(available, start_of(input_vc)), 0);
    return 1;
  }

  int granted = 0;
  if (config_.vc_allocator == Allocator::islip) {
    // Grant: every free VC picks a requester. Accept: a requester picks among its grants.
    Mask chosen = 0;
    for (std::uint32_t left = available; left != 0; left &= left - 1) {
      const int vc = lowest(left);
      const int input_vc = first_from(by_priority(requests), grant_pointer[base + vc]);
      grant_scratch_[static_cast<std::size_t>(input_vc)] |= std::uint32_t{1} << vc;
      chosen |= bit<Mask>(input_vc);
    }
    for (; chosen != 0; chosen &= chosen - 1) {
      const int input_vc = lowest(chosen);
      const std::uint32_t offers = grant_scratch_[static_cast<std::size_t>(input_vc)];
      grant_scratch_[static_cast<std::size_t>(input_vc)] = 0;
      accept(input_vc, first_from(offers, start_of(input_vc)), granted++);
    }
    return granted;
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
    const int input_vc =
        first_from(by_priority(askers[static_cast<std::size_t>(vc)]), grant_pointer[base + vc]);
    accept(input_vc, vc, granted++);
  }
  return granted;
}

template <class Mask, bool kGeneral, bool kPriority>
int Mesh<Mask, kGeneral, kPriority>::allocate_switch(std::uint32_t router, RouterHead<Mask>& head,
                                                     std::uint8_t* row, Winner* winners) {
  const Mask* requests = &state_.switch_requests[state_.at(router, state_.ports, 0)];
  if constexpr (kGeneral) {
    if (config_.speculative) {
      // Heads bid as well where some VC that they could get is free and has a credit.
      std::array<Mask, kMaxPorts> speculative{};
      std::uint32_t wanted = head.want_switch;
      for (std::uint32_t outputs = head.want_vc; outputs != 0; outputs &= outputs - 1) {
        const int output = lowest(outputs);
        std::uint32_t usable = state_.free_vcs[state_.at(router, state_.ports, output)];
        for (std::uint32_t left = usable; left != 0; left &= left - 1) {
          if (row[state_.row.credits + output * state_.vcs + lowest(left)] == 0) {
            usable &= ~(left & (~left + 1));
          }
        }
        for (int group = 0; group < state_.groups; ++group) {
          if ((usable &
               state_.group_vcs[static_cast<std::size_t>(output * state_.groups + group)]) != 0) {
            speculative[static_cast<std::size_t>(output)] |= state_.vc_requests[state_.at(
                router, state_.ports * state_.groups, output * state_.groups + group)];
          }
        }
        if (speculative[static_cast<std::size_t>(output)] != 0) {
          wanted |= std::uint32_t{1} << output;
        }
      }
      return wanted != 0 ? match_switch(row, wanted, requests, speculative.data(), winners) : 0;
    }
  }
  return head.want_switch != 0 ? match_switch(row, head.want_switch, requests, nullptr, winners)
                               : 0;
}

template <class Mask, bool kGeneral, bool kPriority>
int Mesh<Mask, kGeneral, kPriority>::match_switch(std::uint8_t* row, std::uint32_t wanted,
                                                  const Mask* requests, const Mask* speculative,
                                                  Winner* winners) {
  const int vcs = state_.vcs;
  std::uint8_t* grant_pointer = row + state_.row.sw_grant_pointer;
  std::uint8_t* accept_pointer = row + state_.row.sw_accept_pointer;
  std::uint8_t* vc_pointer = row + state_.row.sw_vc_pointer;
  int count = 0;
  // Within an input and output the VC at or after the pointer wins, sure requests before guesses.
  const auto accept = [&](int input, int output) {
    grant_pointer[output] = state_.next_port[static_cast<std::size_t>(input)];
    accept_pointer[input] = state_.next_port[static_cast<std::size_t>(output)];
    Mask mine = by_priority(requests[output] & static_cast<Mask>(port_mask_ << (input * vcs)));
    bool guess = false;
    if constexpr (kGeneral) {
      if (mine == 0) {
        guess = true;
        mine = speculative[output] & static_cast<Mask>(port_mask_ << (input * vcs));
      }
    }
    const auto of_port = static_cast<std::uint32_t>(mine >> (input * vcs));
    const int vc = first_from(of_port, vc_pointer[input]);
    vc_pointer[input] = state_.next_vc[static_cast<std::size_t>(vc)];
    winners[count++] = Winner{static_cast<std::uint8_t>(input * vcs + vc),
                              static_cast<std::uint8_t>(output), guess};
  };

  if (config_.sw_allocator == Allocator::islip) {
    std::array<std::uint32_t, kMaxPorts> offers;
    std::uint32_t inputs = 0;
    for (std::uint32_t left = wanted; left != 0; left &= left - 1) {
      const int output = lowest(left);
      Mask bids = requests[output];
      if constexpr (kGeneral) {
        if (speculative != nullptr) {
          bids |= speculative[output];
        }
      }
      const int input_vc = first_from(by_priority(bids), grant_pointer[output] * vcs);
      const int input = state_.port_of[static_cast<std::size_t>(input_vc)];
      if ((inputs >> input & 1u) == 0) {
        inputs |= std::uint32_t{1} << input;
        offers[static_cast<std::size_t>(input)] = 0;
      }
      offers[static_cast<std::size_t>(input)] |= std::uint32_t{1} << output;
    }
    for (; inputs != 0; inputs &= inputs - 1) {
      const int input = lowest(inputs);
      accept(input, first_from(offers[static_cast<std::size_t>(input)], accept_pointer[input]));
    }
    return count;
  }

  std::array<std::uint32_t, kMaxPorts> sure{};  // [input]: outputs bid for
  std::array<std::uint32_t, kMaxPorts> guess{};
  const auto spread = [&](Mask bids, int output, std::array<std::uint32_t, kMaxPorts>& into) {
    while (bids != 0) {
      const int input = state_.port_of[static_cast<std::size_t>(lowest(bids))];
      into[static_cast<std::size_t>(input)] |= std::uint32_t{1} << output;
      bids &= static_cast<Mask>(~static_cast<Mask>(port_mask_ << (input * vcs)));
    }
  };
  for (std::uint32_t left = wanted; left != 0; left &= left - 1) {
    const int output = lowest(left);
    spread(requests[output], output, sure);
    if constexpr (kGeneral) {
      if (speculative != nullptr) {
        spread(speculative[output], output, guess);
      }
    }
  }
  std::array<std::uint32_t, kMaxPorts> sure_of{};  // [output]: inputs that picked it
  std::array<std::uint32_t, kMaxPorts> guess_of{};
  std::uint32_t outputs = 0;
  for (int input = 0; input < state_.ports; ++input) {
    const auto i = static_cast<std::size_t>(input);
    if ((sure[i] | guess[i]) == 0) {
      continue;
    }
    const bool is_sure = sure[i] != 0;
    const int output = first_from(is_sure ? sure[i] : guess[i], accept_pointer[input]);
    outputs |= std::uint32_t{1} << output;
    (is_sure ? sure_of : guess_of)[static_cast<std::size_t>(output)] |= std::uint32_t{1} << input;
  }
  for (; outputs != 0; outputs &= outputs - 1) {
    const int output = lowest(outputs);
    const auto o = static_cast<std::size_t>(output);
    accept(first_from(sure_of[o] != 0 ? sure_of[o] : guess_of[o], grant_pointer[output]), output);
  }
  return count;
}

}  // namespace ww::sim::net
