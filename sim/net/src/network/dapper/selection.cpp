#include "network/dapper/selection.hpp"

#include <initializer_list>

namespace ww::sim::net {
namespace {

constexpr std::size_t at(Port port) {
  return static_cast<std::size_t>(port);
}
constexpr std::uint8_t bits(std::initializer_list<Port> ports) {
  unsigned mask = 0;
  for (const Port port : ports) {
    mask |= 1u << at(port);
  }
  return static_cast<std::uint8_t>(mask);
}

void connect(PortMap& map, Port input, Port output) {
  map.from_input[at(output)] = static_cast<std::uint8_t>(input);
}

void latch(PortMap& map, Port input, std::initializer_list<Port> outputs) {
  map.latched[at(input)] = true;
  map.latch_to[at(input)] = bits(outputs);
}

}  // namespace

PortMap select_ports(Coordinates router, Coordinates mc) {
  PortMap map;
  if (router.x == mc.x && router.y == mc.y) {
    map.scenario = 1;
    connect(map, Port::local, Port::east);
    connect(map, Port::local, Port::west);
    latch(map, Port::local, {Port::north, Port::south});
  } else if (router.y == mc.y) {
    map.scenario = 2;
    connect(map, Port::east, Port::west);
    connect(map, Port::west, Port::east);
    latch(map, Port::east, {Port::north, Port::south, Port::local});
    latch(map, Port::west, {Port::north, Port::south, Port::local});
  } else if (router.y > mc.y) {
    map.scenario = 3;
    connect(map, Port::north, Port::south);
    latch(map, Port::north, {Port::local});
  } else {
    map.scenario = 4;
    connect(map, Port::south, Port::north);
    latch(map, Port::south, {Port::local});
  }
  return map;
}

}  // namespace ww::sim::net
