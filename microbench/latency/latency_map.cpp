#include "latency/latency_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "latency/latency_table.hpp"
#include "ww/core/statistics.hpp"

namespace ww::microbench {
namespace {

using Table = LatencyTable;

}  // namespace

Result<LatencyMap> latency_map(std::span<const Table> repeats) {
  if (repeats.size() < 2 || repeats.front().empty() || repeats.front().front().empty()) {
    return fail(ErrorCode::invalid_argument, "latencies need two repeats of a table");
  }
  const std::size_t places = repeats.front().size();
  const std::size_t homes = repeats.front().front().size();
  for (const Table& repeat : repeats) {
    bool good = repeat.size() == places;
    for (const auto& row : repeat) good = good && row.size() == homes;
    if (!good) return fail(ErrorCode::invalid_argument, "repeats of different shape");
  }
  LatencyMap map;
  map.ticks.assign(places, std::vector<double>(homes));
  double spread = 0;
  for (std::size_t p = 0; p < places; ++p) {
    for (std::size_t h = 0; h < homes; ++h) {
      std::vector<double> seen;
      for (const Table& repeat : repeats) seen.push_back(repeat[p][h]);
      const double middle = median(seen);
      map.ticks[p][h] = middle;
      // Median absolute deviation: one disturbed repeat is no noise of the rest.
      for (double& value : seen) value = std::abs(value - middle);
      spread += std::pow(1.4826 * median(seen), 2);
    }
  }
  const double cells = static_cast<double>(places * homes);
  // Standard error of a median of n: 1.2533 sigma / sqrt(n).
  map.noise_ticks =
      1.2533 * std::sqrt(spread / cells) / std::sqrt(static_cast<double>(repeats.size()));
  map.contrast_ticks = std::sqrt(sum_of_squares(additive_fit(map.ticks).left) / cells);
  map.nearest_place.resize(homes);
  for (std::size_t h = 0; h < homes; ++h) {
    std::size_t best = 0;
    for (std::size_t p = 1; p < places; ++p) {
      if (map.ticks[p][h] < map.ticks[best][h]) best = p;
    }
    map.nearest_place[h] = static_cast<int>(best);
  }
  // Half a tick: a counter's own resolution.
  const double floor = std::max(3 * map.noise_ticks, 0.5 / std::sqrt(12.0));
  map.found = map.contrast_ticks > floor;
  if (!map.found) {
    map.reason = fmt::format("the contrast of {:.2f} ticks is within the noise of {:.2f}",
                             map.contrast_ticks, map.noise_ticks);
  }
  return map;
}

Sides find_sides(const LatencyMap& map, std::vector<int>& side_of_home) {
  Sides sides;
  side_of_home.clear();
  if (!map.found) {
    sides.reason = map.reason.empty() ? "no latencies" : map.reason;
    return sides;
  }
  const Table left = additive_fit(map.ticks).left;
  const std::size_t places = left.size();
  const std::size_t homes = left.front().size();
  const auto [place, home, square_of_product] = greatest_product(left);
  sides.explained = square_of_product / sum_of_squares(left);
  sides.side_of_place.resize(places);
  side_of_home.resize(homes);
  for (std::size_t p = 0; p < places; ++p) sides.side_of_place[p] = place[p] > 0 ? 1 : 0;
  // Latency is below the mean where the product is negative: on one side.
  for (std::size_t h = 0; h < homes; ++h) side_of_home[h] = home[h] > 0 ? 0 : 1;
  // Side 0 is the first place's.
  if (sides.side_of_place.front() == 1) {
    for (int& side : sides.side_of_place) side ^= 1;
    for (int& side : side_of_home) side ^= 1;
  }
  double sum[2] = {0, 0};
  double count[2] = {0, 0};
  for (std::size_t p = 0; p < places; ++p) {
    for (std::size_t h = 0; h < homes; ++h) {
      const int far = sides.side_of_place[p] != side_of_home[h] ? 1 : 0;
      sum[far] += map.ticks[p][h];
      count[far] += 1;
    }
  }
  const auto ones = std::ranges::count(sides.side_of_place, 1);
  const auto smaller = std::min<std::ptrdiff_t>(ones, std::ssize(sides.side_of_place) - ones);
  if (count[0] == 0 || count[1] == 0 || smaller * 8 < std::ssize(sides.side_of_place)) {
    sides.reason = "the places do not fall into two sides";
    return sides;
  }
  sides.near_ticks = sum[0] / count[0];
  sides.far_ticks = sum[1] / count[1];
  const bool places_apart = stand_apart(place);
  const bool homes_apart = stand_apart(home);
  sides.found =
      sides.explained >= 0.5 && places_apart && homes_apart && sides.far_ticks > sides.near_ticks;
  if (!sides.found) {
    sides.reason = fmt::format(
        "two sides explain {:.0f}% of the contrast of {:.2f} ticks, and {} do not stand apart",
        100 * sides.explained, map.contrast_ticks, places_apart ? "lines" : "places");
  }
  return sides;
}

}  // namespace ww::microbench
