// Attribution of a whole GPU's watts to what its kernels do: idle, clocks, instructions, caches,
// interconnect, memory.
//
// Each run of a kernel has a mean power and a set of activities: events per second (cache sectors,
// instructions), or a level (the share of multiprocessors that work). The model is
//
//   P_i = b_0 + sum over j of b_j x_ij,   every b_j >= 0,   error of P_i proportional to P_i,
//
// where b_0 is the power at rest and b_j the energy of one event of term j. It is the form of
// AccelWattch (Kandiah et al., MICRO'21) and of Wattchmen (ICS'26). Coefficients
// below 0 have no meaning, so the least squares are non-negative (Lawson and Hanson 1974, chapter
// 23). Rows are weighted by 1 over the fitted power, squared (two rounds).
//
// *Parts.* Terms belong to parts ("instructions": integer, float, tensor). A part has one
// coefficient for the sum of its terms unless the data prefer one for each. The data decide by
// leaving out one application at a time: the part is split if the mean squared error falls by more
// than one standard error of the difference (Breiman et al. 1984, section 3.4.3). Whoever judges
// the model on a left-out application thereby repeats the decision without it.
//
// *Scale of the errors.* The relative scatter comes from predictions of applications that the fit
// did not see, each divided by sqrt(1 + leverage). Residuals of the fit itself would be too small,
// because kernels of one application err together and the form is not exact.
//
// *Intervals.* The 95% interval of a sum c'b is the set of values that a constrained fit can reach
// without raising the weighted sum of squares by more than t^2 times the scatter squared (profile
// likelihood). It is never negative, and it is valid at a coefficient of 0, where a normal interval
// is not. The interval of one run is wider by the run's own deviation from the form, t times the
// scatter times the run's power. It is not known in which parts a run deviates. If the parts
// deviate independently, none does so by more than the run.
//
// *What is collinear* is reported as a sum. Two coefficients are joined if their estimates have a
// correlation below kHarmfulCorrelation. A coefficient of a variance inflation above
// kHarmfulInflation is joined with the one against which its estimate is most correlated. Members
// of a sum are not_identified; the sum has a figure. A part whose interval reaches 0 is
// not_identified as well: its reason gives the most that it can be. The total of a part with
// several coefficients has an interval of its own, which may be known where none of them is.
//
// Threading: the functions have no state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

// Belsley, Kuh and Welsch (1980) call 10 and more harmful.
inline constexpr double kHarmfulInflation = 10;
// Two columns alone have a variance inflation of 1 / (1 - r^2), which is 10 at this correlation.
inline constexpr double kHarmfulCorrelation = -0.9487;

struct AttributionTerm {
  std::string name;
  std::string part;              // terms with the same part may share a coefficient
  std::vector<double> activity;  // one a run, at least 0: events per second, or a level
};

struct AttributionTable {
  std::vector<std::string> runs;          // names
  std::vector<std::string> applications;  // one a run; runs of an application err together
  std::vector<double> power_w;            // mean over the run
  std::vector<AttributionTerm> terms;
};

// Makes the activities those of runs at `reference_v`, so that a coefficient is the energy of an
// event there: charging a capacitance takes energy by the square of the voltage. `volts`: one a
// run, above 0.
void refer_to_voltage(AttributionTable& table, std::span<const double> volts, double reference_v);

struct AttributionOptions {
  // Each part keeps a coefficient for each of its terms; nothing is decided.
  bool split_all{false};
};

// One coefficient of the fit: that of a term, or of a part whose terms share it.
struct AttributedCoefficient {
  std::string name;  // "static" for the constant
  std::string part;
  std::vector<std::string> terms;  // whose sum it multiplies; empty for the constant
  Interval value;                  // W per unit of activity, which is J per event
  Interval power_w;                // mean over the runs
  double inflation{};              // variance inflation; 0 for the constant
  RowStatus status{RowStatus::ok};
  std::string reason;
};

// Coefficients that the data determine only as a sum, or those of one part.
struct AttributedSum {
  std::string name;                  // "static + clocks"
  std::vector<std::size_t> members;  // indices of coefficients
  Interval power_w;                  // mean over the runs
  RowStatus status{RowStatus::ok};
  std::string reason;
};

struct AttributedRun {
  std::string run;
  std::string application;
  double measured_w{};
  double fitted_w{};
  // 95% interval of this run's power if the fit did not see it; high may be infinite.
  Interval predicted_w;
  std::vector<Interval> coefficients_w;  // as Attribution::coefficients
  std::vector<Interval> sums_w;          // as Attribution::sums
  std::vector<Interval> parts_w;         // as Attribution::parts
};

struct Attribution {
  std::vector<AttributedCoefficient> coefficients;  // the constant first
  std::vector<AttributedSum> sums;                  // of what is collinear
  std::vector<AttributedSum> parts;                 // of several coefficients
  std::vector<AttributedRun> runs;
  double scatter{};  // relative standard deviation of runs of unseen applications
  double dof{};      // degrees of freedom of the intervals

  // Power that the model gives the mean run.
  [[nodiscard]] double mean_power_w() const;
};

// Fits the model. Errors: bad_data (columns of unequal length; a value that is not finite; power
// not above 0; activity below 0; fewer than three runs more than coefficients; fewer than four
// applications; a term that is 0 in all runs).
[[nodiscard]] Result<Attribution> attribute(const AttributionTable& table,
                                            const AttributionOptions& options = {});

// Fits the model to `table` and applies it to the runs of `shown`, which need not be in the table:
// Attribution::runs are those. Errors: as above; bad_data (`shown` has other terms).
[[nodiscard]] Result<Attribution> attribute(const AttributionTable& table,
                                            const AttributionTable& shown,
                                            const AttributionOptions& options = {});

// A run that the fit did not see.
struct PredictedRun {
  std::string run;
  std::string application;
  double measured_w{};
  Interval predicted_w;  // 95% interval of a single run; high may be infinite
  // Other than ok where the run has an activity that no other application has.
  RowStatus status{RowStatus::ok};
  [[nodiscard]] double error() const { return predicted_w.value / measured_w - 1; }
  [[nodiscard]] bool covered() const {
    return predicted_w.low <= measured_w && measured_w <= predicted_w.high;
  }
};

struct Predictions {
  std::vector<PredictedRun> runs;  // in the table's order
  double mean_absolute_error{};    // relative
  std::size_t covered{};           // runs with status ok whose interval holds the measured power
  std::size_t judged{};            // runs with status ok

  // Sums up the runs.
  explicit Predictions(std::vector<PredictedRun> predicted = {});
  // The runs of an attribution that was fitted to another table.
  explicit Predictions(const Attribution& shown);
};

// Predicts each run from a fit to all other applications. Errors: those of attribute(), except that
// a model with `split_all` may have more coefficients than runs: published forms with dozens of
// components can then be judged on the same folds, and most of their coefficients are 0.
[[nodiscard]] Result<Predictions> leave_one_application_out(const AttributionTable& table,
                                                            const AttributionOptions& options = {});

}  // namespace ww::model
