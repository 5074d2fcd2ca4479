// Looking into a LaneMesh from outside: next event, event counts, conservation, the deadlock
// detector.
#pragma once

#include "network/mesh/lane_engine.hpp"

#ifdef WW_HAS_LANES
#include <fmt/format.h>

#include "vc_router/stuck.hpp"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,bmi,bmi2,lzcnt,popcnt")

namespace ww::sim::net::lanes {

template <int kVcs, int kRoom>
std::optional<Cycles> LaneMesh<kVcs, kRoom>::next_event() const {
  return is_idle() ? std::nullopt : std::optional(now());
}

template <int kVcs, int kRoom>
power::NetworkEvents LaneMesh<kVcs, kRoom>::events() const {
  power::NetworkEvents events;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = routers_;
  for (const Band& band : bands_) {
    events.injected_flits += band.injected_flits;
    events.vc_grants += band.vc_grants;
  }
  events.ejected_flits = ejected_flits_;
  for (std::uint32_t router = 0; router < routers_; ++router) {
    events.crossbar_flits += flits_sent(router, MeshRouting::kLocalFrom);
    for (std::uint32_t port = 0; port < MeshRouting::kLocalFrom; ++port) {
      if (routing_.neighbour(RouterId(router), PortId(port))) {
        ++events.links;
        events.link_flits += flits_sent(router, port);
      }
    }
  }
  events.crossbar_flits += events.link_flits;
  events.buffer_reads = events.crossbar_flits;
  events.switch_grants = events.crossbar_flits;
  events.buffer_writes = events.injected_flits + events.link_flits;
  events.reply_buffer_flits = reply_buffers_.flits();
  return events;
}

template <int kVcs, int kRoom>
std::vector<LinkUse> LaneMesh<kVcs, kRoom>::link_use() const {
  std::vector<LinkUse> uses;
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (std::uint32_t port = 0; port < MeshRouting::kLocalFrom; ++port) {
      if (const auto to = routing_.neighbour(RouterId(router), PortId(port))) {
        uses.push_back(LinkUse{router, to->number(), flits_sent(router, port), 0});
      }
    }
  }
  return uses;
}

template <int kVcs, int kRoom>
Status LaneMesh<kVcs, kRoom>::check_conservation() const {
  // [router][VC]
  std::vector<std::uint32_t> behind(groups_.size() * kLanes * kStride);  // of input VCs
  std::vector<std::uint32_t> coming(behind.size());                      // credits of output VCs
  std::uint64_t inside = 0;
  const auto count = [](std::vector<std::uint32_t>& counts, std::size_t router,
                        std::uint32_t mask) {
    for_each_set(mask, [&](std::uint32_t vc) { ++counts[router * kStride + vc]; });
  };
  const auto around = [&](const std::uint32_t* words, std::uint32_t router) {
    const std::uint32_t* at = words + router;
    return (at[1] >> kVcs & field(0)) | (at[-1] << kVcs & field(1)) |
           (at[width_] >> kVcs & field(2)) | (at[-width_] << kVcs & field(3));
  };
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (const Row& row : groups_[router / kLanes].held) {
      count(behind, router, row.lane[router % kLanes]);
    }
    for (std::int64_t ago = 1; ago <= flit_delay_; ++ago) {
      count(behind, router, around(forward_.at(now_ - ago), router));
    }
    for (std::int64_t ahead = 0; ahead < kTerminalDelay; ++ahead) {
      count(behind, router, entering_.at(now_ + ahead)[router]);
    }
    for (std::int64_t ago = 1; ago <= credit_delay_; ++ago) {
      count(coming, router, around(back_.at(now_ - ago), router));
    }
    for (std::int64_t ago = 1; counts_exit_credits_ && ago <= exit_credit_delay_; ++ago) {
      count(coming, router, forward_.at(now_ - ago)[router] & field(kLocal));
    }
  }
  for (const std::uint32_t flits : behind) {
    inside += flits;
  }
  std::uint64_t injected = 0;
  for (const Band& band : bands_) {
    injected += band.injected_flits;
    for (const Leaving& leaving : band.leaving) {
      inside += leaving.flits;
    }
  }
  if (inside + ejected_flits_ != injected) {
    return fail(ErrorCode::bad_data, fmt::format("{} flits went in, {} came out, {} are inside",
                                                 injected, ejected_flits_, inside));
  }
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (std::uint32_t output = 0; output < kPorts; ++output) {
      const auto to = output < MeshRouting::kLocalFrom
                          ? routing_.neighbour(RouterId(router), PortId(output))
                          : std::optional<RouterId>{};
      for (std::uint32_t vc = 0; vc < kVcs; ++vc) {
        const std::uint32_t at = output * kVcs + vc;
        std::uint32_t credits = 0;
        for (std::size_t plane = 0; plane < kPlanes; ++plane) {
          const Row& row = groups_[router / kLanes].credits[plane];
          credits |= (row.lane[router % kLanes] >> at & 1u) << plane;
        }
        const std::uint32_t back = coming[router * kStride + at];
        const std::uint32_t flits =
            to ? behind[to->number() * kStride + (output ^ 1) * kVcs + vc] : 0;
        if (credits + back + flits != static_cast<std::uint32_t>(router_config_.vc_buffer)) {
          return fail(
              ErrorCode::bad_data,
              fmt::format("router {} output {} VC {}: {} credits, {} returning and {} "
                          "flits do not make {}",
                          router, output, vc, credits, back, flits, router_config_.vc_buffer));
        }
      }
    }
  }
  return {};
}

template <int kVcs, int kRoom>
std::optional<Stuck> LaneMesh<kVcs, kRoom>::stuck(Cycles patience) const {
  return find_stuck(sources_, store_, routers_, now_, last_move(), patience);
}

}  // namespace ww::sim::net::lanes

#pragma GCC pop_options
#endif
