#include "fit/calibration/whole_flight.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {}  // namespace

double least_whole_flight_ns(const MeasuredPaths& paths) {
  const std::size_t engines = paths.flight_ns.size();
  const std::size_t homes = paths.channels.size();
  std::vector<std::tuple<double, std::size_t, std::size_t>> entries;
  double mean = 0;
  for (std::size_t e = 0; e < engines; ++e) {
    for (std::size_t h = 0; h < homes; ++h) {
      entries.emplace_back(paths.flight_ns[e][h], e, h);
      mean += paths.flight_ns[e][h] / static_cast<double>(engines * homes);
    }
  }
  std::ranges::sort(entries);
  // Shares in units of 1 / (engines homes): each engine sends `homes`, each home takes `engines`.
  std::vector<std::size_t> sends(engines, homes);
  std::vector<std::size_t> takes(homes, engines);
  double cheapest = 0;
  for (const auto& [flight, e, h] : entries) {
    const std::size_t share = std::min(sends[e], takes[h]);
    sends[e] -= share;
    takes[h] -= share;
    cheapest += flight * static_cast<double>(share) / static_cast<double>(engines * homes);
  }
  const double error = std::hypot(paths.noise_ns, paths.resolution_ns);
  const auto most = static_cast<double>(std::max(engines, homes));
  return std::max(0.0, mean - cheapest - error * std::sqrt(2 * std::log(most)));
}

std::optional<WholeFlight> bound_whole_flight(const MeasuredPaths& paths,
                                              std::span<const double> extra_fj_per_bit,
                                              double slope_fj_per_bit_ns) {
  if (!(slope_fj_per_bit_ns > 0) || extra_fj_per_bit.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(extra_fj_per_bit.size());
  double mean = 0;
  for (const double extra : extra_fj_per_bit) mean += extra / count;
  double square = 0;
  for (const double extra : extra_fj_per_bit) square += std::pow(extra - mean, 2);
  const double error = std::sqrt(square / (count - 1) / count);
  WholeFlight result;
  result.low_ns = least_whole_flight_ns(paths);
  result.high_ns = (mean + kNormal95 * error) / slope_fj_per_bit_ns;
  if (!(result.high_ns > result.low_ns)) return std::nullopt;
  return result;
}

}  // namespace ww::model
