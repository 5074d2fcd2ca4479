// Published floorplans: positions of shader engines, L2 channels and memory controllers.
// TOML format: model/floorplans/README.md. Distances are routed (Manhattan along declared routes).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"

namespace ww::model {

struct Point {
  double x_mm{};
  double y_mm{};
};

struct Floorplan {
  std::string name;
  bool estimated{};  // distances read off a die photo, or guessed; not sourced from the maker
  std::string source;
  Millimetre width{}, height{};
  std::vector<std::vector<Point>> compute_units;  // [engine][cu]
  std::vector<Point> l2_channels;                 // [channel]
  std::vector<Point> memory_controllers;          // [channel]
  std::vector<std::vector<int>> quadrants;        // [quadrant] -> channels
  Millimetre registers_to_l1{};                   // mean route within a CU
  double distance_tolerance_95{};                 // relative, of the scale of all distances

  // Mean routed distance from an engine's CUs to a quadrant's channels.
  [[nodiscard]] Millimetre distance(int engine, int quadrant) const;
  // Mean over channels of the route to their memory controller.
  [[nodiscard]] Millimetre l2_to_memory() const;
};

// Errors: parse_error and out_of_range with file (or `origin`), line and key.
[[nodiscard]] Result<Floorplan> parse_floorplan(std::string_view toml, const std::string& origin);
[[nodiscard]] Result<Floorplan> load_floorplan(const std::filesystem::path& file);

}  // namespace ww::model
