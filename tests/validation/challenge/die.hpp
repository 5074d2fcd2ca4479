// Places blocks as they are, and as the floorplan has them. Millimetres from the lower left corner.
#pragma once

#include <string>
#include <vector>

#include "draws.hpp"

namespace ww::challenge {

struct Place {
  double x_mm{}, y_mm{};
};

inline constexpr int kQuadrants = 4;
inline constexpr int kChannelsOfQuadrant = 4;

// Blocks of one chip, of its floorplan or as they are.
struct Blocks {
  std::vector<std::vector<Place>> compute_units;  // [engine]
  std::vector<std::vector<Place>> channels;       // [quadrant]

  // Lengths of all routes from an engine's compute units to a quadrant's channels, along x and y.
  [[nodiscard]] std::vector<double> routes_mm(int engine, int quadrant) const;
  [[nodiscard]] double distance_mm(int engine, int quadrant) const;  // their mean
};

struct Die {
  double width_mm{}, height_mm{};
  Blocks published, real;
  double declared_error_mm{};  // 95%
  double most_error_mm{};      // the largest shift of a block, for strata
  bool harvested{}, swapped{};
  int engines{};
  [[nodiscard]] std::string floorplan_toml() const;  // as published
};

[[nodiscard]] Die draw_die(Draws& draws);

// Slope of `values` over `distances`, [engine][quadrant] each, rows' and columns' means taken out
// of both: sum E' d' / sum d'^2.
[[nodiscard]] double crossed_slope(const std::vector<std::vector<double>>& values,
                                   const std::vector<std::vector<double>>& distances);

}  // namespace ww::challenge
