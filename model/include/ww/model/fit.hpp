// The fit: one robust regression over all runs of a campaign gives the energy per payload bit and
// extra routed millimetre, with intervals. A constant that the data cannot determine is
// not_identified.
//
// Model of a plateau's power at the sensor (docs/method.md):
//   P = idle(T; V, f) + engine_e(rate) + quadrant_q(rate) + k * bits/s * d(e, q) + noise
// where k [fJ/bit/mm] comes from the interaction of engine and quadrant alone: per bit and extra
// routed millimetre, with whatever stands along the way (repeaters, flops, switches, requests).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/core/wire_constants.hpp"
#include "ww/model/latency_witness.hpp"

namespace ww::model {

enum class Convention { per_random_bit, per_transition, none };
[[nodiscard]] std::string_view to_string(Convention convention);

struct FitOptions {
  bool temperature_correction{true};  // off: negative control
  bool swap_paths{false};             // exchanges short and long: the sign must flip
  bool robust{true};
  // Ablations, which show what each part of the method contributes (studies/coverage).
  bool crossing{true};         // off: no engine and quadrant offsets, distance as it is
  bool bytes_covariate{true};  // off: every plateau is taken to have moved its variant's mean
  bool mirrored{true};         // off: the first pass of a block alone
  bool lock_in{true};          // off: plateaus alone
  int bootstrap_replicates{200};
  std::uint64_t seed{1};
};

// A fitted constant with two 95% intervals. `sensed` covers what the campaign's own noise allows;
// the absolute one adds the declared tolerances of sensor gain, regulator slope and floorplan.
struct FittedConstant {
  WireConstant which{};
  Figure row;  // value, low, high: absolute interval; status, reason
  double sensed_low{};
  double sensed_high{};
  Convention convention{Convention::per_random_bit};
  // Standard errors behind the sensed interval, by covariance and by bootstrap.
  double covariance_error{};
  double bootstrap_error{};
  double systematic_error{};  // errors that no repetition shows: heat, stream
};

// One line of an uncertainty budget (JCGM 100:2008, clauses 4 and 5).
struct BudgetRow {
  std::string source;
  char type{};                    // 'A': from the campaign's own scatter; 'B': from elsewhere
  std::string distribution;       // "t", "normal" or "rectangular"
  double standard_uncertainty{};  // of the input, in `unit`
  std::string unit;
  double sensitivity{};   // of the energy, fJ/bit/mm per `unit`
  double contribution{};  // their product [fJ/bit/mm]
  double share{};         // of the combined variance
};
struct ExpandedUncertainty {
  double level{};
  double coverage_factor{};  // Student's t for the effective degrees of freedom
  double half_width{};       // fJ/bit/mm
};
// The budget of energy_fj_per_bit_mm, absolute, to first order.
struct Budget {
  std::vector<BudgetRow> rows;
  double combined{};            // combined standard uncertainty [fJ/bit/mm]
  double degrees_of_freedom{};  // effective: Welch and Satterthwaite (JCGM 100:2008, G.4)
  std::vector<ExpandedUncertainty> expanded;  // at 68, 95 and 99%
};

// One plateau as the fit saw it, for the report.
struct PlateauRow {
  std::int64_t session{}, block{}, position{};
  RunKind kind{};
  int engine{-1}, quadrant{-1};
  std::string pattern;
  int throttle{};
  double turn_s{};            // lock-in: length of a turn; the row averages one pair's turns
  double start_s{}, end_s{};  // after cut-off
  double power_w{}, power_error_w{};
  double temperature_c{}, voltage_v{};
  double bits_per_second{};
  double distance_mm{};
  double fitted_w{};
  // Power minus the modelled idle power at the same temperature, scaled to the reference voltage.
  // Only stream runs have it.
  double dynamic_w{};
  bool used{};
  std::string reason;  // why it is not used; empty if the fit needs no plateau of this kind
};

struct IdleCurve {
  int dvfs_state{};
  std::array<double, 4> coefficients{};  // P = sum c_i * ((T - reference_c) / 10)^i [W]
  double reference_c{};
  double rms_w{};
  double low_c{}, high_c{};  // range of the data
};

// Idle power at one moment, with the temperature that the fit reconstructed.
struct IdlePoint {
  int dvfs_state{};
  double temperature_c{};
  double power_w{};  // at the state's nominal voltage
};

// One pair of engine and quadrant: its energy per bit and its distance, both with the means of the
// engine and of the quadrant subtracted. The slope of energy over distance of all pairs is the
// answer.
struct PairPoint {
  std::string pattern;
  int throttle{};
  int dvfs_state{};
  int engine{}, quadrant{};
  double distance_mm{};
  double centred_distance_mm{};
  double energy_fj_per_bit{};
  double error_fj_per_bit{};  // standard error of the mean over the pair's plateaus
};

// The energy for random payload by one length of turn; plateaus have turn_s 0.
struct LockInRow {
  double turn_s{}, cycle_hz{};  // a cycle gives every pair one turn
  double energy_fj_per_bit_mm{};
  double half_width_95{};
  double uncorrected_fj_per_bit_mm{};  // without temperature correction; falls towards long turns
};

// One rate of the bandwidth ladder.
struct RateRow {
  int throttle{};
  double bits_per_second{};
  double energy_fj_per_bit_mm{};
  double half_width_95{};
  double dynamic_w{};  // mean over pairs, at reference voltage
};

// One voltage and frequency state.
struct StateRow {
  int dvfs_state{};
  double voltage_v{}, clock_hz{};
  double energy_fj_per_bit_mm{};
  double half_width_95{};
};

// How much the data support a term of the model (diagnostics.hpp).
struct TermSupport {
  std::string name;
  int parameters{};
  double wald{};
  double delta_bic{};  // below 0: the data support the term
  bool supported{};
};

struct Diagnostics {
  double condition_number{};  // of the normal matrix, parameters scaled
  double mean_leverage{}, most_leverage{};
  double residual_rms_sigmas{};
  double held_back_rms_sigmas{};  // every plateau predicted by all others
  double beyond_three_sigmas{};   // share of plateaus
  // How much more steeply power under load follows temperature than idle power does [1/10 K].
  double leakage_steepening{}, leakage_steepening_error{};
  // Rise of temperature within some tens of ms of the strongest stream, as leakage sees it [K].
  double hot_spot_k{}, hot_spot_error_k{};
  std::vector<TermSupport> terms;
};

// One payload and rate on a device with toggle monitors: its energy beside the events on the
// trunks' wires, per payload bit.
struct VariantActivity {
  std::string pattern;
  int throttle{};
  double energy_fj_per_bit_mm{};
  double error{};  // standard error
  double slot_bits{}, toggles{}, adjacent{}, opposite{};
  // Request and tag wires beside the payload; 0 where the device does not count them.
  double control_toggles{}, control_adjacent{}, control_opposite{};
};

// Bounds of the mean flight there and back over all pairs, where only differences of latencies are
// flight for certain [ns] (docs/method.md, "Without a floorplan").
struct WholeFlight {
  double low_ns{}, high_ns{};
};

// A flagged fit gives every constant that has a value the status misfit, with this reason.
struct Misfit {
  bool flagged{};
  std::string reason;
  double statistic{};  // compared with the threshold
  double threshold{};
  // Checks whose limit lies within their 95% interval, so that further blocks may flag the fit or
  // take the flag away: what was found, and the limit. Empty where none or another reason decides.
  std::string undecided;
};

struct FitResult {
  std::string device;
  std::string target;  // its architecture ("gfx90a"); empty where the campaign does not say
  bool is_virtual{};
  FittedConstant energy_per_bit_mm;  // random payload bits at reference V and f
  // Energy per nanosecond of flight there and back, in campaigns that go by measured latency:
  // energy_per_bit_mm is then not_identified, and every figure of a distance below is one in ns.
  std::optional<FittedConstant> energy_per_bit_ns;
  // The one of both that the campaign gives.
  [[nodiscard]] const FittedConstant& energy() const {
    return energy_per_bit_ns ? *energy_per_bit_ns : energy_per_bit_mm;
  }
  // Factor that an estimate multiplies it with; absent where nothing bounds it.
  std::optional<WholeFlight> whole_flight;
  std::vector<FittedConstant> constants;  // includes energy_per_bit_mm
  Budget budget;                          // without rows where the energy has no value
  double long_over_short_percent{};       // dynamic power of far over near pairs, paper Fig. 5a
  double short_dynamic_w{}, long_dynamic_w{};
  double near_mm{}, far_mm{};
  double l1_l2_bandwidth_fraction{};   // saturated runs, of the peak of the channels read
  double uncorrected_fj_per_bit_mm{};  // the same fit without temperature correction
  std::vector<IdleCurve> idle;
  std::vector<IdlePoint> idle_points;
  std::vector<PairPoint> pairs;
  std::vector<PlateauRow> plateaus;
  std::vector<LockInRow> lock_in;        // by length of turn, plateaus first
  double lock_in_disagreement_sigmas{};  // lock-in less plateaus, in its standard errors
  std::vector<RateRow> rates;
  std::vector<StateRow> states;
  Diagnostics diagnostics;
  std::vector<VariantActivity> variant_activity;  // empty without monitors
  Misfit misfit;
  LatencyWitness latency;  // beside the floorplan, where the campaign timed all pairs
  std::int64_t runs{}, rejected{};
  double residual_rms_w{};
  // Conditions under which the figures hold, and their origin.
  double reference_voltage_v{}, reference_clock_hz{};
  // Why no reading showed the die's voltage, so that a load line had to be assumed; empty where
  // some did.
  std::string no_voltage_reason;
  std::vector<std::vector<double>> distance_mm;  // [engine][quadrant], as published
  double registers_to_l1_mm{}, l2_to_memory_mm{};
  double route_error_95_mm{};  // of a mean route, by the floorplan's positions
  std::string floorplan;       // its name
  std::string campaign_hash;   // of facts, runs and power readings
  std::string version, seed;   // of the program that ran the campaign, and of its plan
  // Part of the method that a control left out or exchanged ("without temperature"); empty for a
  // calibration. Readers of a model.json refuse a control (flagged.hpp).
  std::string control;
  bool unfinished{};  // the campaign was interrupted, and lacks runs of its plan
  std::uint64_t fit_seed{};
};

// Errors: bad_data by name (no idle runs, no stream runs, one temperature only...) where nothing
// can be fitted. A constant that cannot be determined has the status not_identified instead.
[[nodiscard]] Result<FitResult> fit_campaign(const CampaignStore& campaign,
                                             const FitOptions& options);

// model.json (format: model/README.md). NaN becomes null.
[[nodiscard]] nlohmann::json to_model_json(const FitResult& fit);
// Returns the JSON document as it is written to a file.
[[nodiscard]] std::string model_text(const FitResult& fit);
// Replaces the file atomically. Errors: io_error, permission_denied.
Status write_model(const std::filesystem::path& file, const FitResult& fit);

}  // namespace ww::model
