#include "fit/crossing/crossing_rate_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
std::string judge_rates(std::span<const CrossingRun> runs, CrossingAnswer& answer) {
  std::map<int, std::array<std::vector<double>, 2>> rates;  // by wait: near, far
  for (const CrossingRun& run : runs) {
    if (run.traffic != CrossingTraffic::random || run.line_half != 0) continue;
    rates[run.wait][run.place_side != run.line_side ? 1 : 0].push_back(run.bits_per_s);
  }
  std::array<std::vector<double>, 2> levels;
  std::array<std::size_t, 2> of_ways{};
  for (const auto& [wait, ways] : rates) {
    for (std::size_t way = 0; way < 2; ++way) of_ways[way] += ways[way].empty() ? 0 : 1;
    if (ways[0].empty() || ways[1].empty()) continue;
    ++answer.waits;
    const double near = median(ways[0]);
    const double far = median(ways[1]);
    levels[0].push_back(near);
    levels[1].push_back(far);
    answer.greatest_mismatch = std::max(answer.greatest_mismatch, std::abs(near / far - 1));
  }
  if (of_ways[0] == 0 || of_ways[1] == 0) return "no run of near or none of far can be used";
  if (answer.waits < kMinCrossingWaits) {
    std::string unequal = answer.greatest_mismatch > kMaxCrossingMismatch
                              ? fmt::format(", and near and far differ by {:.1f}% in rate",
                                            100 * answer.greatest_mismatch)
                              : "";
    if (answer.waits == 0) unequal = ", and near and far ran with different waits";
    return fmt::format(
        "near and far share {} wait{}{}: what does not follow the rate cannot be told from what "
        "does (three common waits are the least)",
        answer.waits, answer.waits == 1 ? "" : "s", unequal);
  }
  for (std::size_t way = 0; way < 2; ++way) {
    const auto [low, high] = std::ranges::minmax(levels[way]);
    if ((high - low) / high < kMinCrossingSpan) {
      return fmt::format(
          "the waits moved the rate of {} by {:.0f}% only, so its slope is not known ({:.0f}% is "
          "the least)",
          way == 0 ? "near" : "far", 100 * (high - low) / high, 100 * kMinCrossingSpan);
    }
  }
  // Far has to lie where near's line was measured.
  const auto [near_low, near_high] = std::ranges::minmax(levels[0]);
  const auto [far_low, far_high] = std::ranges::minmax(levels[1]);
  if (answer.greatest_mismatch > kMaxCrossingMismatch &&
      (far_low > near_high || far_high < near_low)) {
    return fmt::format("near and far differ by {:.0f}% in rate and no rate is common to both",
                       100 * answer.greatest_mismatch);
  }
  return {};
}

}  // namespace ww::model
