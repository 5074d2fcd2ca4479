#include "ww/sim/net/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impl/photonic/validate.hpp"
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

Status real_range(std::string_view key, double value, double low, double high,
                  std::string_view why) {
  if (!(value >= low && value <= high)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} = {} is outside {} to {}: {}", key, value, low, high, why),
                std::string(key));
  }
  return {};
}

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

Status validate_overlay(const NetworkConfig& config) {
  const OverlayConfig& overlay = config.overlay;
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
  WW_TRY(range("check_depth", overlay.check_depth, 1, 4096,
               "the packet that leaves counts as the first"));
  WW_TRY(real_range("alpha", overlay.alpha, 0, 1e6, "a weight of equation (1)"));
  WW_TRY(real_range("gamma", overlay.gamma, 0, 1e6, "a weight of equation (1)"));
  WW_TRY(range("epoch", overlay.epoch, 1, 100'000'000, "cycles"));
  WW_TRY(range("period", overlay.period, 1, overlay.epoch,
               "the windows repeat every K cycles within an epoch"));
  if (overlay.epoch % overlay.period != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("period = {} does not divide the epoch of {} cycles", overlay.period,
                            overlay.epoch),
                "period");
  }
  WW_TRY(range("setup", overlay.setup, 0, kMaxDelay, "cycles"));
  // Of a window, its set-up, the drain of two cycles and the last cycle of an epoch are lost, and
  // what is left of a long packet needs two.
  if (const int least = config.height * (overlay.setup + 5); overlay.period < least) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("period = {}: at least {} cycles, so that an equal share can send",
                            overlay.period, least),
                "period");
  }
  WW_TRY(range("approximator_delay", overlay.approximator_delay, 0, kMaxDelay, "cycles"));
  WW_TRY(range("min_window", overlay.min_window, 0, overlay.period / config.height,
               "every memory controller needs its window in a period"));
  return validate_memory_rows(config);
}

Status validate_compression(const NetworkConfig& config) {
  const CompressionConfig& compression = config.compression;
  if (compression.scheme != "di" && compression.scheme != "fp") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("scheme '{}' is unknown; di or fp", compression.scheme), "scheme");
  }
  WW_TRY(range("compress_delay", compression.compress_delay, 0, kMaxDelay, "cycles"));
  WW_TRY(range("decompress_delay", compression.decompress_delay, 0, kMaxDelay, "cycles"));
  return range("dictionary_entries", compression.dictionary_entries, 1, 64,
               "a dictionary holds words");
}

Status validate_memory(const NetworkConfig& config) {
  for (const std::uint32_t node : config.memory_nodes) {
    if (node >= static_cast<std::uint32_t>(node_count(config))) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("node {} is not one of {}", node, node_count(config)),
                  "memory_nodes");
    }
  }
  if (config.error_threshold) {
    WW_TRY(real_range("error_threshold", *config.error_threshold, 0, 1,
                      "a relative error, as a fraction"));
  }
  if (config.network == "dapper") {
    return validate_overlay(config);
  }
  return config.network == "approx-noc" ? validate_compression(config) : Status{};
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
  WW_TRY(validate_memory(config));
  if (is_photonic(config.network)) {
    return photonic::validate(config);
  }
  if (is_vc_router(config)) {
    NetworkConfig one = config;
    one.classes = config.planes || config.network == "dapper" ? 1 : config.classes;
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

NetworkConfig dapper_network() {
  NetworkConfig config = dapper_baseline();
  config.network = "dapper";
  config.classes = 2;
  config.flit_bits = 64;
  return config;
}

NetworkConfig approx_noc_network() {
  NetworkConfig config = dapper_baseline();
  config.network = "approx-noc";
  config.classes = 2;
  return config;
}

std::vector<std::uint32_t> memory_node_in_each_row(int width, int height) {
  std::vector<std::uint32_t> nodes;
  for (int row = 0; row < height; ++row) {
    // Odd columns first, then even ones: neighbours in y are two columns apart.
    const int turn = row % width;
    const int column = turn < width / 2 ? 2 * turn + 1 : 2 * (turn - width / 2);
    nodes.push_back(static_cast<std::uint32_t>(row * width + column));
  }
  return nodes;
}

NetworkConfig gpuopt_emesh() {
  NetworkConfig config;
  config.flit_bits = 256;
  config.speculative = true;  // both allocations in one cycle, traversal in the other
  return config;
}

}  // namespace ww::sim::net
