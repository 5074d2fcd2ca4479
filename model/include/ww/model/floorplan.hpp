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

// Where a block's position comes from: one entry a block or kind of blocks.
struct BlockEvidence {
  std::string block;      // "shader engines"
  std::string source;     // title of the page or photograph, and what it says
  std::string url;        // empty where it has none
  Millimetre error_95{};  // how far the block may lie from where it is drawn
  bool inferred{};  // from a block diagram or another die, not read off a drawing or photograph
};

// Error of blocks in a floorplan that states none: half of a small block.
inline constexpr double kUnstatedPositionErrorMm = 1.0;

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
  // How far a block may lie from where it is drawn, along x and along y (95% half-width). The
  // blocks of a kind (engines, quadrants of the L2) may all be off the same way.
  Millimetre position_error_95{};
  std::vector<BlockEvidence> evidence;  // may be empty

  // Mean routed distance from an engine's CUs to a quadrant's channels.
  [[nodiscard]] Millimetre distance(int engine, int quadrant) const;
  // Mean over channels of the route to their memory controller.
  [[nodiscard]] Millimetre l2_to_memory() const;
  // Error of an energy per millimetre from the interaction of engine and quadrant, by the blocks'
  // position errors: relative, 95% half-width. The worst is taken: the blocks of a kind are all off
  // the same way, from the die's middle or towards it, along x and along y apart. To first order
  // that shifts the projection of the true distances on the published ones; errors that each block
  // has of its own shift it less. 1 where the distances have no interaction.
  [[nodiscard]] double scale_error_95() const;
  // Error of a route's mean length: of its two ends, along two axes, in quadrature.
  [[nodiscard]] Millimetre route_error_95() const;
};

// Errors: parse_error and out_of_range with file (or `origin`), line and key.
[[nodiscard]] Result<Floorplan> parse_floorplan(std::string_view toml, const std::string& origin);
[[nodiscard]] Result<Floorplan> load_floorplan(const std::filesystem::path& file);

}  // namespace ww::model
