#include "network/mesh/lane_mesh.hpp"

#include "network/mesh/config.hpp"
#include "network/mesh/lane_engine.hpp"
#include "network/mesh/lane_inspect.hpp"
#include "vc_router/keys.hpp"
#include "ww/core/vector_limit.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
#ifdef WW_HAS_LANES
namespace {

template <int kVcs>
std::unique_ptr<Network> make_with_room(const NetworkConfig& config) {
  if (config.own<VcRouterConfig>().vc_buffer <= 8) {
    return std::make_unique<lanes::LaneMesh<kVcs, 8>>(config);
  }
  return std::make_unique<lanes::LaneMesh<kVcs, 16>>(config);
}

}  // namespace
#endif

bool fits_lanes([[maybe_unused]] const NetworkConfig& config) {
#ifdef WW_HAS_LANES
  const auto& router = config.own<VcRouterConfig>();
  const bool host = vector_limit() == VectorLimit::avx512 &&
                    __builtin_cpu_supports("avx512f") != 0 &&
                    __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool vcs = router.vcs == 2 || router.vcs == 4 || router.vcs == 5;
  return host && vcs && router.vc_buffer <= 16 && config.concentration == 1 &&
         config.classes == 1 && !has_long_stages(router) && router.routing_delay == 0 &&
         !router.wait_for_tail_credit && router.vc_allocator == Allocator::islip &&
         router.sw_allocator == Allocator::islip && !config.count_toggles &&
         config.own<NodeDistances>().um.empty();
#else
  return false;
#endif
}

std::unique_ptr<Network> make_lane_mesh([[maybe_unused]] const NetworkConfig& config) {
#ifdef WW_HAS_LANES
  switch (config.own<VcRouterConfig>().vcs) {
    case 2: return make_with_room<2>(config);
    case 4: return make_with_room<4>(config);
    case 5: return make_with_room<5>(config);
    default: break;
  }
#endif
  return nullptr;
}

}  // namespace ww::sim::net
