// Describes what a network is built from: one typed, validated description for every kind.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/allocator.hpp"
#include "ww/sim/net/key.hpp"

namespace ww::sim::net {

// The settings that some networks alone have, as structs of their own (vc_router/,
// network/<name>/), found by their types. A struct that nobody has changed has its defaults. Copies
// are deep.
class OwnSettings {
 public:
  template <class T>
  [[nodiscard]] const T& get() const {
    static const T kDefaults{};
    const auto found = values_.find(std::type_index(typeid(T)));
    return found == values_.end() ? kDefaults : *std::any_cast<T>(&found->second);
  }
  template <class T>
  [[nodiscard]] T& edit() {
    std::any& value = values_[std::type_index(typeid(T))];
    if (!value.has_value()) {
      value = T{};
    }
    return *std::any_cast<T>(&value);
  }

 private:
  std::map<std::type_index, std::any> values_;
};

// Immutable once a network is built.
struct NetworkConfig {
  std::string network{"mesh"};  // a name of network_names()
  int width{4};                 // routers along x
  int height{4};                // routers along y
  int concentration{1};         // nodes per router
  int classes{1};               // message classes (2: request, reply), each with its own VCs
  bool planes{false};           // or each with a network of its own; flit_bits is one plane's width
  int flit_bits{128};

  int link_delay{1};  // cycles to cross a link

  // Networks that know where memory is (dapper: one node in each row; empty: its own choice).
  std::vector<std::uint32_t> memory_nodes;
  // Replaces the threshold of every approximable packet, as a fraction: 0 changes nothing.
  std::optional<double> error_threshold;

  // Flits that a node sends in a cycle, where the caller knows: a network that has several engines
  // takes the fastest at that load. They give the same results.
  double expected_load{0};

  bool count_events{true};    // per-port use, for energy and heat maps
  bool count_toggles{false};  // real bit transitions per link; needs packets with payload

  // Returns keys that some networks alone have: own<VcRouterConfig>().vcs,
  // own<PhotonicConfig>().epoch. Where that struct is private to a folder, its settings are reached
  // by name, with keys_of() and set_key().
  template <class T>
  [[nodiscard]] const T& own() const {
    return own_.get<T>();
  }
  template <class T>
  [[nodiscard]] T& own() {
    return own_.edit<T>();
  }

 private:
  OwnSettings own_;
};

// The rows of every key: the network's size and its routers', then those of each network. `config`
// must outlive them. Names occur once.
[[nodiscard]] BoundKeys keys_of(NetworkConfig& config);
// Sets the key of that name. Errors name the key: not_found, and those of set_value().
Status set_key(NetworkConfig& config, std::string_view name, std::string_view text);

// Error invalid_argument or out_of_range: the message names the key and the reason.
[[nodiscard]] Status validate(const NetworkConfig& config);

// Nodes (terminals) of the network.
[[nodiscard]] inline int node_count(const NetworkConfig& config) {
  return config.width * config.height * config.concentration;
}

// The configurations of the papers.
// Dapper (Raparti and Pasricha, NOCS 2018), section V: 4-stage routers, 5 VCs of 4 flits a port.
[[nodiscard]] NetworkConfig dapper_baseline();
// Dapper's routers with 64-bit planes for requests (class 0) and replies (class 1, overlay).
[[nodiscard]] NetworkConfig dapper_network();
// The baseline with Approx-NoC's compressors in its network interfaces.
[[nodiscard]] NetworkConfig approx_noc_network();
// One memory node a row and, while the mesh is wide enough, no two in a column: 1, 3, 0, 2 of four
// columns. Dapper takes these when memory_nodes is empty.
[[nodiscard]] std::vector<std::uint32_t> memory_node_in_each_row(int width, int height);
// GPUOPT (Bashir et al.), the electrical mesh EMESH: 256-bit flits, 2-cycle routers, 1-cycle links.
[[nodiscard]] NetworkConfig gpuopt_emesh();

}  // namespace ww::sim::net
