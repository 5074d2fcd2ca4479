// Chooses the system that a chip gets, and checks whether one makes sense.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "machine/timing/timed_memory.hpp"
#include "machine/timing/timing_keys.hpp"
#include "ww/core/device_name.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/packet_trace.hpp"
#include "ww/sim/net/placement.hpp"

namespace ww::sim::gpu {
namespace {

Status between(std::string_view key, double value, double low, double high, std::string_view why) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("{} = {} is outside {} to {}: {}", key, value, low, high, why),
              std::string(key));
}

// The rows' own limits; keys of [dram] are named with their table.
Status check_rows(const TimingConfig& config) {
  TimingConfig copy = config;
  for (const SettingsTable& table : settings_of(copy)) {
    Status checked = net::check(table.keys);
    if (!checked && table.name == "dram") {
      checked.error().context = "dram." + checked.error().context;
    }
    WW_TRY(checked);
  }
  return {};
}

}  // namespace

std::vector<net::NodeId> default_memory_nodes(const net::NetworkConfig& network, int count) {
  if (count == network.height && network.concentration == 1) {
    return net::memory_node_in_each_row(network.width, network.height);
  }
  const int nodes = net::node_count(network);
  std::vector<net::NodeId> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    chosen.push_back(static_cast<net::NodeId>((2 * i + 1) * nodes / (2 * count)));
  }
  return chosen;
}

TimingConfig default_timing(const Architecture& architecture, std::string_view network) {
  TimingConfig config;
  const net::NetworkKind* kind = net::find_network(network);
  config.network =
      kind != nullptr && kind->paper != nullptr ? kind->paper() : net::dapper_baseline();
  config.network.network = network;
  config.network.classes = 2;
  config.network.count_toggles = true;
  const int needed = architecture.compute_units() + architecture.l2_channels;
  int width = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(needed))));
  width = std::max(width, 2);
  config.network.width = width;
  config.network.height = std::max(1, (needed + width - 1) / width);
  return config;
}

Status validate(const TimingConfig& config) {
  WW_TRY(net::validate(config.network));
  WW_ASSIGN(kind, net::network_kind(config.network.network));
  if (config.network.classes < 2 && kind->needs_classes) {
    return fail(ErrorCode::invalid_argument,
                "classes = 1: requests and replies that share virtual channels can deadlock; 2",
                "classes");
  }
  WW_TRY(check_rows(config));
  if (config.network_clock_hz != 0) {
    WW_TRY(between("network_clock_hz", config.network_clock_hz, 1e6, 1e11, "0 is the cores'"));
  }
  if (config.line_bytes != 64 && config.line_bytes != 128) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("line_bytes = {}: an L1's lines are 64 or 128 bytes", config.line_bytes),
        "line_bytes");
  }
  if (config.l1_policy == "coherent" && config.line_bytes != 64) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("l1_policy = coherent needs lines of 64 bytes, not of {}", config.line_bytes),
        "l1_policy");
  }
  if (config.reply_data != "line" && config.line_bytes != 64) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("reply_data = {} needs lines of 64 bytes, not of {}", config.reply_data,
                            config.line_bytes),
                "reply_data");
  }
  if (config.scalar_cache_bytes % 1024 != 0) {
    return fail(ErrorCode::invalid_argument, "scalar_cache_bytes must be whole KiB",
                "scalar_cache_bytes");
  }
  for (const auto& [key, bits] : {std::pair{"request_flit_bits", config.request_flit_bits},
                                  std::pair{"reply_flit_bits", config.reply_flit_bits}}) {
    if (bits == 0) continue;
    WW_TRY(between(key, bits, 8, config.network.flit_bits, "no wider than the network's flits"));
    if (bits % 8 != 0) {
      return fail(ErrorCode::invalid_argument, fmt::format("{} = {} is not whole bytes", key, bits),
                  key);
    }
  }
  if (config.dram.row_bytes % 64 != 0) {
    return fail(ErrorCode::invalid_argument, "row_bytes must be a multiple of 64",
                "dram.row_bytes");
  }
  if (config.dram.queue < config.line_bytes / 32) {
    return fail(ErrorCode::out_of_range,
                fmt::format("dram.queue = {}: a miss of a line of {} bytes may need {} commands",
                            config.dram.queue, config.line_bytes, config.line_bytes / 32),
                "dram.queue");
  }
  WW_TRY(power::estimator_from_string(config.estimator));
  return {};
}

namespace timing {

double core_clock_hz(const Architecture& architecture) {
  return architecture.dvfs.empty()
             ? 1e9
             : architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].clock_hz;
}

Result<System> make_system(const Chip& chip, const TimingConfig& wanted) {
  WW_TRY(validate(wanted));
  const Architecture& architecture = chip.architecture();
  System system;
  system.config = wanted;
  TimingConfig& config = system.config;
  WW_ASSIGN(kind, net::network_kind(config.network.network));
  WW_ASSIGN(sized, net::with_size(*kind, config.network));
  config.network = std::move(sized);
  const int nodes = net::node_count(config.network);
  const int cores = architecture.compute_units();
  const int channels = architecture.l2_channels;
  if (architecture.dies != 1) {
    return fail(ErrorCode::unsupported,
                fmt::format("timing mode has one die with one L2, and {} has {} dies: run it in "
                            "functional mode, or choose another chip",
                            architecture.name, architecture.dies));
  }
  WW_TRY(between("cus_in_use", config.cus_in_use, 0, architecture.cus_per_engine,
                 "compute units of a shader engine; 0 is all"));
  if (nodes < cores + channels) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} x {} x {} nodes are too few for the {} compute units and {} L2 "
                            "channels of {}",
                            config.network.width, config.network.height,
                            config.network.concentration, cores, channels, architecture.name),
                "width");
  }
  if (architecture.l1_line_bytes != architecture.line_bytes) {
    return fail(ErrorCode::unsupported,
                fmt::format("timing mode does not count the requests of {} bytes of {}: run it in "
                            "functional mode, or choose another chip",
                            architecture.l1_line_bytes, architecture.name));
  }
  if (architecture.memory_bytes % config.line_bytes != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the memory of {} is not whole lines of {} bytes", architecture.name,
                            config.line_bytes),
                "line_bytes");
  }
  if (config.network.memory_nodes.empty()) {
    config.network.memory_nodes = default_memory_nodes(config.network, channels);
  }
  WW_TRY(net::validate(config.network));
  WW_ASSIGN(placement, net::place(config.network, config.core_nodes, config.network.memory_nodes));
  if (static_cast<int>(config.network.memory_nodes.size()) != channels) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} memory nodes for the {} L2 channels of {}", placement.memory.size(),
                            channels, architecture.name),
                "memory_nodes");
  }
  if (static_cast<int>(placement.cores.size()) < cores) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} core nodes for the {} compute units of {}", placement.cores.size(),
                            cores, architecture.name),
                "core_nodes");
  }
  config.core_nodes = std::move(placement.cores);
  config.core_nodes.resize(static_cast<std::size_t>(cores));
  if (config.network_clock_hz == 0) config.network_clock_hz = core_clock_hz(architecture);
  if (kind->set_clock_hz != nullptr) kind->set_clock_hz(config.network, config.network_clock_hz);
  system.energy = net::energy_config(config.network);
  WW_ASSIGN(estimator, power::estimator_from_string(config.estimator));
  system.energy.estimator = estimator;
  system.energy.bypass_power = config.bypass_power;
  system.energy.node_nm = config.node_nm;
  system.energy.clock = Hertz(config.network_clock_hz);
  system.energy.link_length = Millimetre(config.link_mm);
  // Refused now rather than after the run.
  WW_TRY(power::account(power::NetworkEvents{}, system.energy));
  WW_ASSIGN(network, net::make_network(config.network));
  if (!config.packet_trace.empty()) {
    std::string producer = virtual_device_name(architecture.name);
    std::ranges::replace(producer, ' ', '_');
    WW_ASSIGN(recording, net::record_packets(std::move(network), config.packet_trace, producer));
    network = std::move(recording);
  }
  system.network = std::move(network);
  return system;
}

}  // namespace timing
}  // namespace ww::sim::gpu
