#include "ww/calibration/priced.hpp"

#include <fmt/format.h>

#include "ww/calibration/calibration.hpp"
#include "ww/model/segment_names.hpp"

namespace ww::calibration {
namespace {

constexpr const char* kTogether = "together";

Priced without_figures(std::vector<std::string> names, const std::string& status,
                       const std::string& reason) {
  Priced priced;
  for (std::string& name : names) {
    priced.rows.push_back({std::move(name), status, reason, {}, {}});
  }
  priced.together = {kTogether, status, reason, {}, {}};
  return priced;
}

}  // namespace

Priced unpriced_segments(const std::string& status, const std::string& reason) {
  return without_figures({model::kSegmentNames.begin(), model::kSegmentNames.end()}, status,
                         reason);
}

Priced unpriced(const Calibration& calibration, const std::string& status,
                const std::string& reason) {
  return without_figures(calibration.priced_rows(), status, reason);
}

Result<Priced> price(const Calibration& calibration, const Traffic& traffic,
                     const EstimateRequest& request) {
  WW_ASSIGN(answer, calibration.estimate(traffic, request));
  if (!answer.priced) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no rows to show beside something else", calibration.title()),
                calibration.provenance().device);
  }
  return std::move(*answer.priced);
}

PricedRow together_row(const std::string& left_out, const std::optional<Interval>& energy_j,
                       const std::optional<Interval>& power_w) {
  return {kTogether, left_out.empty() ? "" : "partly", "", energy_j, power_w};
}

Priced priced(const model::KernelEstimate& estimate) {
  Priced priced;
  for (std::size_t s = 0; s < estimate.segments.size(); ++s) {
    const model::SegmentEstimate& segment = estimate.segments[s];
    priced.rows.push_back({model::kSegmentNames.at(s), std::string(to_string(segment.status)),
                           segment.reason, segment.energy_j, segment.power_w});
  }
  priced.together = together_row(estimate.left_out, estimate.energy_j, estimate.power_w);
  return priced;
}

Priced at_share(Priced priced, double share) {
  for (PricedRow& row : priced.rows) {
    if (row.power_w) row.power_w = row.power_w->times(share);
  }
  if (priced.together.power_w) priced.together.power_w = priced.together.power_w->times(share);
  return priced;
}

}  // namespace ww::calibration
