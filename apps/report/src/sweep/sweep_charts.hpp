// The charts of a sweep's page.
#pragma once

#include <string>
#include <vector>

#include "drawing/bars.hpp"
#include "drawing/svg.hpp"
#include "sweep/sweep_view.hpp"

namespace ww::report {

// A metric along view.over, a series for each combination of view.by. Where other axes are averaged
// over, a mean is of all their values or is left out.
[[nodiscard]] Plot sweep_curves(const SweepView& view, std::size_t metric);

// All settled points by the first two goals, and the front. Of very many points that are not on the
// front some are drawn, which the description says.
[[nodiscard]] Plot front_plot(const SweepView& view);

struct MetricEffects {
  std::string metric;
  std::vector<sweep::AxisEffect> effects;
};
// Returns the effects on each shown metric that varies.
[[nodiscard]] std::vector<MetricEffects> effects_of(const SweepView& view);
[[nodiscard]] BarChart effect_bars(const std::vector<MetricEffects>& all);

// Each part with its interval, and the mean of such parts with its own.
[[nodiscard]] Plot parts_plot(const SweepView& view, const sweep::PartVariation& variation);

}  // namespace ww::report
