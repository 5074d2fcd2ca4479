#include "chip/random_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ww::sim::gpu {
namespace {

std::array<int, 4> shuffled(Draw& draw) {
  std::array<int, 4> order{0, 1, 2, 3};
  for (int i = 3; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(draw.integer(0, i))]);
  }
  return order;
}

double tenth_micron(double mm) {
  return std::round(mm * 1e4) * 1e-4;
}

// Engines in the corners, a quadrant of the L2 towards each.
void corners(Draw& draw, int cus, Geometry& geometry) {
  const double w = geometry.width_mm;
  const double h = geometry.height_mm;
  const double l2_x = w * draw.uniform(0.08, 0.20);
  const double l2_y = h * draw.uniform(0.05, 0.18);
  const double half_x = w * draw.uniform(0.012, 0.025);  // channels around their quadrant's centre
  const double half_y = h * draw.uniform(0.012, 0.025);
  const double hub_x = l2_x + half_x + 0.03 * w;
  const double hub_y = l2_y + half_y + 0.03 * h;
  const int columns = draw.integer(3, 4);
  const int rows = (cus + columns - 1) / columns;
  const double edge_x = 0.46 * w;
  const double edge_y = 0.46 * h;
  const std::array<int, 4> engine_at = shuffled(draw);
  const std::array<int, 4> quadrant_at = shuffled(draw);
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const double sx = corner % 2 == 0 ? -1.0 : 1.0;
    const double sy = corner < 2 ? 1.0 : -1.0;
    const auto place = [&](double x, double y) {
      return Point{tenth_micron(w / 2 + sx * x), tenth_micron(h / 2 + sy * y)};
    };
    const auto engine = static_cast<std::size_t>(engine_at[corner]);
    geometry.hubs[engine] = place(hub_x, hub_y);
    for (int cu = 0; cu < cus; ++cu) {
      const int above = cu / columns;
      const double across = (cu % columns + 0.5) / columns;
      const double up = (above + 0.5) / rows;
      geometry.compute_units[engine].push_back(
          place(hub_x + across * (edge_x - hub_x), hub_y + up * (edge_y - hub_y)));
    }
    const auto quadrant = static_cast<std::size_t>(quadrant_at[corner]);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t channel = quadrant * 4 + k;
      geometry.l2_channels[channel] =
          place(l2_x + (k % 2 == 0 ? -half_x : half_x), l2_y + (k < 2 ? -half_y : half_y));
      geometry.memory_controllers[channel] =
          place(0.48 * w, h * (0.12 + 0.1 * static_cast<double>(k)));
    }
  }
}

// Engines in columns along the top, the L2 in a row below them.
void row(Draw& draw, int cus, Geometry& geometry) {
  const double w = geometry.width_mm;
  const double h = geometry.height_mm;
  const double l2_y = h * draw.uniform(0.25, 0.4);
  const double half_x = w * draw.uniform(0.01, 0.025);
  const double half_y = h * draw.uniform(0.01, 0.02);
  const double hub_y = l2_y + half_y + 0.05 * h;
  const double engine_pitch = w * draw.uniform(0.17, 0.24);
  const double l2_pitch = w * draw.uniform(0.14, 0.22);
  const std::array<int, 4> engine_at = shuffled(draw);
  const std::array<int, 4> quadrant_at = shuffled(draw);
  for (std::size_t place = 0; place < 4; ++place) {
    const double offset = static_cast<double>(place) - 1.5;
    const double engine_x = tenth_micron(w / 2 + offset * engine_pitch);
    const auto engine = static_cast<std::size_t>(engine_at[place]);
    geometry.hubs[engine] = {engine_x, tenth_micron(hub_y)};
    for (int cu = 0; cu < cus; ++cu) {
      const double up = (cu + 0.5) / cus;
      geometry.compute_units[engine].push_back(
          {engine_x, tenth_micron(hub_y + up * (0.95 * h - hub_y))});
    }
    const auto quadrant = static_cast<std::size_t>(quadrant_at[place]);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t channel = quadrant * 4 + k;
      const double x = w / 2 + offset * l2_pitch + (k % 2 == 0 ? -half_x : half_x);
      const double y = l2_y + (k < 2 ? -half_y : half_y);
      geometry.l2_channels[channel] = {tenth_micron(x), tenth_micron(y)};
      geometry.memory_controllers[channel] = {tenth_micron(x), tenth_micron(0.03 * h)};
    }
  }
}

}  // namespace

void draw_geometry(Draw& draw, const Architecture& architecture, Truth& truth) {
  Geometry& geometry = truth.geometry;
  geometry.width_mm = tenth_micron(draw.uniform(12, 26));
  geometry.height_mm =
      tenth_micron(std::clamp(geometry.width_mm * draw.uniform(0.75, 1.33), 12.0, 26.0));
  geometry.registers_to_l1_mm = tenth_micron(draw.uniform(1.5, 4.5));
  geometry.hubs.resize(4);
  geometry.compute_units.resize(4);
  geometry.l2_channels.resize(16);
  geometry.memory_controllers.resize(16);
  geometry.quadrants = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  if (draw.unit() < 0.7) {
    corners(draw, architecture.cus_per_engine, geometry);
  } else {
    row(draw, architecture.cus_per_engine, geometry);
  }
}

// Arrays in columns above and below the L2, two of each column one engine, as RDNA 2's drawings
// show them. A quadrant is two slices above and two below, and quadrants stand side by side.
void draw_rdna_geometry(Draw& draw, const Architecture& architecture, Truth& truth) {
  Geometry& geometry = truth.geometry;
  const int columns = architecture.shader_engines / architecture.arrays_per_engine();
  // Draws a die of some 240 mm2 (Navi 23) to 520 mm2 (Navi 21), wider than high.
  const double w = tenth_micron(draw.uniform(18, 29));
  const double h = tenth_micron(w * draw.uniform(0.62, 0.8));
  geometry.width_mm = w;
  geometry.height_mm = h;
  geometry.registers_to_l1_mm = tenth_micron(draw.uniform(1.5, 2.5));
  const double l2_pitch = w * draw.uniform(0.13, 0.2);
  const double half_x = l2_pitch * draw.uniform(0.2, 0.25);
  const double half_y = h * draw.uniform(0.03, 0.06);
  const double hub_y = half_y + h * draw.uniform(0.06, 0.1);
  const double pitch = w * draw.uniform(0.85, 0.95) / columns;
  const std::array<int, 4> quadrant_at = shuffled(draw);
  const int in_row = architecture.cus_per_engine / 2;
  for (int column = 0; column < columns; ++column) {
    const double hub_x = w / 2 + (column - (columns - 1) / 2.0) * pitch;
    for (const double side : {1.0, -1.0}) {
      const auto place = [&](double x, double y) {
        return Point{tenth_micron(x), tenth_micron(h / 2 + side * y)};
      };
      geometry.hubs.push_back(place(hub_x, hub_y));
      auto& cus = geometry.compute_units.emplace_back();
      for (int cu = 0; cu < architecture.cus_per_engine; ++cu) {
        const int above = cu / in_row;
        const double across = (cu % in_row - (in_row - 1) / 2.0) / in_row;
        const double up = (above + 0.5) / 2;
        cus.push_back(place(hub_x + 0.9 * across * pitch, hub_y + up * (0.46 * h - hub_y)));
      }
    }
  }
  geometry.quadrants = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  geometry.l2_channels.resize(16);
  geometry.memory_controllers.resize(16);
  for (std::size_t at = 0; at < 4; ++at) {
    const double x = w / 2 + (static_cast<double>(at) - 1.5) * l2_pitch;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t channel = static_cast<std::size_t>(quadrant_at[at]) * 4 + k;
      geometry.l2_channels[channel] = {tenth_micron(x + (k % 2 == 0 ? -half_x : half_x)),
                                       tenth_micron(h / 2 + (k < 2 ? half_y : -half_y))};
      // Along the left and the right edge.
      const double up = h * (0.14 + 0.09 * static_cast<double>(4 * (at % 2) + k));
      geometry.memory_controllers[channel] = {tenth_micron(at < 2 ? 0.03 * w : 0.97 * w),
                                              tenth_micron(up)};
    }
  }
}

// How far a published block may lie from where it is (95%): from a die photo read to a tenth of a
// millimetre to a block diagram that shows no more than the order of things.
constexpr double kMinPositionErrorMm = 0.1;
constexpr double kMaxPositionErrorMm = 0.6;

void draw_published(Draw& draw, Truth& truth) {
  const Geometry& exact = truth.geometry;
  PublishedFloorplan& published = truth.published;
  Geometry& geometry = published.geometry;
  const double w = exact.width_mm;
  const double h = exact.height_mm;
  const double error_95 = draw.uniform(kMinPositionErrorMm, kMaxPositionErrorMm);
  published.name = "random";
  published.estimated = true;
  published.source = "drawn with the chip";
  published.position_error_95_mm = tenth_micron(error_95);
  geometry = exact;
  geometry.hubs.clear();

  if (truth.chip_class == ChipClass::nested) {
    // Distances are right but for a common scale: all is drawn too large or too small, so that the
    // ports of the L2 are off by as much, along x and y together.
    double from_middle = 0;
    for (const Point port : exact.l2_channels) {
      from_middle += manhattan_mm(port, {w / 2, h / 2}) / 2;
    }
    from_middle /= static_cast<double>(exact.l2_channels.size());
    const double scale =
        1.0 + draw.within_tolerance(error_95 / (std::numbers::sqrt2 * from_middle));
    const auto scaled = [&](Point& point) {
      point = {std::clamp(w / 2 + (point.x_mm - w / 2) * scale, 0.0, w),
               std::clamp(h / 2 + (point.y_mm - h / 2) * scale, 0.0, h)};
    };
    for (auto& engine : geometry.compute_units) std::ranges::for_each(engine, scaled);
    for (auto* points : {&geometry.l2_channels, &geometry.memory_controllers}) {
      std::ranges::for_each(*points, scaled);
    }
    geometry.registers_to_l1_mm = exact.registers_to_l1_mm * scale;
    return;
  }
  // Half of the variance is common to the blocks of a kind, towards the middle or away from it, and
  // half each block's own.
  const double half_95 = error_95 / std::numbers::sqrt2;
  const auto shift = [&] {
    const double x = draw.within_tolerance(half_95);
    return Point{x, draw.within_tolerance(half_95)};
  };
  const auto moved = [&](Point point, Point outward, Point own) {
    const double x = point.x_mm < w / 2 ? -outward.x_mm : outward.x_mm;
    const double y = point.y_mm < h / 2 ? -outward.y_mm : outward.y_mm;
    return Point{std::clamp(point.x_mm + x + own.x_mm, 0.0, w),
                 std::clamp(point.y_mm + y + own.y_mm, 0.0, h)};
  };
  const Point engines_outward = shift();
  const Point l2_outward = shift();
  for (auto& engine : geometry.compute_units) {
    const Point own = shift();
    for (Point& cu : engine) cu = moved(cu, engines_outward, own);
  }
  for (const auto& members : geometry.quadrants) {
    const Point own = shift();
    for (const int channel : members) {
      Point& port = geometry.l2_channels[static_cast<std::size_t>(channel)];
      port = moved(port, l2_outward, own);
    }
  }
  for (Point& controller : geometry.memory_controllers) {
    controller = moved(controller, {}, shift());
  }
}

}  // namespace ww::sim::gpu
