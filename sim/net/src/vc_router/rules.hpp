// Declares all that a network's routers share: sizes, VCs by group, allocators. Immutable.
#pragma once

#include <algorithm>
#include <vector>

#include "vc_router/ids.hpp"
#include "vc_router/shape.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {

// VCs `first` to `last` - 1 of a port.
[[nodiscard]] inline std::uint32_t vcs_between(int first, int last) {
  return ((std::uint32_t{1} << last) - 1) & ~((std::uint32_t{1} << first) - 1);
}
// The VCs of a message class: an even share.
[[nodiscard]] inline std::uint32_t vcs_of_class(int vcs, int classes, int message_class) {
  return vcs_between(message_class * vcs / classes, (message_class + 1) * vcs / classes);
}

struct RouterSizes {
  std::uint32_t ports{};
  std::uint32_t vcs{};
  std::uint32_t groups{};
  std::vector<std::uint32_t> group_vcs;  // [output][group]: mask over VCs
};

// kPriority: levels of input VCs, of which the first with a request is served.
template <class ShapeType, bool kPriority>
class RouterRules {
 public:
  using S = ShapeType;
  using Mask = typename S::Mask;
  static constexpr bool kLevels = kPriority;

  RouterRules(const VcRouterConfig& config, const RouterSizes& sizes, std::vector<Mask> levels)
      : config_(config),
        ports_(sizes.ports),
        vcs_(sizes.vcs),
        groups_(sizes.groups),
        port_mask_((std::uint64_t{1} << sizes.vcs) - 1),
        group_vcs_(sizes.group_vcs),
        levels_(std::move(levels)) {
    for (std::uint32_t vc = 0; vc < ports_ * vcs_; ++vc) {
      port_table_.push_back(PortId(vc / vcs_));
    }
  }

  [[nodiscard]] const VcRouterConfig& config() const { return config_; }
  [[nodiscard]] std::uint32_t ports() const { return S::ports > 0 ? S::ports : ports_; }
  [[nodiscard]] std::uint32_t vcs() const { return S::vcs > 0 ? S::vcs : vcs_; }
  [[nodiscard]] std::uint32_t groups() const { return S::groups > 0 ? S::groups : groups_; }
  [[nodiscard]] std::uint32_t all_vcs() const { return ports() * vcs(); }

  [[nodiscard]] PortId port_of(PortVc vc) const {
    if constexpr (S::vcs > 0) {
      return PortId(vc.number() / S::vcs);
    } else {
      return port_table_[vc];
    }
  }
  [[nodiscard]] PortVc vc_at(PortId port, VcId vc) const {
    return PortVc(port.number() * vcs() + vc.number());
  }
  [[nodiscard]] VcId vc_of(PortVc vc, PortId port) const {
    return VcId(vc.number() - port.number() * vcs());
  }

  // Returns one port's part of a mask over input VCs, as a mask over its VCs.
  [[nodiscard]] std::uint32_t vcs_of(const Mask& mask, PortId port) const {
    return field_of(mask, port.number() * vcs(), vcs());
  }
  [[nodiscard]] Mask of_port(PortId port) const {
    return static_cast<Mask>(port_mask_ << (port.number() * vcs()));
  }

  // VCs of an output that heads of a group may get.
  [[nodiscard]] std::uint32_t group_vcs(PortId output, GroupId group) const {
    return group_vcs_[output.number() * groups() + group.number()];
  }

  // Keeps the requests of the highest level present.
  [[nodiscard]] Mask by_priority(Mask requests) const {
    if constexpr (kPriority) {
      for (const Mask level : levels_) {
        if ((requests & level) != 0) {
          return requests & level;
        }
      }
    }
    return requests;
  }

 private:
  const VcRouterConfig config_;
  const std::uint32_t ports_;
  const std::uint32_t vcs_;
  const std::uint32_t groups_;
  const Mask port_mask_;  // the VCs of port 0
  const std::vector<std::uint32_t> group_vcs_;
  const std::vector<Mask> levels_;
  IdVector<PortVc, Packed<PortId>> port_table_;
};

}  // namespace ww::sim::net
