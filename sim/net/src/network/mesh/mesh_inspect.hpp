// Looking into Mesh from outside: next event, event counts, conservation, the deadlock detector.
#pragma once

#include <fmt/format.h>

#include <cstring>

#include "network/mesh/mesh.hpp"

namespace ww::sim::net {

template <class S, bool kGeneral, bool kPriority>
std::optional<Cycles> Mesh<S, kGeneral, kPriority>::next_event() const {
  const auto any = [](const std::uint64_t* words, std::size_t count) {
    return std::any_of(words, words + count, [](std::uint64_t word) { return word != 0; });
  };
  if (any(node_live_.data(), node_words_) || any(busy_.data(), words_)) {
    return now();
  }
  for (std::size_t ahead = 0; ahead < slots_; ++ahead) {
    const WheelSlot& slot = wheel_[(static_cast<std::size_t>(now_) + ahead) & slot_mask_];
    if ((slot.arrivals.size | slot.credits.size | slot.node_credits.size | slot.ejections.size) !=
            0 ||
        slot.ejected_flits != 0) {
      return Cycles{static_cast<std::uint64_t>(now_) + ahead};
    }
  }
  return std::nullopt;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::skip_to(Cycles cycle) {
  const std::optional<Cycles> next = next_event();
  const Cycles to = next ? std::min(*next, cycle) : cycle;
  if (to > now()) {
    // Nothing changes but what routers tell each other, which settles within the mesh's diameter
    // and the bits of a value.
    const auto settled = static_cast<std::uint64_t>(config_.width + config_.height + 32);
    for (std::uint64_t left = std::min((to - now()).value(), settled); regional_ && left != 0;
         --left) {
      share_congestion();
    }
    now_ = static_cast<std::int64_t>(to.value());
    deliveries_.clear();
  }
}

template <class S, bool kGeneral, bool kPriority>
power::NetworkEvents Mesh<S, kGeneral, kPriority>::events() const {
  const auto width = static_cast<std::uint64_t>(config_.width);
  const auto height = static_cast<std::uint64_t>(config_.height);
  power::NetworkEvents events;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = routers_;
  events.links = 2 * ((width - 1) * height + width * (height - 1));
  events.injected_flits = injected_flits_;
  events.ejected_flits = ejected_flits_;
  for (const Block& block : blocks_) {
    for (int port = 0; port < ports(); ++port) {
      const std::uint64_t flits = block.port_use[static_cast<std::size_t>(port)];
      events.crossbar_flits += flits;
      events.link_flits += port < 4 ? flits : 0;
    }
  }
  events.buffer_reads = events.crossbar_flits;
  events.switch_grants = events.crossbar_flits;
  events.buffer_writes = injected_flits_ + events.link_flits;
  events.vc_grants = vc_grants_;
  events.reply_buffer_flits = reply_buffers_.flits();
  events.toggles_counted = config_.count_toggles;
  for (const std::uint64_t toggles : link_toggles_) {
    events.link_toggles += toggles;
  }
  return events;
}

template <class S, bool kGeneral, bool kPriority>
std::vector<LinkUse> Mesh<S, kGeneral, kPriority>::link_use() const {
  std::vector<LinkUse> links;
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (std::size_t port = 0; port < 4; ++port) {
      const std::uint32_t next = blocks_[router].neighbour[port];
      if (next != router) {
        const std::size_t link = router * static_cast<std::size_t>(ports()) + port;
        links.push_back(LinkUse{router, next, blocks_[router].port_use[port],
                                config_.count_toggles ? link_toggles_[link] : 0});
      }
    }
  }
  return links;
}

template <class S, bool kGeneral, bool kPriority>
Status Mesh<S, kGeneral, kPriority>::check_conservation() const {
  const auto held = [&](std::uint32_t router, int input_vc) {  // under way on the link included
    const auto i = static_cast<std::size_t>(input_vc);
    return static_cast<int>(static_cast<Small>(
        static_cast<int>(write_[(static_cast<std::size_t>(router) << vc_shift_) + i]) -
        static_cast<int>(blocks_[router].read[i])));
  };
  std::vector<int> returning(static_cast<std::size_t>(routers_) << vc_shift_);
  std::uint64_t leaving = 0;
  for (const WheelSlot& slot : wheel_) {
    for (std::uint32_t i = 0; i < slot.credits.size; ++i) {
      ++returning[slot.credits.items[i]];
    }
    leaving += slot.ejected_flits;
  }
  std::uint64_t inside = 0;
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (int any_vc = 0; any_vc < ports() * vcs(); ++any_vc) {
      inside += static_cast<std::uint64_t>(held(router, any_vc));
      const int output = port_of(any_vc);
      const auto v = static_cast<std::size_t>(any_vc);
      const auto credits = static_cast<int>(blocks_[router].credits[v]);
      const int back = returning[(static_cast<std::size_t>(router) << vc_shift_) + v];
      int behind = 0;
      if (output < 4) {
        const std::uint32_t next = blocks_[router].neighbour[static_cast<std::size_t>(output)];
        behind = next == router ? 0 : held(next, (output ^ 1) * vcs() + any_vc % vcs());
      }
      if (credits + back + behind != config_.vc_buffer) {
        return fail(
            ErrorCode::bad_data,
            fmt::format("router {} output {} VC {}: {} credits, {} returning and {} flits "
                        "do not make {}",
                        router, output, any_vc % vcs(), credits, back, behind, config_.vc_buffer));
      }
    }
  }
  if (inside + leaving + ejected_flits_ != injected_flits_) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} flits went in, {} came out, {} are inside", injected_flits_,
                            ejected_flits_, inside + leaving));
  }
  return {};
}

template <class S, bool kGeneral, bool kPriority>
std::optional<Stuck> Mesh<S, kGeneral, kPriority>::stuck(Cycles patience) const {
  const auto limit = static_cast<std::int64_t>(patience.value());
  if (store_.inside() != 0 && now_ - last_move_ > limit) {
    return Stuck{Stuck::Kind::deadlock,
                 fmt::format("deadlock: {} packets inside, none has moved for {} cycles",
                             store_.inside(), now_ - last_move_)};
  }
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    std::int64_t waiting = 0;
    for (int c = 0; c < classes_; ++c) {
      const std::uint32_t front = store_.front(node, c);
      if (front != kNoPacket) {
        waiting = std::max(waiting, now_ - std::max(store_[front].created, node_last_send_[node]));
      }
    }
    if (waiting > limit) {
      return Stuck{
          Stuck::Kind::starvation,
          fmt::format("starvation: node {} has had no flit accepted for {} cycles", node, waiting)};
    }
  }
  return std::nullopt;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::count_toggles(std::uint32_t router, int output, int output_vc,
                                                 const Flit& flit) {
  std::uint16_t& index = next_flit_[router * static_cast<std::size_t>(ports() * vcs()) +
                                    static_cast<std::size_t>(output_vc)];
  if ((static_cast<int>(flit.flags) & kHead) != 0) {
    index = 0;
  }
  store_.copy_flit(store_[flit.packet], index++, flit_bytes_, word_scratch_.data());
  const std::size_t link =
      router * static_cast<std::size_t>(ports()) + static_cast<std::size_t>(output);
  std::byte* last = &last_word_[link * flit_bytes_];
  link_toggles_[link] += transitions(last, word_scratch_.data(), flit_bytes_);
  std::copy(word_scratch_.begin(), word_scratch_.end(), last);
}

}  // namespace ww::sim::net
