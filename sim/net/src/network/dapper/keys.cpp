#include <fmt/format.h>

#include <algorithm>

#include "network/dapper/config.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace {

constexpr int kLongestSetup = 64;
constexpr std::string_view kOverlayGroup = "dapper and approx-noc";
constexpr std::string_view kEquation1 = "equation (1)";

constexpr Key<OverlayConfig> kOverlayKeys[] = {
    {"check_depth", &OverlayConfig::check_depth,
     between(1, 4096, "the packet that leaves counts as the first"), "packets", kOverlayGroup,
     "dapper: the most that may leave as one", "section V"},
    {"alpha", &OverlayConfig::alpha, between(0, 1e6, "a weight of equation (1)"), "", kOverlayGroup,
     "dapper: weight of the replies' arrival rate in the windows", kEquation1},
    {"gamma", &OverlayConfig::gamma, between(0, 1e6, "a weight of equation (1)"), "", kOverlayGroup,
     "dapper: weight of the buffers' occupancy in the windows", kEquation1},
    {"period", &OverlayConfig::period, between(1, 100'000'000, "cycles"), "cycles", kOverlayGroup,
     "dapper: time in which each controller has its window once (K)", "section IV"},
    {"epoch", &OverlayConfig::epoch, between(1, 100'000'000, "cycles"), "cycles", kOverlayGroup,
     "dapper: time between new windows", "section IV"},
    {"setup", &OverlayConfig::setup, between(0, kLongestSetup, "cycles"), "cycles", "",
     "Time to connect a circuit at the start of a window", "section IV"},
    {"approximator_delay", &OverlayConfig::approximator_delay, between(0, kLongestSetup, "cycles"),
     "cycles", "", "Time that a packet spends in the output buffer at least", ""},
    {"min_window", &OverlayConfig::min_window, between(0, 100'000'000, "cycles"), "cycles",
     kOverlayGroup, "dapper: the least time that a controller gets in a period", ""},
    {"literal_approximator", &OverlayConfig::literal_approximator, anything(), "", kOverlayGroup,
     "dapper: run algorithm 1 as printed", ""},
    {"literal_selection", &OverlayConfig::literal_selection, anything(), "", kOverlayGroup,
     "dapper: run algorithm 3 as printed", ""},
};

Status validate_memory_rows(const NetworkConfig& config) {
  std::vector<int> of_row(static_cast<std::size_t>(config.height), -1);
  for (const std::uint32_t node : config.memory_nodes) {
    const auto row = node / static_cast<std::uint32_t>(config.width);
    if (of_row[row] >= 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("nodes {} and {} both lie in row {}: {} needs one memory controller "
                              "in each row, or two circuits would meet",
                              of_row[row], node, row, config.network),
                  "memory_nodes");
    }
    of_row[row] = static_cast<int>(node);
  }
  const auto empty = std::find(of_row.begin(), of_row.end(), -1);
  if (!config.memory_nodes.empty() && empty != of_row.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("row {} has none: {} needs one memory controller in each row",
                            empty - of_row.begin(), config.network),
                "memory_nodes");
  }
  return {};
}

}  // namespace

void overlay_keys(NetworkConfig& config, BoundKeys& keys) {
  vc_router_keys(config, keys);
  bind_rows<OverlayConfig>(config.own<OverlayConfig>(), kOverlayKeys, keys);
}

Status validate_overlay(const NetworkConfig& config) {
  const OverlayConfig& overlay = config.own<OverlayConfig>();
  if (config.classes != 2) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("classes = {}: dapper has two, requests (0) and replies (1)", config.classes),
        "classes");
  }
  if (config.concentration != 1) {
    return fail(ErrorCode::invalid_argument, "concentration must be 1: a circuit ends at a core",
                "concentration");
  }
  WW_TRY(check_range("period", overlay.period, 1, overlay.epoch,
                     "the windows repeat every K cycles within an epoch"));
  if (overlay.epoch % overlay.period != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("period = {} does not divide the epoch of {} cycles", overlay.period,
                            overlay.epoch),
                "period");
  }
  // A window loses its set-up, the drain of two cycles and the last cycle of an epoch, and the
  // remainder of a long packet needs two.
  if (const int least = config.height * (overlay.setup + 5); overlay.period < least) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("period = {}: at least {} cycles, so that an equal share can send",
                            overlay.period, least),
                "period");
  }
  const int turn = overlay.period / config.height;
  WW_TRY(check_range("min_window", overlay.min_window, 0, turn,
                     "every memory controller needs its window in a period"));
  WW_TRY(validate_memory_rows(config));
  return validate_mesh_router(config, 1);  // requests have a plane of their own
}

}  // namespace ww::sim::net
