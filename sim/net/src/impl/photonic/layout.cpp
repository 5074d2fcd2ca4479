#include "impl/photonic/layout.hpp"

#include <algorithm>
#include <cmath>

namespace ww::sim::net::photonic {

Layout::Layout(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.photonic;
  const int count = config.width * config.height;
  const double cycles_per_mm = keys.waveguide_ps_per_mm * 1e-6 * keys.optical_mhz;
  pitch_mm_ = std::sqrt(keys.die_mm2 / count);
  // Up along the first column; an odd number of rows ends at the other side.
  const int way_back = config.height - 1 + (config.height % 2 == 0 ? 0 : config.width - 1);
  loop_mm_ = pitch_mm_ * (count - 1 + way_back);
  loop_exact_ = loop_mm_ * cycles_per_mm;
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
  if (keys.llc_stations.empty()) {
    for (int position = 1; position < count; position += 2) {
      llc_mask_ |= std::uint64_t{1} << position;
    }
  }
  for (const std::uint32_t router : keys.llc_stations) {
    llc_mask_ |= std::uint64_t{1} << position_of_[router];
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
