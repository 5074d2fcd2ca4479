#include "fit/crossing/crossing_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

#include "fit/solver/assumptions.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

// Each is used with both signs. The ends then scatter by 0.5% of the half-width.
constexpr std::size_t kDrawsOfOneSign = 50'000;
constexpr double kOutside = 0.025;  // of the draws, on either side

}  // namespace

CrossingDraws::CrossingDraws(int freedom) : draws_(kDrawsOfOneSign) {
  std::mt19937_64 random(static_cast<std::uint64_t>(freedom));
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> within_limits(-1, 1);
  std::student_t_distribution<double> repeated(freedom);
  for (auto& draw : draws_) {
    draw[kNoise] = repeated(random);
    for (const Source source : {kClock, kBend, kAsleep}) draw[source] = within_limits(random);
    for (const Source source : {kHeat, kGain, kRegulator}) draw[source] = normal(random);
  }
}

std::pair<double, double> CrossingDraws::interval(double value, double noise,
                                                  const CrossingSources& sources) const {
  static const double normal_95 = t_quantile_95(std::numeric_limits<double>::infinity());
  const auto scale = [](double half_width, double draw) {
    return std::max(kMinSensorScale, 1 + half_width / normal_95 * draw);
  };
  std::vector<double> energies;
  energies.reserve(2 * draws_.size());
  for (const auto& draw : draws_) {
    const double added = noise * draw[kNoise] + sources.heat * draw[kHeat] +
                         sources.clock * draw[kClock] + sources.bend * draw[kBend] +
                         sources.asleep * draw[kAsleep];
    for (const double sign : {-1.0, 1.0}) {
      energies.push_back((value + sign * added) /
                         (scale(sources.gain, sign * draw[kGain]) *
                          scale(sources.regulator, sign * draw[kRegulator])));
    }
  }
  const auto at = [&energies](double share) {
    const auto place =
        energies.begin() + std::llround(share * static_cast<double>(energies.size() - 1));
    std::ranges::nth_element(energies, place);
    return *place;
  };
  const double low = at(kOutside);
  return {low, at(1 - kOutside)};
}

std::optional<std::string> why_below_zero(double low, double high) {
  if (high >= 0) return std::nullopt;
  return fmt::format(
      "the interval [{:.3g}, {:.3g}] pJ lies below zero, and no bit gives energy back", 1e12 * low,
      1e12 * high);
}

}  // namespace ww::model
