#include "fit/crossing/crossing_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

class CrossingControls {
 public:
  CrossingControls(std::span<const CrossingRun> runs, const CrossingBlocks& blocks,
                   const std::vector<CrossingTerms>& plain)
      : runs_(runs), blocks_(blocks), plain_(plain) {}

  // Without traffic the kernel goes round as often as far does at the same wait. Its power is then
  // a line in that rate: rounds cost issue, and the rest of the time is spent asleep. The fit takes
  // a line for none of the crossing's.
  [[nodiscard]] CrossingControl waits_without_traffic() const {
    CrossingControl control{"waits without traffic", false, ""};
    std::map<int, std::vector<double>> far_rates;
    std::map<std::int64_t, std::map<int, std::vector<double>>> powers;  // by block and wait
    std::map<int, std::vector<double>> of_wait;
    for (const CrossingRun& run : runs_) {
      if (run.traffic == CrossingTraffic::waits) {
        powers[run.block][run.wait].push_back(run.power.value());
        of_wait[run.wait].push_back(run.power.value());
      } else if (run.traffic == CrossingTraffic::random && run.place_side != run.line_side) {
        far_rates[run.wait].push_back(run.bits_per_s);
      }
    }
    std::string seen;
    std::vector<std::pair<int, double>> points;  // wait, rate
    for (const auto& [wait, rates] : far_rates) {
      if (!of_wait.contains(wait)) {
        control.detail = fmt::format("no run that waits {} units without traffic", wait);
        return control;
      }
      points.emplace_back(wait, median(rates));
      seen +=
          fmt::format("{}{:.2f} W at {}", seen.empty() ? "" : ", ", median(of_wait[wait]), wait);
    }
    const auto& [middle_wait, middle_rate] = points[points.size() / 2];
    std::vector<double> off_w;
    for (auto& [block, by_wait] : powers) {
      if (by_wait.size() < points.size()) continue;
      const double first = median(by_wait[points.front().first]);
      const double last = median(by_wait[points.back().first]);
      const double share =
          (middle_rate - points.back().second) / (points.front().second - points.back().second);
      off_w.push_back(median(by_wait[middle_wait]) - (last + share * (first - last)));
    }
    if (off_w.size() < kMinCrossingBlocks) {
      control.detail = "fewer than two blocks have all waits without traffic";
      return control;
    }
    const double count = static_cast<double>(off_w.size());
    double mean = 0;
    for (const double each : off_w) mean += each / count;
    double square = 0;
    for (const double each : off_w) square += (each - mean) * (each - mean);
    const double half = t_quantile(0.99, count - 1) * std::sqrt(square / (count - 1) / count);
    const double answer = std::abs(plain_.front().at(CrossingTerm::far_random));
    control.passed = std::abs(mean) <= std::max(half, kMaxWaitShare * answer * middle_rate);
    control.detail = fmt::format("{}; the middle one is {:.2f} +- {:.2f} W off a line in the rate",
                                 seen, mean, half);
    if (!control.passed) {
      control.detail += ": the waits themselves cost power that the fit mistakes";
    }
    return control;
  }

  [[nodiscard]] CrossingControl near_random_against_zeros() const {
    CrossingControl control{"near, random against zeros", false, ""};
    if (!have(CrossingTerm::zeros)) {
      control.detail = "no run with zeros";
      return control;
    }
    const auto data = CrossingBlocks::jackknife(plain_, [](const CrossingTerms& v) {
      return v.at(CrossingTerm::random) - v.at(CrossingTerm::zeros);
    });
    const double half = t_quantile(0.99, blocks_.freedom()) * data.error;
    control.passed = data.value - half > 0;
    control.detail =
        fmt::format("random bits cost {} +- {} more than zeros", in_pj(data.value), in_pj(half));
    if (!control.passed) control.detail += ": the sensor does not see data that toggles";
    return control;
  }

  [[nodiscard]] CrossingControl exchanged() const {
    CrossingControl control{"near and far exchanged", false, ""};
    const auto all = blocks_.solve_all({.by_place = true});
    if (all.empty() || std::ranges::any_of(all, [](const CrossingTerms& v) {
          return !v.contains(CrossingTerm::far_other);
        })) {
      control.detail = "the two sides of places were not both measured near and far";
      return control;
    }
    const auto apart = CrossingBlocks::jackknife(all, [](const CrossingTerms& v) {
      return v.at(CrossingTerm::far_random) - v.at(CrossingTerm::far_other);
    });
    // Lines that differ leave the answer alone, as both sides' are crossed to. But a difference
    // that is neither small beside the crossing nor beside a bit is none of lines.
    const double answer = std::abs(plain_.front().at(CrossingTerm::far_random));
    const double most = std::max(answer, kMaxSidesApart * plain_.front().at(CrossingTerm::random));
    const double half = t_quantile(0.99, blocks_.freedom()) * apart.error;
    control.passed = std::abs(apart.value) - half <= most;
    control.detail = fmt::format("places of side 0 give {}, of side 1 {}",
                                 in_pj(all.front().at(CrossingTerm::far_random)),
                                 in_pj(all.front().at(CrossingTerm::far_other)));
    if (!control.passed) {
      control.detail += ": the sides' lines differ by more than the crossing costs";
    }
    return control;
  }

  [[nodiscard]] CrossingControl null_pair() const {
    CrossingControl control{"null pair", false, ""};
    if (!have(CrossingTerm::null)) {
      control.detail = "no run of the two halves of near";
      return control;
    }
    const auto null = CrossingBlocks::jackknife(
        plain_, [](const CrossingTerms& v) { return v.at(CrossingTerm::null); });
    const double half = t_quantile(0.99, blocks_.freedom()) * null.error;
    const double answer = std::abs(plain_.front().at(CrossingTerm::far_random));
    control.passed = std::abs(null.value) <= std::max(half, 0.1 * answer);
    control.detail =
        fmt::format("two halves of near differ by {} +- {}", in_pj(null.value), in_pj(half));
    if (!control.passed) control.detail += ": what is alike does not measure alike";
    return control;
  }

 private:
  [[nodiscard]] bool have(CrossingTerm term) const {
    return std::ranges::all_of(plain_, [&](const CrossingTerms& v) { return v.contains(term); });
  }

  std::span<const CrossingRun> runs_;
  const CrossingBlocks& blocks_;
  const std::vector<CrossingTerms>& plain_;
};

}  // namespace

std::vector<CrossingControl> judge_controls(std::span<const CrossingRun> runs,
                                            const CrossingBlocks& blocks,
                                            const std::vector<CrossingTerms>& plain) {
  const CrossingControls controls(runs, blocks, plain);
  return {controls.waits_without_traffic(), controls.near_random_against_zeros(),
          controls.exchanged(), controls.null_pair()};
}

}  // namespace ww::model
