#include "simulate/network_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <type_traits>

#include "option.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::cli {
namespace {

using sim::net::BoundKey;
using sim::net::NetworkConfig;

constexpr const char* kNetworkGroup = "Network";
constexpr const char* kRouterGroup = "Routers";
constexpr const char* kApproximationGroup = "dapper and approx-noc";

// The option that sets a key which has none of its own name.
struct SharedOption {
  std::string_view key;
  std::vector<std::string> options;
};
const std::vector<SharedOption>& shared_options() {
  static const std::vector<SharedOption> kShared{
      {"network", {"--network"}},           {"width", {"--k", "--height"}},
      {"height", {"--k", "--height"}},      {"classes", {"--classes"}},
      {"vc_allocator", {"--allocator"}},    {"sw_allocator", {"--allocator", "--sw-allocator"}},
      {"memory_nodes", {"--memory-nodes"}}, {"error_threshold", {"--approx-threshold"}}};
  return kShared;
}

std::vector<std::string> options_of(const BoundKey& key) {
  if (!key.group.empty()) {
    return {sim::net::option_name(key.name)};
  }
  const auto found = std::ranges::find(shared_options(), key.name, &SharedOption::key);
  return found == shared_options().end() ? std::vector<std::string>() : found->options;
}

void add_key(CLI::App& command, const BoundKey& key) {
  const std::string name = sim::net::option_name(key.name);
  const std::string help = sim::net::help_text(key);
  const std::string group(key.group);
  std::visit(
      [&](auto* field) {
        using Value = std::remove_pointer_t<decltype(field)>;
        if constexpr (std::is_same_v<Value, sim::net::NodeList>) {
          command.add_option(name, *field, help)->delimiter(',')->group(group);
        } else if constexpr (std::is_same_v<Value, bool>) {
          // A switch that is off can be set; one that is on takes a value.
          if (*field) {
            command.add_option(name, *field, help)->group(group)->capture_default_str();
          } else {
            command.add_flag(name, *field, help)->group(group);
          }
        } else if constexpr (std::is_same_v<Value, sim::net::Allocator>) {
          command
              .add_option_function<std::string>(
                  name,
                  [key](const std::string& text) {
                    const Status set = sim::net::set_value(key, text);
                    if (!set) throw CLI::ValidationError(set.error().text());
                  },
                  help)
              ->group(group);
        } else {
          auto* option = command.add_option(name, *field, help)->group(group);
          if constexpr (!std::is_same_v<Value, std::optional<double>>) {
            option->capture_default_str();
          }
        }
      },
      key.field);
}

// A key as --topology chooses its network. Error invalid_argument: another network is named, too.
Status choose_by_key(NetworkConfig& config) {
  for (const sim::net::NetworkKind* kind : sim::net::network_kinds()) {
    const auto keys = sim::net::keys_of(config);
    const BoundKey* key = sim::net::find_key(keys, kind->chosen_by);
    if (key == nullptr || sim::net::value_text(key->field).empty()) continue;
    if (config.network != NetworkConfig().network && config.network != kind->name) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} chooses the network {}, not {}", sim::net::option_name(key->name),
                              kind->name, config.network),
                  std::string(key->name));
    }
    config.network = kind->name;
  }
  return {};
}

}  // namespace

NetworkOptions::NetworkOptions() : config(sim::net::dapper_baseline()) {
  config.classes = 0;
}

void add_network_options(CLI::App& command, NetworkOptions& options, std::string_view more) {
  add_shown(command, kNetworkGroup, "--network", options.config.network,
            fmt::format("{}; {}", fmt::join(sim::net::network_names(), ", "), more).c_str());
  add_shown(command, kNetworkGroup, "--k", options.k, "Routers in a row");
  add_shown(command, kNetworkGroup, "--height", options.height, "Routers in a column (0: as --k)");
  add_shown(
      command, kNetworkGroup, "--classes", options.config.classes,
      "Message classes, each with virtual channels of its own (0: as many as the load needs)");
  add_shown(command, kRouterGroup, "--allocator", options.allocator,
            "islip or separable_input_first");
  command
      .add_option("--sw-allocator", options.sw_allocator,
                  "Allocator of the switch, where it differs from that of the virtual channels")
      ->group(kRouterGroup);
  command
      .add_option("--approx-threshold", options.approx_threshold,
                  "Largest relative error of an approximable word, in percent (default: what the "
                  "program says, or 10)")
      ->group(kApproximationGroup);
  for (const BoundKey& key : sim::net::keys_of(options.config)) {
    if (!key.group.empty()) add_key(command, key);
  }
}

Result<NetworkConfig> network_config(const NetworkOptions& options) {
  NetworkConfig config = options.config;
  config.width = options.k;
  config.height = options.height > 0 ? options.height : options.k;
  if (config.width < 1 || config.width > 256 || config.width * config.height < 2) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("k = {} does not make a mesh: 1 to 256 routers a side, and at least two",
                    options.k),
        "k");
  }
  WW_TRY(sim::net::set_key(config, "vc_allocator", options.allocator));
  WW_TRY(
      sim::net::set_key(config, "sw_allocator",
                        options.sw_allocator.empty() ? options.allocator : options.sw_allocator));
  WW_TRY(choose_by_key(config));
  if (options.approx_threshold) config.error_threshold = *options.approx_threshold / 100;
  return config;
}

Result<KeyValues> given_keys(const CLI::App& command, const NetworkOptions& options) {
  WW_ASSIGN(config, network_config(options));
  KeyValues given;
  const bool any_classes = config.classes == 0;
  for (const BoundKey& key : sim::net::keys_of(config)) {
    if (key.name == "classes" && any_classes) continue;  // the load says how many
    const auto names = options_of(key);
    if (std::ranges::any_of(names, [&](const std::string& name) {
          const CLI::Option* option = command.get_option_no_throw(name);
          return option != nullptr && option->count() > 0;
        })) {
      given.emplace_back(key.name, sim::net::value_text(key.field));
    }
  }
  return given;
}

Status refuse_keys_of_others(const CLI::App& command, const std::vector<std::string>& networks) {
  NetworkConfig config;
  // [key] -> the networks that read it, of those that not all read
  std::map<std::string_view, std::vector<std::string_view>> readers;
  std::map<std::string_view, BoundKey> keys;
  for (const sim::net::NetworkKind* kind : sim::net::network_kinds()) {
    if (kind->keys == nullptr) continue;
    sim::net::BoundKeys own;
    kind->keys(config, own);
    for (const BoundKey& key : own) {
      readers[key.name].push_back(kind->name);
      keys.emplace(key.name, key);
    }
  }
  for (const auto& [name, kinds] : readers) {
    if (std::ranges::any_of(kinds, [&](std::string_view kind) {
          return std::ranges::find(networks, kind) != networks.end();
        })) {
      continue;
    }
    for (const std::string& option_name : options_of(keys.at(name))) {
      const CLI::Option* option = command.get_option_no_throw(option_name);
      if (option == nullptr || option->count() == 0) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} has no such setting; these have it: {}",
                              fmt::join(networks, ", "), fmt::join(kinds, ", ")),
                  option_name);
    }
  }
  return {};
}

bool is_network_option(const CLI::Option& option) {
  NetworkConfig config;
  const auto keys = sim::net::keys_of(config);
  return std::ranges::any_of(keys, [&](const BoundKey& key) {
    const auto names = options_of(key);
    return std::ranges::find(names, option.get_name()) != names.end();
  });
}

}  // namespace ww::cli
