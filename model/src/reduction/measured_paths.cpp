#include "ww/model/measured_paths.hpp"
#include "ww/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/json_reader.hpp"

namespace ww::model {
namespace {}  // namespace

nlohmann::json to_json(const MeasuredPaths& paths) {
  return {{"flight_ns", paths.flight_ns},         {"noise_ns", paths.noise_ns},
          {"resolution_ns", paths.resolution_ns}, {"channels", paths.channels},
          {"by_floorplan", paths.by_floorplan},   {"reason", paths.reason}};
}

Result<MeasuredPaths> measured_paths_from_json(const nlohmann::json& json) {
  MeasuredPaths paths;
  const JsonReader reader(json, "measured paths");
  reader.read("flight_ns", paths.flight_ns);
  reader.read_within("noise_ns", 0, 1e6, paths.noise_ns);
  reader.read_within("resolution_ns", 0, 1e6, paths.resolution_ns);
  reader.read("channels", paths.channels);
  reader.read("by_floorplan", paths.by_floorplan);
  reader.read("reason", paths.reason);
  bool good = paths.flight_ns.size() > 1 && paths.channels.size() > 1;
  for (const auto& row : paths.flight_ns) {
    good = good && row.size() == paths.channels.size();
    for (const double entry : row) good = good && std::isfinite(entry) && entry > 0;
  }
  for (const int channels : paths.channels) good = good && channels > 0;
  if (!good) {
    reader.refuse("flight_ns",
                  "must be a table of two engines and two homes or more, each entry above 0");
  }
  WW_TRY(reader.status());
  return paths;
}

double flight_error_95(const MeasuredPaths& paths) {
  const std::size_t engines = paths.flight_ns.size();
  const std::size_t homes = paths.channels.size();
  const auto cells = static_cast<double>(engines * homes);
  std::vector<double> row(engines);
  std::vector<double> column(homes);
  double mean = 0;
  for (std::size_t e = 0; e < engines; ++e) {
    for (std::size_t h = 0; h < homes; ++h) {
      row[e] += paths.flight_ns[e][h] / static_cast<double>(homes);
      column[h] += paths.flight_ns[e][h] / static_cast<double>(engines);
      mean += paths.flight_ns[e][h] / cells;
    }
  }
  double square = 0;
  for (std::size_t e = 0; e < engines; ++e) {
    for (std::size_t h = 0; h < homes; ++h) {
      square += std::pow(paths.flight_ns[e][h] - row[e] - column[h] + mean, 2);
    }
  }
  // The slope's error is that of the projection on the contrast: one entry's error over its norm.
  const double norm = std::sqrt(square);
  if (!(norm > 0)) return 1;
  return std::min(1.0, kNormal95 * std::hypot(paths.noise_ns, paths.resolution_ns) / norm);
}

}  // namespace ww::model
