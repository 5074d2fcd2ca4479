// Two sweeps side by side: points with equal settings of their axes, and what lies between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/sweep_view.hpp"

namespace ww::report {

// A point of both sweeps.
struct PointPair {
  std::size_t first{}, second{};  // rows of the two tables
};

struct SweepPairs {
  std::vector<std::string> metrics;     // that both show, as the first orders them
  std::vector<PointPair> pairs;         // in the first's order
  std::vector<std::size_t> only_first;  // rows without a partner
  std::vector<std::size_t> only_second;
};

// Points of the same settings. Errors: invalid_argument (an axis or all metrics are of one sweep
// alone; no point is in both).
[[nodiscard]] Result<SweepPairs> pair_points(const SweepView& first, const SweepView& second);

// The first view with the difference in per cent of the first's value in place of each metric that
// both show, a row a pair: what sweep_curves() draws. Not settled where either point is not.
[[nodiscard]] SweepView differences(const SweepView& first, const SweepView& second,
                                    const SweepPairs& pairs);

// The page. Errors: as read_sweep() and pair_points(), and invalid_argument for two commands.
[[nodiscard]] Result<std::string> sweep_comparison_page(const std::filesystem::path& first,
                                                        const std::filesystem::path& second,
                                                        const SweepOptions& options);

}  // namespace ww::report
