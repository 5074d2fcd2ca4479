#include "vc_router.hpp"

#include <fmt/format.h>

namespace ww::sim::net {
namespace {

constexpr int kMaxInputVcs = 128;  // ports x VCs: one 128-bit mask
constexpr int kFewestPorts = 5;
constexpr int kMaxDelay = 64;
constexpr std::string_view kStage = "a stage takes a cycle";
constexpr std::string_view kRouters = "Routers";

constexpr Key<NetworkConfig> kVcRouterKeys[] = {
    {"vcs", &NetworkConfig::vcs,
     between(1, kMaxInputVcs / kFewestPorts,
             "each port needs a virtual channel, and the allocators' masks hold 128"),
     "", kRouters, "Virtual channels of a port", ""},
    {"vc_buffer", &NetworkConfig::vc_buffer,
     between(1, 128, "each virtual channel needs room for a flit"), "flits", kRouters,
     "Buffer of a virtual channel", ""},
    {"routing_delay", &NetworkConfig::routing_delay,
     between(0, kMaxDelay, "0 is lookahead routing"), "cycles", kRouters,
     "Time to compute a route; 0 computes it one router ahead", ""},
    {"vc_alloc_delay", &NetworkConfig::vc_alloc_delay, between(1, kMaxDelay, kStage), "cycles",
     kRouters, "Time to allocate a virtual channel", ""},
    {"sw_alloc_delay", &NetworkConfig::sw_alloc_delay, between(1, kMaxDelay, kStage), "cycles",
     kRouters, "Time to allocate the switch", ""},
    {"st_delay", &NetworkConfig::st_delay, between(1, kMaxDelay, kStage), "cycles", kRouters,
     "Time to traverse the switch", ""},
    {"credit_delay", &NetworkConfig::credit_delay, between(0, kMaxDelay, "in cycles"), "cycles",
     kRouters, "Time from a credit's arrival until it counts", ""},
    {"link_delay", &NetworkConfig::link_delay, between(1, kMaxDelay, "a wire takes a cycle"),
     "cycles", kRouters, "Time to cross a link", ""},
    {"speculative", &NetworkConfig::speculative, anything(), "", kRouters,
     "Let head flits ask for the switch while they ask for a virtual channel", ""},
    {"wait_for_tail_credit", &NetworkConfig::wait_for_tail_credit, anything(), "", kRouters,
     "Reuse a virtual channel only once its last flit has left the next router", ""},
    {"vc_allocator", &NetworkConfig::vc_allocator, anything(), "", "",
     "Allocator of the virtual channels: islip or separable_input_first", ""},
    {"sw_allocator", &NetworkConfig::sw_allocator, anything(), "", "",
     "Allocator of the switch: islip or separable_input_first", ""},
};

}  // namespace

std::span<const Key<NetworkConfig>> vc_router_keys() {
  return kVcRouterKeys;
}

int credit_loop(const NetworkConfig& config) {
  // switch allocation, crossbar and link forward; link and credit processing back. Sending and
  // receiving a channel cost one cycle each way besides the link (BookSim's channels).
  const int forward = config.sw_alloc_delay - 1 + config.st_delay + 1 + config.link_delay;
  const int back = config.sw_alloc_delay - 1 + 1 + config.link_delay + config.credit_delay;
  return forward + back;
}

Status validate_vc_router(const NetworkConfig& config, int vcs_needed) {
  WW_TRY(check_table(config, vc_router_keys()));
  WW_TRY(check_range("vcs", config.vcs, 1, kMaxInputVcs / (4 + config.concentration),
                     "ports times virtual channels must fit the allocators' masks of 128"));
  if (config.vcs < vcs_needed) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("vcs = {} is too few: {} with {} message class(es) needs {} to stay "
                            "free of deadlock",
                            config.vcs, config.network, config.classes, vcs_needed),
                "vcs");
  }
  const int loop = credit_loop(config);
  if (config.vcs * config.vc_buffer < loop) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("vc_buffer = {} is too small: {} virtual channel(s) hold {} flits a "
                            "port, less than the credit loop of {} cycles, so that no link could "
                            "ever be busy all the time",
                            config.vc_buffer, config.vcs, config.vcs * config.vc_buffer, loop),
                "vc_buffer");
  }
  return {};
}

}  // namespace ww::sim::net
