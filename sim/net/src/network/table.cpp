// Networks by name. CMakeLists.txt, beside this file, lists them.
#include <fmt/format.h>

#include <algorithm>

#include "network/kinds.hpp"
#include "planes.hpp"
#include "ww/core/suggest.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

std::span<const NetworkKind* const> network_kinds() {
  return kNetworks;
}

std::vector<std::string_view> network_names() {
  std::vector<std::string_view> names;
  for (const NetworkKind* kind : kNetworks) {
    names.push_back(kind->name);
  }
  return names;
}

const NetworkKind* find_network(std::string_view name) {
  const auto found = std::find_if(std::begin(kNetworks), std::end(kNetworks),
                                  [name](const NetworkKind* kind) { return kind->name == name; });
  return found == std::end(kNetworks) ? nullptr : *found;
}

std::string_view routing_of(const NetworkConfig& config) {
  const NetworkKind* kind = find_network(config.network);
  return kind == nullptr || kind->routing.empty() ? std::string_view(config.network)
                                                  : kind->routing;
}

Result<const NetworkKind*> network_kind(std::string_view name) {
  if (const NetworkKind* kind = find_network(name)) {
    return kind;
  }
  const auto names = network_names();
  return fail(ErrorCode::not_found,
              fmt::format("network '{}' is unknown; there are: {}{}", name, fmt::join(names, ", "),
                          did_you_mean(name, names)),
              "network");
}

Result<std::unique_ptr<Network>> make_network(const NetworkConfig& config) {
  WW_ASSIGN(kind, network_kind(config.network));
  return make_network(*kind, config);
}

Result<NetworkConfig> with_size(const NetworkKind& kind, const NetworkConfig& config) {
  NetworkConfig sized = config;
  if (kind.set_size != nullptr) {
    WW_TRY(kind.set_size(sized));
  }
  return sized;
}

Result<std::unique_ptr<Network>> make_network(const NetworkKind& kind,
                                              const NetworkConfig& wanted) {
  WW_ASSIGN(config, with_size(kind, wanted));
  WW_TRY(validate(kind, config));
  if (!config.planes || kind.own_planes) {
    return kind.make(config);
  }
  NetworkConfig one = config;
  one.classes = 1;
  one.planes = false;
  std::vector<std::unique_ptr<Network>> planes;
  planes.reserve(static_cast<std::size_t>(config.classes));
  for (int plane = 0; plane < config.classes; ++plane) {
    planes.push_back(kind.make(one));
  }
  return make_planes(config, std::move(planes));
}

}  // namespace ww::sim::net
