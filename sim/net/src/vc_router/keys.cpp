#include "vc_router/keys.hpp"

#include <fmt/format.h>

namespace ww::sim::net {
namespace {

constexpr int kMaxInputVcs = 128;  // ports x VCs: one 128-bit mask
constexpr int kFewestPorts = 5;
constexpr int kMaxDelay = 64;
constexpr std::string_view kStage = "a stage takes a cycle";
constexpr std::string_view kRouters = "Routers";

constexpr int kMaxVcs = kMaxInputVcs / kFewestPorts;

constexpr Key<VcRouterConfig> kVcRouterKeys[] = {
    {"vcs", &VcRouterConfig::vcs,
     between(1, kMaxVcs, "each port needs a virtual channel, and the allocators' masks hold 128"),
     "", kRouters, "Virtual channels of a port", ""},
    {"vc_buffer", &VcRouterConfig::vc_buffer,
     between(1, 128, "each virtual channel needs room for a flit"), "flits", kRouters,
     "Buffer of a virtual channel", ""},
    {"routing_delay", &VcRouterConfig::routing_delay,
     between(0, kMaxDelay, "0 is lookahead routing"), "cycles", kRouters,
     "Time to compute a route; 0 computes it one router ahead", ""},
    {"vc_alloc_delay", &VcRouterConfig::vc_alloc_delay, between(1, kMaxDelay, kStage), "cycles",
     kRouters, "Time to allocate a virtual channel", ""},
    {"sw_alloc_delay", &VcRouterConfig::sw_alloc_delay, between(1, kMaxDelay, kStage), "cycles",
     kRouters, "Time to allocate the switch", ""},
    {"st_delay", &VcRouterConfig::st_delay, between(1, kMaxDelay, kStage), "cycles", kRouters,
     "Time to traverse the switch", ""},
    {"credit_delay", &VcRouterConfig::credit_delay, between(0, kMaxDelay, "in cycles"), "cycles",
     kRouters, "Time from a credit's arrival until it counts", ""},
    {"speculative", &VcRouterConfig::speculative, anything(), "", kRouters,
     "Let head flits ask for the switch while they ask for a virtual channel", ""},
    {"wait_for_tail_credit", &VcRouterConfig::wait_for_tail_credit, anything(), "", kRouters,
     "Reuse a virtual channel only once its last flit has left the next router", ""},
    {"vc_allocator", &VcRouterConfig::vc_allocator, anything(), "", "",
     "Allocator of the virtual channels: islip or separable_input_first", ""},
    {"sw_allocator", &VcRouterConfig::sw_allocator, anything(), "", "",
     "Allocator of the switch: islip or separable_input_first", ""},
};

}  // namespace

void vc_router_keys(NetworkConfig& config, BoundKeys& keys) {
  bind_rows<VcRouterConfig>(config.own<VcRouterConfig>(), kVcRouterKeys, keys);
}

int credit_loop(const VcRouterConfig& config, int link_delay) {
  // switch allocation, crossbar and link forward; link and credit processing back. Sending and
  // receiving a channel cost one cycle each way besides the link (BookSim's channels).
  const int forward = config.sw_alloc_delay - 1 + config.st_delay + 1 + link_delay;
  const int back = config.sw_alloc_delay - 1 + 1 + link_delay + config.credit_delay;
  return forward + back;
}

bool has_long_stages(const VcRouterConfig& config) {
  return config.routing_delay > 1 || config.vc_alloc_delay != 1 || config.sw_alloc_delay != 1 ||
         config.st_delay != 1 || config.speculative;
}

power::RouterSize mesh_router_size(const NetworkConfig& config) {
  const VcRouterConfig& router = config.own<VcRouterConfig>();
  return {config.flit_bits, 4 + config.concentration, router.vcs, router.vc_buffer};
}

Status validate_mesh_router(const NetworkConfig& config, int vcs) {
  return validate_vc_router(config, {.ports = 4 + config.concentration, .vcs = vcs});
}

Status validate_vc_router(const NetworkConfig& config, const VcRouterNeeds& needs) {
  const VcRouterConfig& router = config.own<VcRouterConfig>();
  WW_TRY(check_table<VcRouterConfig>(router, kVcRouterKeys));
  const int most_vcs = needs.input_vcs / needs.ports;
  WW_TRY(
      check_range("vcs", router.vcs, 1, most_vcs,
                  fmt::format("ports times virtual channels must fit the allocators' masks of {}",
                              needs.input_vcs)));
  if (router.vcs < needs.vcs) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("vcs = {} is too few: {} with {} message class(es) needs {} to stay "
                            "free of deadlock",
                            router.vcs, config.network, config.classes, needs.vcs),
                "vcs");
  }
  const int loop = credit_loop(router, config.link_delay);
  if (router.vcs * router.vc_buffer < loop) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("vc_buffer = {} is too small: {} virtual channel(s) hold {} flits a "
                            "port, less than the credit loop of {} cycles, so that no link could "
                            "ever be busy all the time",
                            router.vc_buffer, router.vcs, router.vcs * router.vc_buffer, loop),
                "vc_buffer");
  }
  return {};
}

}  // namespace ww::sim::net
