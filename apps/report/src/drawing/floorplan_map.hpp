// A published floorplan as a map whose wires are coloured by what they cost or draw.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ww/model/floorplan.hpp"

namespace ww::report {

// Mean of the points; the origin where there are none.
[[nodiscard]] model::Point middle_of(const std::vector<model::Point>& points);

// Returns the step of the eight heat colours (classes h1 ... h8) of a value between low and high.
[[nodiscard]] int heat_step(double value, double low, double high);

// Every route from an engine's middle to a quadrant's, coloured by `value(engine, quadrant)` (NaN
// leaves a route out) on a scale from the least to the most; `unit` is written behind the figures.
[[nodiscard]] std::string route_map(const model::Floorplan& plan,
                                    const std::function<double(int, int)>& value,
                                    const std::string& what, const std::string& unit);

// The three segments, each in one colour: compute units (registers to L1), routes to the L2, and
// L2 to memory controllers; absent is drawn without colour. Scale from 0 to the most.
[[nodiscard]] std::string segment_map(const model::Floorplan& plan,
                                      const std::array<std::optional<double>, 3>& segments,
                                      const std::string& what, const std::string& unit);

// A part of a chip's energy in the list beside a map.
struct MapPart {
  std::string name;
  double value{}, low{}, high{};  // 95% interval
  bool known{true};               // else it is at most `high`
};

// Draws where energy went: the die with its segments coloured as in `segment_map`, and beside it a
// bar for each part, with its interval as a line. An unknown part is a line up to what it is at
// most. `said` are the hints of the segments, which stand for absent values too.
[[nodiscard]] std::string energy_map(const model::Floorplan& plan,
                                     const std::array<std::optional<double>, 3>& segments,
                                     const std::array<std::string, 3>& said,
                                     const std::vector<MapPart>& parts, const std::string& what,
                                     const std::string& unit);

// The public floorplan of a part that comes with the program ("w9100", "virtual:w9100"), if any.
[[nodiscard]] std::optional<model::Floorplan> known_floorplan(const std::string& device);

}  // namespace ww::report
