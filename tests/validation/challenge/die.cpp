#include "die.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ww::challenge {
namespace {

constexpr double kTo95 = 1.96;

// Compute units of an engine: a grid of three by three over a tenth of the die either way.
std::vector<Place> unit_grid(const Place& centre, double step_x_mm, double step_y_mm) {
  std::vector<Place> units;
  for (int row = -1; row <= 1; ++row) {
    for (int column = -1; column <= 1; ++column) {
      units.push_back({centre.x_mm + column * step_x_mm, centre.y_mm + row * step_y_mm});
    }
  }
  return units;
}

void shift(std::vector<Place>& places, double x_mm, double y_mm) {
  for (Place& place : places) {
    place.x_mm += x_mm;
    place.y_mm += y_mm;
  }
}

double outwards(double at, double middle) {
  return at < middle ? -1.0 : 1.0;
}

using Table = std::vector<std::vector<double>>;

Table crossed(const Table& table) {
  const std::size_t rows = table.size();
  const std::size_t columns = table.front().size();
  std::vector<double> row(rows, 0), column(columns, 0);
  double mean = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      row[r] += table[r][c] / static_cast<double>(columns);
      column[c] += table[r][c] / static_cast<double>(rows);
      mean += table[r][c] / static_cast<double>(rows * columns);
    }
  }
  Table result = table;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[r][c] += mean - row[r] - column[c];
  }
  return result;
}

}  // namespace

std::vector<double> Blocks::routes_mm(int engine, int quadrant) const {
  std::vector<double> lengths;
  for (const Place& unit : compute_units.at(static_cast<std::size_t>(engine))) {
    for (const Place& port : channels.at(static_cast<std::size_t>(quadrant))) {
      lengths.push_back(std::abs(unit.x_mm - port.x_mm) + std::abs(unit.y_mm - port.y_mm));
    }
  }
  return lengths;
}

double Blocks::distance_mm(int engine, int quadrant) const {
  const auto lengths = routes_mm(engine, quadrant);
  double sum = 0;
  for (const double length : lengths) sum += length;
  return sum / static_cast<double>(lengths.size());
}

Die draw_die(Draws& draws) {
  Die die;
  die.width_mm = draws.number("die.width_mm");
  die.height_mm = die.width_mm * draws.number("die.aspect");
  die.engines = static_cast<int>(draws.number("die.engines"));
  const double middle_x = die.width_mm / 2;
  const double middle_y = die.height_mm / 2;
  const double engine_x = draws.number("die.engine_spread_x") * die.width_mm;
  const double engine_y = draws.number("die.engine_spread_y") * die.height_mm;
  const double port_x = draws.number("die.port_spread_x") * die.width_mm;
  const double port_y = draws.number("die.port_spread_y") * die.height_mm;
  const int rows = std::max(die.engines / 2, 2);
  for (int e = 0; e < die.engines; ++e) {
    const double side = e % 2 == 0 ? -1 : 1;
    const int row = e / 2;
    const double height = rows == 1 ? 0 : 2.0 * row / (rows - 1) - 1;
    die.published.compute_units.push_back(
        unit_grid({middle_x + side * engine_x, middle_y + height * engine_y}, 0.045 * die.width_mm,
                  0.04 * die.height_mm));
  }
  for (int q = 0; q < kQuadrants; ++q) {
    std::vector<Place> ports;
    ports.reserve(kChannelsOfQuadrant);
    for (int c = 0; c < kChannelsOfQuadrant; ++c) {
      const int row = c / 2;
      ports.push_back({middle_x + (q % 2 == 0 ? -1 : 1) * port_x + 0.35 * (c % 2 - 0.5),
                       middle_y + (q < 2 ? -1 : 1) * port_y + 0.35 * (row - 0.5)});
    }
    die.published.channels.push_back(std::move(ports));
  }

  // Moves blocks: those of a kind are off the same way, and each block by itself.
  die.declared_error_mm = draws.number("die.declared_error_mm");
  const double sigma_mm = die.declared_error_mm / kTo95 * draws.number("die.error_over_declared");
  const double own_share = draws.number("die.own_error_share");
  auto random = draws.stream("die.positions");
  std::normal_distribution<double> normal;
  die.real = die.published;
  const auto misplace = [&](std::vector<std::vector<Place>>& kind) {
    const double common_x = sigma_mm * normal(random);
    const double common_y = sigma_mm * normal(random);
    for (auto& block : kind) {
      const double x_mm =
          outwards(block.front().x_mm, middle_x) * common_x + own_share * sigma_mm * normal(random);
      const double y_mm =
          outwards(block.front().y_mm, middle_y) * common_y + own_share * sigma_mm * normal(random);
      shift(block, x_mm, y_mm);
      die.most_error_mm = std::max({die.most_error_mm, std::abs(x_mm), std::abs(y_mm)});
    }
  };
  misplace(die.real.compute_units);
  misplace(die.real.channels);
  die.harvested = draws.chance("die.harvested");
  if (die.harvested) {
    for (auto& engine : die.real.compute_units) {
      const auto missing = static_cast<std::ptrdiff_t>(random() % engine.size());
      engine.erase(engine.begin() + missing);
    }
  }
  die.swapped = draws.chance("die.swapped_names");
  if (die.swapped) {
    const std::size_t other = 1 + random() % (die.real.compute_units.size() - 1);
    std::swap(die.real.compute_units[0], die.real.compute_units[other]);
  }
  return die;
}

std::string Die::floorplan_toml() const {
  std::string text = fmt::format(
      "name = \"challenge\"\nestimated = true\nsource = \"drawn\"\nwidth_mm = {:.4f}\n"
      "height_mm = {:.4f}\nregisters_to_l1_mm = 3.0\nposition_error_95_mm = {:.4f}\n",
      width_mm, height_mm, declared_error_mm);
  text += "quadrants = [";
  for (int q = 0; q < kQuadrants; ++q) {
    text += q == 0 ? "[" : ", [";
    for (int c = 0; c < kChannelsOfQuadrant; ++c) {
      text += fmt::format("{}{}", c == 0 ? "" : ", ", q * kChannelsOfQuadrant + c);
    }
    text += "]";
  }
  text += "]\n";
  for (const auto& engine : published.compute_units) {
    text += "[[engine]]\ncu = [";
    for (const Place& unit : engine)
      text += fmt::format("[{:.4f}, {:.4f}], ", unit.x_mm, unit.y_mm);
    text += "]\n";
  }
  for (const auto& quadrant : published.channels) {
    for (const Place& port : quadrant) {
      const double edge_mm = port.y_mm < height_mm / 2 ? 0.5 : height_mm - 0.5;
      text +=
          fmt::format("[[l2]]\nat = [{0:.4f}, {1:.4f}]\nmemory_controller = [{0:.4f}, {2:.4f}]\n",
                      port.x_mm, port.y_mm, edge_mm);
    }
  }
  return text;
}

double crossed_slope(const Table& values, const Table& distances) {
  const Table value = crossed(values);
  const Table distance = crossed(distances);
  double product = 0;
  double square = 0;
  for (std::size_t r = 0; r < value.size(); ++r) {
    for (std::size_t c = 0; c < value[r].size(); ++c) {
      product += value[r][c] * distance[r][c];
      square += distance[r][c] * distance[r][c];
    }
  }
  return product / square;
}

}  // namespace ww::challenge
