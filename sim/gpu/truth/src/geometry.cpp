#include "geometry.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim::gpu {

double manhattan_mm(Point a, Point b) {
  return std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm);
}

std::vector<int> Geometry::quadrant_of_channel() const {
  std::vector<int> result(l2_channels.size(), -1);
  for (std::size_t quadrant = 0; quadrant < quadrants.size(); ++quadrant) {
    for (const int channel : quadrants[quadrant]) {
      if (channel >= 0 && static_cast<std::size_t>(channel) < result.size()) {
        result[static_cast<std::size_t>(channel)] = static_cast<int>(quadrant);
      }
    }
  }
  return result;
}

double Geometry::mean_distance_mm(int engine, int quadrant) const {
  const auto& cus = compute_units[static_cast<std::size_t>(engine)];
  const auto& channels = quadrants[static_cast<std::size_t>(quadrant)];
  double sum = 0;
  for (const Point cu : cus) {
    for (const int channel : channels) {
      sum += manhattan_mm(cu, l2_channels[static_cast<std::size_t>(channel)]);
    }
  }
  return sum / static_cast<double>(cus.size() * channels.size());
}

std::string to_floorplan_toml(const PublishedFloorplan& floorplan) {
  const Geometry& geometry = floorplan.geometry;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "name = \"{}\"\nestimated = {}\nsource = \"{}\"\nwidth_mm = {:.4f}\n"
                 "height_mm = {:.4f}\nregisters_to_l1_mm = {:.4f}\n"
                 "position_error_95_mm = {:.4f}\nquadrants = [",
                 floorplan.name, floorplan.estimated, floorplan.source, geometry.width_mm,
                 geometry.height_mm, geometry.registers_to_l1_mm, floorplan.position_error_95_mm);
  for (std::size_t quadrant = 0; quadrant < geometry.quadrants.size(); ++quadrant) {
    fmt::format_to(out, "{}[{}]", quadrant == 0 ? "" : ", ",
                   fmt::join(geometry.quadrants[quadrant], ", "));
  }
  text += "]\n";
  for (const auto& engine : geometry.compute_units) {
    text += "\n[[engine]]\ncu = [";
    for (std::size_t cu = 0; cu < engine.size(); ++cu) {
      fmt::format_to(out, "{}[{:.4f}, {:.4f}]", cu == 0 ? "" : ", ", engine[cu].x_mm,
                     engine[cu].y_mm);
    }
    text += "]\n";
  }
  for (std::size_t channel = 0; channel < geometry.l2_channels.size(); ++channel) {
    const Point at = geometry.l2_channels[channel];
    const Point controller = geometry.memory_controllers[channel];
    fmt::format_to(out, "\n[[l2]]\nat = [{:.4f}, {:.4f}]\nmemory_controller = [{:.4f}, {:.4f}]\n",
                   at.x_mm, at.y_mm, controller.x_mm, controller.y_mm);
  }
  return text;
}

Result<PublishedFloorplan> parse_published_floorplan(std::string_view toml_text,
                                                     const std::string& origin) {
  WW_ASSIGN(document, parse_toml(toml_text, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  PublishedFloorplan floorplan;
  Geometry& geometry = floorplan.geometry;
  floorplan.name = root.text("name");
  floorplan.estimated = root.boolean("estimated");
  floorplan.source = root.text("source");
  geometry.width_mm = root.number("width_mm", 1, 100);
  geometry.height_mm = root.number("height_mm", 1, 100);
  geometry.registers_to_l1_mm = root.number("registers_to_l1_mm", 0, 50);
  floorplan.position_error_95_mm = root.number("position_error_95_mm", 0, 100);
  for (auto& engine : root.tables("engine")) {
    geometry.compute_units.push_back(engine.points("cu", geometry.width_mm, geometry.height_mm));
    engine.finish();
  }
  for (auto& channel : root.tables("l2")) {
    geometry.l2_channels.push_back(channel.point("at", geometry.width_mm, geometry.height_mm));
    geometry.memory_controllers.push_back(
        channel.point("memory_controller", geometry.width_mm, geometry.height_mm));
    channel.finish();
  }
  geometry.quadrants = root.integer_rows(
      "quadrants", 0, std::max(0, static_cast<int>(geometry.l2_channels.size()) - 1));
  // Where positions come from changes nothing here; the model reads it.
  if (root.has("evidence")) {
    for (const auto& entry : root.tables("evidence")) static_cast<void>(entry);
  }
  root.finish();
  if (errors.first()) {
    return tl::unexpected<Error>(*errors.first());
  }
  return floorplan;
}

void double_centre(std::vector<double>& matrix, int rows, int columns) {
  const auto at = [&](int row, int column) -> double& {
    return matrix[static_cast<std::size_t>(row * columns + column)];
  };
  for (int row = 0; row < rows; ++row) {
    double mean = 0;
    for (int column = 0; column < columns; ++column) {
      mean += at(row, column) / columns;
    }
    for (int column = 0; column < columns; ++column) {
      at(row, column) -= mean;
    }
  }
  for (int column = 0; column < columns; ++column) {
    double mean = 0;
    for (int row = 0; row < rows; ++row) {
      mean += at(row, column) / rows;
    }
    for (int row = 0; row < rows; ++row) {
      at(row, column) -= mean;
    }
  }
}

}  // namespace ww::sim::gpu
