// An application priced by a calibration of any kind, in rows: its segments, its crossings, the
// ways between its dies, or the steps to the levels of its memory. It is the total of an estimate,
// for whoever shows it beside something else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::calibration {

class Calibration;
struct EstimateRequest;
struct Traffic;

struct PricedRow {
  std::string name;    // "L1-L2", "crossing", "row_hop", "l2"
  std::string status;  // as RowStatus is spelled
  std::string reason;
  std::optional<Interval> energy_j;  // [J] of all kernels
  std::optional<Interval> power_w;   // [W] while kernels run
};
struct Priced {
  std::vector<PricedRow> rows;
  // Named "together", of the rows that have a figure. Of wires and levels, the status is "partly"
  // where some have none, and empty where all have one.
  PricedRow together;
};

// The rows that estimates of this calibration have, without figures and with this status.
[[nodiscard]] Priced unpriced(const Calibration& calibration, const std::string& status,
                              const std::string& reason);
// The segments of wires, for where there is no calibration.
[[nodiscard]] Priced unpriced_segments(const std::string& status, const std::string& reason);

// Errors: those of Calibration::estimate, and unsupported where the kind has no such rows.
[[nodiscard]] Result<Priced> price(const Calibration& calibration, const Traffic& traffic,
                                   const EstimateRequest& request);

// Takes an estimate of wires that exists already.
[[nodiscard]] Priced priced(const model::KernelEstimate& estimate);

// The row of all others: its name, and the status for what was left out of it.
[[nodiscard]] PricedRow together_row(const std::string& left_out,
                                     const std::optional<Interval>& energy_j,
                                     const std::optional<Interval>& power_w);

// Scales the watts of kernels that run without a pause to a device on which they run for `share` of
// the time. Energies stay, because they belong to the counted run.
[[nodiscard]] Priced at_share(Priced priced, double share);

}  // namespace ww::calibration
