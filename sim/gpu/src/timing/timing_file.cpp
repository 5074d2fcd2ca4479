// Timing settings as TOML, both ways, from one list of keys.
#include <fmt/format.h>

#include <limits>

#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim::gpu {
namespace {

// Calls visit(table, key, field) for every key beside the network's.
template <class Config, class Visit>
void for_each_setting(Config& config, Visit&& visit) {
  visit("system", "core_nodes", config.core_nodes);
  visit("system", "cus_in_use", config.cus_in_use);
  visit("system", "network_clock_hz", config.network_clock_hz);
  visit("system", "header_bytes", config.header_bytes);
  visit("system", "line_bytes", config.line_bytes);
  visit("system", "scalar_cache_bytes", config.scalar_cache_bytes);
  visit("system", "mshrs", config.mshrs);
  visit("system", "writes", config.writes);
  visit("system", "request_buffer", config.request_buffer);
  visit("system", "fill_cycles", config.fill_cycles);
  visit("system", "request_cycles", config.request_cycles);
  visit("system", "l2_cycles", config.l2_cycles);
  visit("system", "l2_banks", config.l2_banks);
  visit("system", "l2_bank_cycles", config.l2_bank_cycles);
  visit("system", "output_buffer", config.output_buffer);
  visit("system", "request_flit_bits", config.request_flit_bits);
  visit("system", "reply_flit_bits", config.reply_flit_bits);
  visit("dram", "clock_hz", config.dram.clock_hz);
  visit("dram", "banks", config.dram.banks);
  visit("dram", "row_bytes", config.dram.row_bytes);
  visit("dram", "burst", config.dram.burst);
  visit("dram", "rrd", config.dram.rrd);
  visit("dram", "rcd", config.dram.rcd);
  visit("dram", "ras", config.dram.ras);
  visit("dram", "rp", config.dram.rp);
  visit("dram", "rc", config.dram.rc);
  visit("dram", "cl", config.dram.cl);
  visit("dram", "wl", config.dram.wl);
  visit("dram", "cdlr", config.dram.cdlr);
  visit("dram", "wr", config.dram.wr);
  visit("dram", "rtp", config.dram.rtp);
  visit("dram", "queue", config.dram.queue);
  visit("dram", "return_cycles", config.dram.return_cycles);
  visit("approximation", "default_threshold", config.default_threshold);
  visit("energy", "estimator", config.estimator);
  visit("energy", "node_nm", config.node_nm);
  visit("energy", "link_mm", config.link_mm);
}

constexpr const char* kTables[] = {"network", "system", "dram", "approximation", "energy"};

// --- writing ---

std::string value_text(const std::string& value) {
  return fmt::format("\"{}\"", value);
}
std::string value_text(const net::Allocator& value) {
  return value_text(std::string(net::to_string(value)));
}
std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(int value) {
  return fmt::format("{}", value);
}
std::string value_text(double value) {
  const std::string text = fmt::format("{:.17g}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}
std::string value_text(const std::vector<net::NodeId>& value) {
  return fmt::format("[{}]", fmt::join(value, ", "));
}

// --- reading ---

class Reading {
 public:
  explicit Reading(TomlReader& reader) : reader_(reader) {}
  void operator()(std::string_view key, int& field) {
    if (reader_.has(key)) {
      field = static_cast<int>(
          reader_.integer(key, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    }
  }
  void operator()(std::string_view key, bool& field) {
    if (reader_.has(key)) field = reader_.boolean(key);
  }
  void operator()(std::string_view key, double& field) {
    field = reader_.number_or(key, -1e300, 1e300, field);
  }
  void operator()(std::string_view key, std::optional<double>& field) {
    if (reader_.has(key)) field = reader_.number(key, -1e300, 1e300);
  }
  void operator()(std::string_view key, std::string& field) { field = reader_.text_or(key, field); }
  void operator()(std::string_view key, net::Allocator& field) {
    if (!reader_.has(key)) return;
    const auto allocator = net::allocator_from_string(reader_.text(key));
    if (allocator) {
      field = *allocator;
    } else {
      reader_.fail_at(key, allocator.error().code, allocator.error().message);
    }
  }
  void operator()(std::string_view key, std::vector<net::NodeId>& field) {
    if (!reader_.has(key)) return;
    field.clear();
    for (const double node : reader_.numbers(key, 0, 1e6)) {
      field.push_back(static_cast<net::NodeId>(node));
    }
  }

 private:
  TomlReader& reader_;
};

}  // namespace

std::string to_toml(const TimingConfig& config) {
  std::string text = "[network]\n";
  const auto put = [&text](const char* key, const auto& field) {
    if constexpr (requires { field.has_value(); }) {
      if (field) text += fmt::format("{} = {}\n", key, value_text(*field));
    } else {
      text += fmt::format("{} = {}\n", key, value_text(field));
    }
  };
  net::for_each_key(config.network, put);
  std::string_view table;
  for_each_setting(config, [&](const char* of, const char* key, const auto& field) {
    if (table != of) text += fmt::format("\n[{}]\n", table = of);
    put(key, field);
  });
  return text;
}

Status read_timing(std::string_view toml_text, const std::string& origin, TimingConfig& config) {
  WW_ASSIGN(document, parse_toml(toml_text, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  for (const char* name : kTables) {
    if (!root.has(name)) continue;
    TomlReader table = root.table(name);
    Reading read(table);
    if (std::string_view(name) == "network") {
      net::for_each_key(config.network, read);
    } else {
      for_each_setting(config, [&](const char* of, const char* key, auto& field) {
        if (std::string_view(of) == name) read(key, field);
      });
    }
    table.finish();
  }
  root.finish();
  if (errors.first()) return tl::unexpected<Error>(*errors.first());
  return {};
}

Result<std::shared_ptr<const TimingConfig>> make_timing(const Architecture& architecture,
                                                        const TimingRequest& request) {
  auto config = std::make_shared<TimingConfig>(default_timing(architecture));
  WW_TRY(read_timing(request.settings, request.origin, *config));
  const std::string name = request.network.empty() ? config->network.network : request.network;
  // What the settings do not say is the network's own default.
  *config = default_timing(architecture, name);
  WW_TRY(read_timing(request.settings, request.origin, *config));
  config->network.network = name;
  if (request.threshold_percent) {
    config->network.error_threshold = *request.threshold_percent / 100;
  }
  WW_TRY(validate(*config));
  return config;
}

}  // namespace ww::sim::gpu
