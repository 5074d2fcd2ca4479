// Places things on a die, and measures Manhattan routes between them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/point.hpp"

namespace ww::sim::gpu {

// |dx| + |dy| [mm].
[[nodiscard]] double manhattan_mm(Point a, Point b);

struct Geometry {
  double width_mm{};
  double height_mm{};
  double registers_to_l1_mm{};  // mean route within a CU
  std::vector<Point> hubs;      // [engine] where its links end; true geometry only
  std::vector<std::vector<Point>> compute_units;  // [engine][cu] the L1's crossbar port
  std::vector<Point> l2_channels;                 // [channel]
  std::vector<Point> memory_controllers;          // [channel]
  std::vector<std::vector<int>> quadrants;        // [quadrant] -> channels

  // Quadrant that each channel belongs to; -1 for none.
  [[nodiscard]] std::vector<int> quadrant_of_channel() const;
  // Mean Manhattan distance from an engine's CUs to a quadrant's channels [mm], as a reader of the
  // published floorplan computes it.
  [[nodiscard]] double mean_distance_mm(int engine, int quadrant) const;
};

// A published floorplan's statements, besides points.
struct PublishedFloorplan {
  std::string name;
  std::string source;
  bool estimated{true};
  double position_error_95_mm{};  // of a block, along x and along y
  Geometry geometry;              // without hubs
  bool hidden{};                  // none is public: nothing outside may depend on its millimetres
};

// TOML text in the format of model/floorplans/README.md; coordinates to 0.1 um.
[[nodiscard]] std::string to_floorplan_toml(const PublishedFloorplan& floorplan);
// Errors: parse_error and out_of_range with `origin`, line and key.
[[nodiscard]] Result<PublishedFloorplan> parse_published_floorplan(std::string_view toml,
                                                                   const std::string& origin);

// Removes row and column means: what is left is the interaction of row and column. Row-major.
void double_centre(std::vector<double>& matrix, int rows, int columns);

}  // namespace ww::sim::gpu
