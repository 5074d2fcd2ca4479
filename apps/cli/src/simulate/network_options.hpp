// The options of a network: one for each row of its keys, and a few that stand for several keys.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::cli {

struct NetworkOptions {
  NetworkOptions();
  // Every key that has an option of its own is parsed straight into it. Routers are those of
  // dapper_baseline() in every command, and the sizes that the energies are published for. classes
  // 0: as many as the load needs.
  sim::net::NetworkConfig config;
  int k{4};                        // --k: width and height in routers
  int height{0};                   // --height, where the mesh is not square; 0: k
  std::string allocator{"islip"};  // --allocator, of virtual channels and of the switch
  std::string sw_allocator;        // --sw-allocator: another than the channels'; empty: the same
  std::optional<double> approx_threshold;  // --approx-threshold, percent
};

// `options` must live as long as `command`. `more`: what the help says of --network in this
// command.
void add_network_options(CLI::App& command, NetworkOptions& options, std::string_view more);

// The network that the options describe. Errors, by key: invalid_argument (an allocator's name),
// out_of_range (a side of the mesh).
[[nodiscard]] Result<sim::net::NetworkConfig> network_config(const NetworkOptions& options);

// Keys and values of what the command line gives, in the order of the rows: what is not given has
// no entry. Errors as network_config().
using KeyValues = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Result<KeyValues> given_keys(const CLI::App& command, const NetworkOptions& options);

// Refuses an option whose key is one of other networks alone than these: nothing would read it.
// Error invalid_argument, key: the option. Precondition: there are networks of these names.
[[nodiscard]] Status refuse_keys_of_others(const CLI::App& command,
                                           const std::vector<std::string>& networks);

// Whether an option is one of those that add_network_options() added.
[[nodiscard]] bool is_network_option(const CLI::Option& option);

}  // namespace ww::cli
