// Looking into Mesh from outside: next event, event counts, conservation, the deadlock detector.
#pragma once

#include <fmt/format.h>

#include <cstring>

#include "impl/mesh.hpp"

namespace ww::sim::net {

template <class Mask, bool kGeneral, bool kPriority>
std::optional<Cycles> Mesh<Mask, kGeneral, kPriority>::next_event() const {
  const auto any = [](const std::uint64_t* words, int count) {
    std::uint64_t all = 0;
    for (int i = 0; i < count; ++i) {
      all |= words[i];
    }
    return all != 0;
  };
  if (any(node_live_.data(), node_words_) || any(state_.busy.data(), state_.words)) {
    return now();
  }
  for (int ahead = 0; ahead < state_.slots; ++ahead) {
    const std::size_t slot = slot_in(ahead);
    if (!ejections_[slot].empty() || ejected_bodies_[slot] != 0 ||
        any(&state_.wake[slot * static_cast<std::size_t>(state_.words)], state_.words) ||
        any(&node_wake_[slot * static_cast<std::size_t>(node_words_)], node_words_)) {
      return Cycles{static_cast<std::uint64_t>(now_ + ahead)};
    }
  }
  return std::nullopt;
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::skip_to(Cycles cycle) {
  const std::optional<Cycles> next = next_event();
  const Cycles to = next ? std::min(*next, cycle) : cycle;
  if (to > now()) {
    now_ = static_cast<std::int64_t>(to.value());
    deliveries_.clear();
  }
}

template <class Mask, bool kGeneral, bool kPriority>
power::NetworkEvents Mesh<Mask, kGeneral, kPriority>::events() const {
  power::NetworkEvents events;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = static_cast<std::uint64_t>(state_.routers);
  events.links = static_cast<std::uint64_t>(
      2 * ((state_.width - 1) * state_.height + state_.width * (state_.height - 1)));
  events.injected_flits = injected_flits_;
  events.ejected_flits = ejected_flits_;
  for (int router = 0; router < state_.routers; ++router) {
    for (int port = 0; port < state_.ports; ++port) {
      const std::uint64_t flits =
          state_.port_use[state_.at(static_cast<std::uint32_t>(router), state_.ports, port)];
      events.crossbar_flits += flits;
      events.link_flits += port < 4 ? flits : 0;
    }
  }
  events.buffer_reads = events.crossbar_flits;
  events.switch_grants = events.crossbar_flits;
  events.buffer_writes = injected_flits_ + events.link_flits;
  events.vc_grants = vc_grants_;
  events.toggles_counted = config_.count_toggles;
  for (const std::uint64_t toggles : link_toggles_) {
    events.link_toggles += toggles;
  }
  return events;
}

template <class Mask, bool kGeneral, bool kPriority>
std::vector<LinkUse> Mesh<Mask, kGeneral, kPriority>::link_use() const {
  std::vector<LinkUse> links;
  for (std::uint32_t router = 0; router < static_cast<std::uint32_t>(state_.routers); ++router) {
    for (std::uint32_t port = 0; port < 4; ++port) {
      const std::uint32_t next = state_.neighbour[router * 4 + port];
      if (next != router) {
        const std::size_t link = state_.at(router, state_.ports, static_cast<int>(port));
        links.push_back(LinkUse{router, next, state_.port_use[link],
                                config_.count_toggles ? link_toggles_[link] : 0});
      }
    }
  }
  return links;
}

template <class Mask, bool kGeneral, bool kPriority>
Status Mesh<Mask, kGeneral, kPriority>::check_conservation() const {
  const RowLayout& at = state_.row;
  const auto row_of = [&](std::uint32_t router) {
    return state_.rows.data() +
           static_cast<std::size_t>(router) * static_cast<std::size_t>(at.stride);
  };
  const auto held = [&](std::uint32_t router, int input_vc) {  // under way on the link included
    const std::uint8_t* row = row_of(router);
    return static_cast<int>(
        static_cast<std::uint8_t>(row[at.write + input_vc] - row[at.read + input_vc]));
  };
  std::uint64_t inside = 0;
  for (std::uint32_t router = 0; router < static_cast<std::uint32_t>(state_.routers); ++router) {
    for (int input_vc = 0; input_vc < at.per_vc; ++input_vc) {
      inside += static_cast<std::uint64_t>(held(router, input_vc));
    }
    for (int output = 0; output < state_.ports; ++output) {
      for (int vc = 0; vc < state_.vcs; ++vc) {
        int returning = 0;
        for (int ahead = 0; ahead < state_.slots; ++ahead) {
          const std::size_t event =
              slot_in(ahead) * static_cast<std::size_t>(state_.routers) + router;
          if ((state_.events[event] >> (16 + output) & 1u) != 0 &&
              state_.credit_vc[event * static_cast<std::size_t>(state_.ports) +
                               static_cast<std::size_t>(output)] == vc) {
            ++returning;
          }
        }
        const int credits = row_of(router)[at.credits + output * state_.vcs + vc];
        int behind = 0;
        if (output < 4) {
          const std::uint32_t next =
              state_.neighbour[router * 4 + static_cast<std::uint32_t>(output)];
          behind = next == router ? 0 : held(next, (output ^ 1) * state_.vcs + vc);
        }
        if (credits + returning + behind != config_.vc_buffer) {
          return fail(
              ErrorCode::bad_data,
              fmt::format("router {} output {} VC {}: {} credits, {} returning and {} "
                          "flits do not make {}",
                          router, output, vc, credits, returning, behind, config_.vc_buffer));
        }
      }
    }
  }
  std::uint64_t leaving = 0;
  for (std::size_t slot = 0; slot < ejections_.size(); ++slot) {
    leaving += ejections_[slot].size() + ejected_bodies_[slot];
  }
  if (inside + leaving + ejected_flits_ != injected_flits_) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} flits went in, {} came out, {} are inside", injected_flits_,
                            ejected_flits_, inside + leaving));
  }
  return {};
}

template <class Mask, bool kGeneral, bool kPriority>
std::optional<std::string> Mesh<Mask, kGeneral, kPriority>::stuck(Cycles patience) const {
  const auto limit = static_cast<std::int64_t>(patience.value());
  if (store_.inside() != 0 && now_ - last_move_ > limit) {
    return fmt::format("deadlock: {} packets inside, none has moved for {} cycles", store_.inside(),
                       now_ - last_move_);
  }
  for (std::uint32_t node = 0; node < static_cast<std::uint32_t>(state_.nodes); ++node) {
    for (int c = 0; c < state_.classes; ++c) {
      const std::size_t queue = state_.at(node, state_.classes, c);
      const std::uint32_t front = store_.front(node, c);
      if (front != kNoPacket && node_sent_[queue] != 0 && now_ - store_[front].injected > limit) {
        return fmt::format("starvation: a packet of node {} has been leaving for {} cycles", node,
                           now_ - store_[front].injected);
      }
    }
  }
  return std::nullopt;
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::count_toggles(std::uint32_t router, int output, int output_vc,
                                                    const Flit& flit) {
  std::uint16_t& index = next_flit_[state_.at(router, state_.row.per_vc, output_vc)];
  if ((flit.flags & kHead) != 0) {
    index = 0;
  }
  store_.copy_flit(store_[flit.packet], index++, flit_bytes_, word_scratch_.data());
  const std::size_t link = state_.at(router, state_.ports, output);
  std::byte* last = &last_word_[link * flit_bytes_];
  std::uint64_t toggles = 0;
  for (std::size_t i = 0; i < flit_bytes_; ++i) {
    toggles += static_cast<std::uint64_t>(
        std::popcount(static_cast<std::uint8_t>(last[i] ^ word_scratch_[i])));
  }
  std::memcpy(last, word_scratch_.data(), flit_bytes_);
  link_toggles_[link] += toggles;
}

}  // namespace ww::sim::net
