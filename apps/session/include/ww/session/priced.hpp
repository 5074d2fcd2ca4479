// Prices an application by a calibration of any kind, in rows: its segments, its crossings or
// the ways between its dies. It is the total of `wirewatt estimate`, for who shows it beside
// something else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ww/calibration/calibration.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::session {

struct PricedRow {
  std::string name;    // "L1-L2", "crossing", "row_hop"
  std::string status;  // as RowStatus is spelled
  std::string reason;
  std::optional<Interval> energy_j;  // [J] of all kernels
  std::optional<Interval> power_w;   // [W] while kernels run
};
struct Priced {
  std::vector<PricedRow> rows;
  // Named "together", of the rows that have a figure. Of wires, the status is "partly" where some
  // have none, and empty where all have one.
  PricedRow together;
};

// The rows that estimates of this calibration have, without figures and with this status.
[[nodiscard]] Priced unpriced(const calibration::Calibration& calibration,
                              const std::string& status, const std::string& reason);
// The segments of wires, for where there is no calibration.
[[nodiscard]] Priced unpriced_segments(const std::string& status, const std::string& reason);

// Errors: those of Calibration::estimate.
[[nodiscard]] Result<Priced> price(const calibration::Calibration& calibration,
                                   const calibration::Traffic& traffic,
                                   const calibration::EstimateRequest& request);

// Takes an estimate of wires that exists already.
[[nodiscard]] Priced priced(const model::KernelEstimate& estimate);

// Scales the watts of kernels that run without a pause to a device on which they run for `share` of
// the time. Energies stay, because they belong to the counted run.
[[nodiscard]] Priced at_share(Priced priced, double share);

}  // namespace ww::session
