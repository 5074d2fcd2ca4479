#include "ww/sim/net/crossbar_distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ww::sim::net {
namespace {

// Cycles that a flit takes on repeated wires beyond the two that the network takes from a node to
// its switch and from there to a node.
std::uint16_t more_cycles(double mm, double ps_per_mm, Hertz clock) {
  constexpr double kTaken = 2;
  const double cycles = mm * ps_per_mm * 1e-12 * clock.to<double>();
  return static_cast<std::uint16_t>(std::max(std::ceil(cycles) - kTaken, 0.0));
}

}  // namespace

NodeDistances crossbar_distances(const std::vector<std::vector<double>>& mm, double ps_per_mm,
                                 Hertz clock) {
  constexpr double kUmPerMm = 1e3;
  const std::size_t units = mm.size();
  const std::size_t channels = mm.front().size();
  const std::size_t nodes = units + channels;
  NodeDistances distances;
  distances.um.resize(nodes * nodes);
  distances.more_cycles.resize(nodes * nodes);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const double length_mm = mm[unit][channel];
      const auto um = static_cast<std::uint32_t>(std::lround(kUmPerMm * length_mm));
      const std::uint16_t more = more_cycles(length_mm, ps_per_mm, clock);
      const std::size_t there = unit * nodes + units + channel;
      const std::size_t back = (units + channel) * nodes + unit;
      distances.um[there] = distances.um[back] = um;
      distances.more_cycles[there] = distances.more_cycles[back] = more;
    }
  }
  return distances;
}

}  // namespace ww::sim::net
