#include "ww/model/crossbar_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/named_file.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::model {
namespace {

// Brings the mean of each pair of engine and quadrant to the calibration's.
Status scale_to_pairs(CrossbarLengths& lengths, const Floorplan& floorplan,
                      const std::vector<std::vector<double>>& pair_mm, const std::string& origin) {
  bool fits = pair_mm.size() == floorplan.compute_units.size();
  for (const auto& engine : pair_mm) {
    fits = fits && engine.size() == floorplan.quadrants.size();
  }
  if (!fits) {
    return fail(
        ErrorCode::bad_data,
        fmt::format("distances.engine_to_quadrant_mm are not those of {} engines and {} "
                    "quadrants, which the floorplan {} has",
                    floorplan.compute_units.size(), floorplan.quadrants.size(), floorplan.name),
        origin);
  }
  for (std::size_t engine = 0; engine < pair_mm.size(); ++engine) {
    for (std::size_t quadrant = 0; quadrant < pair_mm[engine].size(); ++quadrant) {
      const double fitted = pair_mm[engine][quadrant];
      if (!(fitted > 0)) {
        return fail(ErrorCode::bad_data, "a distance of engine_to_quadrant_mm is not above 0",
                    origin);
      }
      const double drawn =
          floorplan.distance(static_cast<int>(engine), static_cast<int>(quadrant)).value();
      for (auto& unit : lengths.mm[engine]) {
        for (const int channel : floorplan.quadrants[quadrant]) {
          unit[static_cast<std::size_t>(channel)] *= fitted / drawn;
        }
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::vector<double>> CrossbarLengths::units_in_turn() const {
  std::size_t most = 0;
  for (const auto& engine : mm) most = std::max(most, engine.size());
  std::vector<std::vector<double>> units;
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (const auto& engine : mm) {
      if (turn < engine.size()) units.push_back(engine[turn]);
    }
  }
  return units;
}

CrossbarLengths crossbar_lengths(const Floorplan& floorplan) {
  CrossbarLengths lengths;
  for (const auto& engine : floorplan.compute_units) {
    auto& units = lengths.mm.emplace_back();
    for (const Point& unit : engine) {
      auto& channels = units.emplace_back();
      for (const Point& channel : floorplan.l2_channels) {
        channels.push_back(std::abs(unit.x_mm - channel.x_mm) + std::abs(unit.y_mm - channel.y_mm));
      }
    }
  }
  lengths.source = fmt::format("floorplan {}{}", floorplan.name,
                               floorplan.estimated ? " (estimated positions)" : "");
  return lengths;
}

Result<CrossbarLengths> crossbar_lengths(const std::filesystem::path& path) {
  WW_ASSIGN(file, model_file(path));
  const std::string origin = file.string();
  WW_ASSIGN(content, read_file(file));
  WW_ASSIGN(document, parse_json(content, origin));
  const JsonReader model(document, origin);
  const JsonReader distances = model.object("distances");
  std::string name;
  std::vector<std::vector<double>> pair_mm;
  distances.read_optional("floorplan", name);
  distances.read_optional("engine_to_quadrant_mm", pair_mm);
  WW_TRY(model.status());
  if (pair_mm.empty()) {
    return fail(ErrorCode::unsupported,
                "the calibration has no millimetres (distances.engine_to_quadrant_mm), so a "
                "crossbar of this chip has no lengths",
                origin);
  }
  const auto known = known_floorplan(name);
  if (!known) {
    return fail(ErrorCode::unsupported,
                fmt::format("floorplan '{}' of the calibration is none of {}; give --floorplan "
                            "FILE",
                            name, known_floorplan_names()),
                origin);
  }
  WW_ASSIGN(floorplan, parse_floorplan(*known, name + ".toml"));
  CrossbarLengths lengths = crossbar_lengths(floorplan);
  WW_TRY(scale_to_pairs(lengths, floorplan, pair_mm, origin));
  lengths.source += ", engines to quadrants as in the calibration";
  return lengths;
}

}  // namespace ww::model
