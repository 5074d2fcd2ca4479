// The rows in which an attribution is shown: each coefficient, then sums of what is collinear, then
// the parts that have several coefficients.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/model/attribution.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

struct AttributedPart {
  std::string name;
  std::string part;    // of a coefficient; empty for sums
  Interval power_w;    // of the shown run, or the mean over all runs
  double share{};      // of the power that the model gives the shown run, or the mean run
  Interval value;      // of a coefficient, as AttributedCoefficient has it
  double inflation{};  // of a coefficient
  RowStatus status{RowStatus::ok};
  std::string reason;
  bool is_sum{};
  std::optional<Interval> energy_j;  // absent where the time is not known
};

// `run`: the run to show; null: the mean over the runs. `seconds`: how long the run took.
[[nodiscard]] std::vector<AttributedPart> attributed_parts(const Attribution& attribution,
                                                           const AttributedRun* run = nullptr,
                                                           std::optional<double> seconds = {});

}  // namespace ww::model
