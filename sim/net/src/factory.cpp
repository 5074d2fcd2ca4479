#include "ww/sim/net/factory.hpp"

#include <array>

#include "impl/networks.hpp"

namespace ww::sim::net {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Network> (*make)(const NetworkConfig&);
};

// Config has been validated: the mesh inside it differs in its name alone.
std::unique_ptr<Network> approx_noc(const NetworkConfig& config) {
  NetworkConfig inside = config;
  inside.network = "mesh";
  return make_approx_noc(config, std::move(*make_network(inside)));
}

constexpr std::array kNetworks{
    Entry{"ideal", make_ideal},        Entry{"mesh", make_mesh},
    Entry{"mesh-adaptive", make_mesh}, Entry{"mesh-bufferless", make_deflection},
    Entry{"mesh-priority", make_mesh}, Entry{"dapper", make_dapper},
    Entry{"approx-noc", approx_noc},   Entry{"prior-opt", make_photonic},
    Entry{"gpuopt", make_photonic},    Entry{"ps-gpuopt", make_photonic},
};

}  // namespace

std::vector<std::string_view> network_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kNetworks) {
    names.push_back(entry.name);
  }
  return names;
}

Result<std::unique_ptr<Network>> make_network(const NetworkConfig& config) {
  WW_TRY(validate(config));
  for (const Entry& entry : kNetworks) {
    if (entry.name != config.network) {
      continue;
    }
    // These two arrange their planes themselves.
    if (!config.planes || config.network == "dapper" || config.network == "approx-noc") {
      return entry.make(config);
    }
    NetworkConfig one = config;
    one.classes = 1;
    one.planes = false;
    std::vector<std::unique_ptr<Network>> planes;
    for (int plane = 0; plane < config.classes; ++plane) {
      planes.push_back(entry.make(one));
    }
    return make_planes(config, std::move(planes));
  }
  return fail(ErrorCode::not_found, "network '" + config.network + "' is unknown", "network");
}

}  // namespace ww::sim::net
