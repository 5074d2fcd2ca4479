#include "ww/sim/net/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ww/core/suggest.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

constexpr int kMaxSide = 256;           // coordinates travel in the flit as bytes
constexpr int kMaxNodesPerRouter = 12;  // ports are counted in 16-bit masks
constexpr int kMaxFlitBits = 4096;
constexpr int kMaxInputVcs = 128;  // ports x VCs: one 128-bit mask
constexpr int kMaxVcBuffer = 128;
constexpr int kMaxDelay = 64;

Status range(std::string_view key, int value, int low, int high, std::string_view why) {
  if (value < low || value > high) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} = {} is outside {} to {}: {}", key, value, low, high, why),
                std::string(key));
  }
  return {};
}

bool is_vc_router(const NetworkConfig& config) {
  return config.network != "ideal" && config.network != "mesh-bufferless";
}

Status validate_vc_router(const NetworkConfig& config) {
  const int ports = 4 + config.concentration;
  WW_TRY(range("vcs", config.vcs, 1, kMaxInputVcs / ports,
               "each port needs a virtual channel, and the allocators' masks hold 128"));
  WW_TRY(range("vc_buffer", config.vc_buffer, 1, kMaxVcBuffer,
               "each virtual channel needs room for a flit"));
  WW_TRY(range("routing_delay", config.routing_delay, 0, kMaxDelay, "0 is lookahead routing"));
  WW_TRY(range("vc_alloc_delay", config.vc_alloc_delay, 1, kMaxDelay, "a stage takes a cycle"));
  WW_TRY(range("sw_alloc_delay", config.sw_alloc_delay, 1, kMaxDelay, "a stage takes a cycle"));
  WW_TRY(range("st_delay", config.st_delay, 1, kMaxDelay, "a stage takes a cycle"));
  WW_TRY(range("credit_delay", config.credit_delay, 0, kMaxDelay, "in cycles"));
  WW_TRY(range("link_delay", config.link_delay, 1, kMaxDelay, "a wire takes a cycle"));
  if (config.adaptive != "dyxy" && config.adaptive != "rca") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("adaptive '{}' is unknown; dyxy or rca", config.adaptive), "adaptive");
  }
  const int needed = config.network == "mesh-adaptive" ? 2 * config.classes : config.classes;
  if (config.vcs < needed) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("vcs = {} is too few: {} with {} message class(es) needs {} to stay "
                            "free of deadlock",
                            config.vcs, config.network, config.classes, needed),
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

}  // namespace

std::string_view to_string(Allocator allocator) {
  return allocator == Allocator::islip ? "islip" : "separable_input_first";
}

Result<Allocator> allocator_from_string(std::string_view text) {
  if (text == "islip") {
    return Allocator::islip;
  }
  if (text == "separable_input_first" || text == "separable") {
    return Allocator::separable_input_first;
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("allocator '{}' is unknown; islip or separable_input_first", text),
              "allocator");
}

int credit_loop(const NetworkConfig& config) {
  // switch allocation, crossbar and link forward; link and credit processing back. Sending and
  // receiving a channel cost one cycle each way besides the link (BookSim's channels).
  const int forward = config.sw_alloc_delay - 1 + config.st_delay + 1 + config.link_delay;
  const int back = config.sw_alloc_delay - 1 + 1 + config.link_delay + config.credit_delay;
  return forward + back;
}

Status validate(const NetworkConfig& config) {
  const auto names = network_names();
  if (std::find(names.begin(), names.end(), config.network) == names.end()) {
    return fail(ErrorCode::not_found,
                fmt::format("network '{}' is unknown; there are: {}{}", config.network,
                            fmt::join(names, ", "), did_you_mean(config.network, names)),
                "network");
  }
  WW_TRY(range("width", config.width, 1, kMaxSide, "routers along x"));
  WW_TRY(range("height", config.height, 1, kMaxSide, "routers along y"));
  if (config.width * config.height < 2) {
    return fail(ErrorCode::out_of_range, "a network needs two routers", "width");
  }
  WW_TRY(range("concentration", config.concentration, 1, kMaxNodesPerRouter, "nodes per router"));
  WW_TRY(range("classes", config.classes, 1, 4, "message classes"));
  WW_TRY(range("flit_bits", config.flit_bits, 8, kMaxFlitBits, "bits of a flit"));
  if (config.flit_bits % 8 != 0) {
    return fail(ErrorCode::invalid_argument, "flit_bits must be a multiple of 8", "flit_bits");
  }
  if (is_vc_router(config)) {
    NetworkConfig one = config;
    one.classes = config.planes ? 1 : config.classes;
    return validate_vc_router(one);
  }
  WW_TRY(range("router_delay", config.router_delay, 1, kMaxDelay, "cycles in a router"));
  WW_TRY(range("link_delay", config.link_delay, 1, kMaxDelay, "a wire takes a cycle"));
  if (config.network == "mesh-bufferless") {
    if (config.width < 2 || config.height < 2) {
      return fail(ErrorCode::out_of_range,
                  "a bufferless mesh needs two routers along each axis to deflect into",
                  config.width < 2 ? "width" : "height");
    }
    if (config.deflection != "chipper" && config.deflection != "bless") {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("deflection '{}' is unknown; chipper or bless", config.deflection),
                  "deflection");
    }
    WW_TRY(range("reassembly_buffers", config.reassembly_buffers, 1, 65535,
                 "a receiver needs room to put a packet together"));
    if (config.concentration != 1) {
      return fail(ErrorCode::invalid_argument,
                  "concentration must be 1: a bufferless router ejects one flit a cycle",
                  "concentration");
    }
  }
  return {};
}

NetworkConfig dapper_baseline() {
  NetworkConfig config;
  config.vcs = 5;
  config.vc_buffer = 4;
  config.routing_delay = 1;  // routing, VC allocation, switch allocation, traversal; then the link
  return config;
}

NetworkConfig gpuopt_emesh() {
  NetworkConfig config;
  config.flit_bits = 256;
  config.speculative = true;  // both allocations in one cycle, traversal in the other
  return config;
}

}  // namespace ww::sim::net
