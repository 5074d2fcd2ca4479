// Mesh's construction: sizes, tables and empty buffers.
#pragma once

#include "network/mesh/config.hpp"
#include "network/mesh/mesh.hpp"

namespace ww::sim::net {

// The longest time from winning a switch to an event that it causes, plus one. With a crossbar of
// several cycles a flit waits for a batch, its traversal, and the flits of its batch before it.
[[nodiscard]] inline std::size_t wheel_slots(const NetworkConfig& config) {
  const int sent = config.st_delay == 1 ? 1 : 3 * config.st_delay;
  const int longest = sent + std::max(4 + config.credit_delay, config.link_delay + 1);
  return std::bit_ceil(
      static_cast<std::size_t>(std::max(longest, config.link_delay + config.credit_delay + 1) + 1));
}

template <class S, bool kGeneral, bool kPriority>
Mesh<S, kGeneral, kPriority>::Mesh(const NetworkConfig& config)
    : config_(config),
      ports_(4 + config.concentration),
      vcs_(config.vcs),
      groups_(config.network == "mesh-adaptive" ? 2 * config.classes : config.classes),
      routers_(static_cast<std::uint32_t>(config.width * config.height)),
      nodes_(static_cast<std::uint32_t>(node_count(config))),
      nodes_per_router_(static_cast<std::uint32_t>(config.concentration)),
      classes_(config.classes),
      adaptive_(config.network == "mesh-adaptive"),
      regional_(adaptive_ && config.own<MeshConfig>().adaptive == "rca"),
      large_(routers_ * sizeof(Block) > std::size_t{1} << 18),
      lookahead_(config.routing_delay == 0),
      wait_for_tail_(config.wait_for_tail_credit),
      flit_delay_(config.st_delay + 1 + config.link_delay),
      credit_delay_(1 + config.link_delay + config.credit_delay),
      vc_shift_(static_cast<int>(std::bit_width(static_cast<unsigned>(ports_ * vcs_ - 1)))),
      ring_shift_(static_cast<int>(std::bit_width(static_cast<unsigned>(config.vc_buffer - 1)))),
      ring_mask_((std::size_t{1} << ring_shift_) - 1),
      slots_(wheel_slots(config)),
      slot_mask_(slots_ - 1),
      words_((routers_ + 63) / 64),
      node_words_((nodes_ + 63) / 64),
      port_mask_(static_cast<Mask>(bit<Mask>(config.vcs) - 1)),
      store_(static_cast<int>(nodes_), config.classes),
      reply_buffers_(config),
      flit_bytes_(static_cast<std::size_t>(config.flit_bits) / 8) {
  build();
  build_tables();
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::build() {
  const auto classes = static_cast<std::size_t>(classes_);
  const auto ports = static_cast<std::size_t>(ports_);
  const auto vcs = static_cast<std::size_t>(vcs_);
  const std::uint32_t all_vcs = (std::uint32_t{1} << vcs_) - 1;
  blocks_.resize(routers_);
  // One router more: the rings behind local ports, written but never read.
  flits_.resize((static_cast<std::size_t>(routers_ + 1) << vc_shift_) << ring_shift_);
  write_.resize(static_cast<std::size_t>(routers_ + 1) << vc_shift_);
  wheel_.resize(slots_);
  for (WheelSlot& slot : wheel_) {
    slot.arrivals.items.resize(routers_ * ports + 1);
    slot.credits.items.resize(routers_ * ports + 1);
    slot.node_credits.items.resize(nodes_ + 1);
    slot.ejections.items.resize(nodes_ + 1);
  }
  winners_.resize(routers_ * ports);
  busy_.resize(words_);
  for (std::uint32_t router = 0; router < routers_; ++router) {
    Block& block = blocks_[router];
    block.credits.fill(static_cast<Small>(config_.vc_buffer));
    block.owner.fill(kNobody);
    block.free_vcs.fill(all_vcs);
    const auto width = static_cast<std::uint32_t>(config_.width);
    const std::uint32_t x = router % width;
    const std::uint32_t y = router / width;
    block.x = static_cast<Small>(x);
    block.y = static_cast<Small>(y);
    block.neighbour = {x + 1 < width ? router + 1 : router, x > 0 ? router - 1 : router,
                       router + width < routers_ ? router + width : router,
                       y > 0 ? router - width : router};
    for (std::uint32_t port = 0; port < 4; ++port) {
      const std::uint32_t next = block.neighbour[port];
      const std::uint32_t theirs = (port ^ 1) * static_cast<std::uint32_t>(vcs_);
      block.forward[port] = (next << vc_shift_) + theirs;
      block.back[port] = (next << vc_shift_) + theirs;
    }
    for (std::uint32_t port = 4; port < ports; ++port) {
      block.forward[port] = routers_ << vc_shift_;
      block.back[port] = (router * nodes_per_router_ + port - 4) << kNodeShift;
    }
  }
  node_credits_.assign(nodes_ * vcs, static_cast<Small>(config_.vc_buffer));
  node_free_.assign(nodes_, all_vcs);
  node_tail_sent_.resize(nodes_);
  node_credited_.assign(nodes_, all_vcs);
  node_last_vc_.assign(nodes_ * classes, -1);
  node_last_class_.resize(nodes_);
  node_vc_.resize(nodes_ * classes);
  node_sent_.resize(nodes_ * classes);
  node_last_send_.resize(nodes_);
  node_live_.resize(node_words_);
  node_waiting_.resize(node_words_);
  deliveries_.reserve(nodes_);
  if (regional_) {
    congestion_.resize(routers_);
    congestion_before_.resize(routers_);
  }
  if (kGeneral) {
    batches_.resize(routers_);
    held_vc_grants_.resize(routers_ * ports * vcs);
    held_winners_.resize(routers_ * ports);
  }
  if (config_.count_toggles) {
    last_word_.resize(routers_ * ports * flit_bytes_);
    link_toggles_.resize(routers_ * ports);
    next_flit_.resize(routers_ * ports * vcs);
    word_scratch_.resize(flit_bytes_);
  }
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::build_tables() {
  for (int i = 0; i < ports_ * vcs_; ++i) {
    port_table_.push_back(static_cast<Small>(i / vcs_));
  }
  const auto between = [](int first, int last) {  // VCs first to last - 1
    return ((std::uint32_t{1} << last) - 1) & ~((std::uint32_t{1} << first) - 1);
  };
  group_vcs_.resize(static_cast<std::size_t>(ports_ * groups_));
  for (int c = 0; c < classes_; ++c) {
    const int first = c * vcs_ / classes_;
    const int last = (c + 1) * vcs_ / classes_;
    class_vcs_.push_back(between(first, last));
    for (int port = 0; port < ports_; ++port) {
      std::uint32_t* of_port = &group_vcs_[static_cast<std::size_t>(port * groups_)];
      if (!adaptive_) {
        of_port[c] = between(first, last);
        continue;
      }
      const bool on_y = port == 2 || port == 3;
      const int middle = on_y ? (first + last) / 2 : last;
      of_port[2 * c] = between(first, middle);
      of_port[2 * c + 1] = between(middle, last);
    }
  }
  if constexpr (kPriority) {
    // Under way before being injected; within both, replies (the last class) before requests.
    for (const bool local : {false, true}) {
      for (int c = classes_ - 1; c >= 0; --c) {
        Mask level{};
        for (int port = local ? 4 : 0; port < (local ? ports_ : 4); ++port) {
          level |= static_cast<Mask>(static_cast<Mask>(class_vcs_[static_cast<std::size_t>(c)])
                                     << (port * vcs_));
        }
        levels_.push_back(level);
      }
    }
  }
}

}  // namespace ww::sim::net
