// Networks by name. A new one is a folder in src/network, and its name in the list of that folder.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ww/sim/net/i_network.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::net {

class Flows;

// Describes a kind of network, as its folder declares it. Code that needs to know what kind of
// network it has reads these facts, never the name.
struct NetworkKind {
  std::string_view name;  // on the command line and in files: "mesh-adaptive"

  // Builds it. Precondition: validate(config) has succeeded.
  std::unique_ptr<Network> (*make)(const NetworkConfig& config);

  // Checks what the rows of the keys cannot: limits that depend on other keys. Errors name the key.
  Status (*validate)(const NetworkConfig& config);

  // Appends the rows of the keys that not every network has; kinds may share them. May be null.
  void (*keys)(NetworkConfig& config, BoundKeys& keys){};

  // Requests and replies would wait for each other in its buffers: they need classes of their own.
  bool needs_classes{};
  // The ways of its packets, where they are fixed beforehand (flows.hpp); null: they are not, for
  // any configuration or, as a result, for this one.
  // Precondition: validate(config) has succeeded.
  std::unique_ptr<Flows> (*flows)(const NetworkConfig& config){};
  // Returns the router that energy accounting uses. Null: five ports and no buffers.
  power::RouterSize (*router)(const NetworkConfig& config){};
  // Routing in the field's words ("XY"); empty: the name says it.
  std::string_view routing{};
  // Sets width, height and concentration where the network's own keys decide how many nodes there
  // are, as a topology's file does. May be null. Errors name the key.
  Status (*set_size)(NetworkConfig& config){};
  // The key whose value chooses this network when no other is named; empty: none.
  std::string_view chosen_by{};
  // Whether it arranges a plane for each class by itself, whatever `planes` says.
  bool own_planes{};
  // Data that the program lets change may arrive changed.
  bool approximates{};
  // Signals travel as light.
  bool light{};
  // Each pair of nodes has one switch between them, so that NodeDistances say how long its wires
  // are.
  bool one_switch{};
  // Joins cores and memory only: some pairs of nodes have no way (inject() then says unsupported).
  bool only_to_memory{};
  // Number of message classes that it needs; 0: as many as its user wants.
  int classes{};
  // The key that "NAME:VARIANT" sets where curves of several are asked for; empty: it has none.
  std::string_view variant_key{};

  // Where memory and cores lie when nobody says so. Null: memory at a quarter of the nodes, on the
  // top and bottom rows, and cores at all others.
  std::vector<NodeId> (*memory_nodes)(const NetworkConfig& config){};
  std::vector<NodeId> (*core_nodes)(const NetworkConfig& config){};

  // Clock, where the network has one of its own [Hz]. Null: whatever its user's clock is.
  double (*clock_hz)(const NetworkConfig& config){};
  void (*set_clock_hz)(NetworkConfig& config, double clock_hz){};

  // The configuration that its paper has. Null: dapper_baseline() under its name.
  NetworkConfig (*paper)(){};
};

// Every network, in the order of the table.
[[nodiscard]] std::span<const NetworkKind* const> network_kinds();
[[nodiscard]] std::vector<std::string_view> network_names();
// nullptr for an unknown name.
[[nodiscard]] const NetworkKind* find_network(std::string_view name);
// How its packets find their way: the kind's routing, or its name.
[[nodiscard]] std::string_view routing_of(const NetworkConfig& config);
// Error not_found, with a suggestion.
[[nodiscard]] Result<const NetworkKind*> network_kind(std::string_view name);

// The configuration with the size that its network gives it. Errors: those of set_size().
[[nodiscard]] Result<NetworkConfig> with_size(const NetworkKind& kind, const NetworkConfig& config);

// Validates as validate(config) does, for a network that need not be in the table.
[[nodiscard]] Status validate(const NetworkKind& kind, const NetworkConfig& config);

// Error: what validate(config) says; not_found for an unknown config.network.
[[nodiscard]] Result<std::unique_ptr<Network>> make_network(const NetworkConfig& config);
// A network that is not in the table, as one of a test is. Errors: those of its validate().
[[nodiscard]] Result<std::unique_ptr<Network>> make_network(const NetworkKind& kind,
                                                            const NetworkConfig& config);

}  // namespace ww::sim::net
