#include "network/photonic/layout.hpp"

#include <algorithm>
#include <cmath>

#include "ww/sim/net/photonic_config.hpp"

namespace ww::sim::net::photonic {

std::vector<std::uint32_t> llc_routers(const NetworkConfig& config) {
  if (!config.own<PhotonicConfig>().llc_stations.empty()) {
    return config.own<PhotonicConfig>().llc_stations;
  }
  std::vector<std::uint32_t> routers;
  for (const std::uint32_t node : config.memory_nodes) {
    routers.push_back(node / static_cast<std::uint32_t>(config.concentration));
  }
  std::sort(routers.begin(), routers.end());
  routers.erase(std::unique(routers.begin(), routers.end()), routers.end());
  return routers;
}

Layout::Layout(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.own<PhotonicConfig>();
  const int count = config.width * config.height;
  const double cycles_per_mm = keys.waveguide_ps_per_mm * 1e-6 * keys.optical_mhz;
  pitch_mm_ = std::sqrt(keys.die_mm2 / count);
  // Up along the first column; an odd number of rows ends at the other side.
  const int way_back = config.height - 1 + (config.height % 2 == 0 ? 0 : config.width - 1);
  // The pass, and the way back from the last station to the first.
  loop_exact_ = pitch_mm_ * (count - 1 + way_back) * cycles_per_mm;
  loop_cycles_ = std::max(1, static_cast<int>(std::ceil(loop_exact_ - 1e-9)));
  position_of_.resize(static_cast<std::size_t>(count));
  router_of_.resize(static_cast<std::size_t>(count));
  slot_mask_.resize(static_cast<std::size_t>(loop_cycles_));
  for (int position = 0; position < count; ++position) {
    const int y = position / config.width;
    const int along = position % config.width;
    const int router = y * config.width + (y % 2 == 0 ? along : config.width - 1 - along);
    router_of_[static_cast<std::size_t>(position)] = router;
    position_of_[static_cast<std::size_t>(router)] = position;
    at_cycles_.push_back(position * pitch_mm_ * cycles_per_mm);
    slot_.push_back(std::min(loop_cycles_ - 1, static_cast<int>(at_cycles_.back())));
    slot_mask_[static_cast<std::size_t>(slot_.back())] |= std::uint64_t{1} << position;
  }
  for (const std::uint32_t router : llc_routers(config)) {
    llc_mask_ |= std::uint64_t{1} << position_of_[router];
  }
  if (llc_mask_ == 0) {
    for (int position = 1; position < count; position += 2) {
      llc_mask_ |= std::uint64_t{1} << position;
    }
  }
}

int Layout::flight(int from, int to) const {
  const double ahead =
      at_cycles_[static_cast<std::size_t>(to)] - at_cycles_[static_cast<std::size_t>(from)];
  return std::max(1, static_cast<int>(std::ceil((ahead > 0 ? ahead : ahead + loop_exact_) - 1e-9)));
}

std::vector<std::uint32_t> nodes_of(const NetworkConfig& config, bool llc) {
  const Layout layout(config);
  std::vector<std::uint32_t> nodes;
  for (int node = 0; node < node_count(config); ++node) {
    if (layout.is_llc(layout.position_of_router(node / config.concentration)) == llc) {
      nodes.push_back(static_cast<std::uint32_t>(node));
    }
  }
  return nodes;
}

}  // namespace ww::sim::net::photonic
