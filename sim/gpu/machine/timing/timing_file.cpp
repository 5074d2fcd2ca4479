// Timing settings as TOML, both ways, from the rows of their keys.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "machine/timing/timing_keys.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim::gpu {
namespace {

constexpr std::string_view kNetworkTable = "network";

// --- writing ---

// The value as TOML; empty where an optional has none.
std::string toml_text(const net::Field& field) {
  return std::visit(
      [&field](auto* value) -> std::string {
        using Value = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, double>) {
          return net::exact_text(*value);
        } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
          return *value ? net::exact_text(**value) : std::string();
        } else if constexpr (std::is_same_v<Value, net::NodeList>) {
          return fmt::format("[{}]", fmt::join(*value, ", "));
        } else if constexpr (std::is_same_v<Value, std::string> ||
                             std::is_same_v<Value, net::Allocator>) {
          return fmt::format("\"{}\"", net::value_text(field));
        } else {
          return net::value_text(field);
        }
      },
      field);
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
      if (node != std::floor(node)) {
        reader_.fail_at(
            key, ErrorCode::out_of_range,
            fmt::format("{} is no number of a node: nodes count in whole numbers", node));
      }
      field.push_back(static_cast<net::NodeId>(node));
    }
  }

 private:
  TomlReader& reader_;
};

}  // namespace

std::string to_toml(const TimingConfig& config) {
  TimingConfig copy = config;
  std::string text;
  const auto put_table = [&text](std::string_view table, const net::BoundKeys& keys) {
    text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    for (const net::BoundKey& key : keys) {
      if (const std::string value = toml_text(key.field); !value.empty()) {
        text += fmt::format("{} = {}\n", key.name, value);
      }
    }
  };
  put_table(kNetworkTable, net::keys_of(copy.network));
  for (const SettingsTable& table : settings_of(copy)) {
    put_table(table.name, table.keys);
  }
  return text;
}

Status read_timing(std::string_view toml_text, const std::string& origin, TimingConfig& config) {
  WW_ASSIGN(document, parse_toml(toml_text, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  auto tables = settings_of(config);
  tables.insert(tables.begin(), SettingsTable{kNetworkTable, net::keys_of(config.network)});
  for (const SettingsTable& one : tables) {
    if (!root.has(one.name)) continue;
    TomlReader table = root.table(one.name);
    for (const net::BoundKey& key : one.keys) {
      std::visit([read = Reading(table), &key](auto* field) mutable { read(key.name, *field); },
                 key.field);
      if (!table.has(key.name)) continue;
      if (const Status checked = net::check(key); !checked) {
        table.fail_at(key.name, checked.error().code, checked.error().message);
      }
    }
    table.finish();
  }
  root.finish();
  if (errors.first()) return tl::unexpected<Error>(*errors.first());
  return {};
}

namespace {

// Single keys over the settings, by name: the network's and those of [system].
Status set_keys(const TimingRequest& request, TimingConfig& config) {
  net::BoundKeys keys = net::keys_of(config.network);
  for (const SettingsTable& table : settings_of(config)) {
    if (table.name == "system") keys.insert(keys.end(), table.keys.begin(), table.keys.end());
  }
  for (const auto& [name, text] : request.keys) {
    const net::BoundKey* key = net::find_key(keys, name);
    if (key == nullptr) {
      return fail(ErrorCode::not_found,
                  fmt::format("\"{}\" is not a key of [network] or [system]", name), name);
    }
    WW_TRY(net::set_value(*key, text));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const TimingConfig>> make_timing(const Architecture& architecture,
                                                        const TimingRequest& request) {
  auto config = std::make_shared<TimingConfig>(default_timing(architecture));
  WW_TRY(read_timing(request.settings, request.origin, *config));
  const std::string name = request.network.empty() ? config->network.network : request.network;
  // Keys that the settings leave out get the network's own defaults.
  *config = default_timing(architecture, name);
  WW_TRY(read_timing(request.settings, request.origin, *config));
  WW_TRY(set_keys(request, *config));
  config->network.network = name;
  if (request.threshold_percent) {
    config->network.error_threshold = *request.threshold_percent / 100;
  }
  WW_TRY(validate(*config));
  return config;
}

}  // namespace ww::sim::gpu
