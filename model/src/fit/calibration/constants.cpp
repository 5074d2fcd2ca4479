#include "fit/calibration/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/calibration/budget.hpp"
#include "fit/calibration/misfit.hpp"
#include "fit/calibration/prepare.hpp"
#include "fit/solver/assumptions.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {

std::string flights_say_nothing(double error) {
  return fmt::format(
      "noise and whole cycles of the clock make up to {:.0f}% of the contrast of the measured "
      "latencies",
      100 * error);
}

namespace {

class Constants {
 public:
  Constants(const JointFit& fit, const Payloads& payloads, const Uncertainty& uncertainty,
            const Facts& facts, bool contrast)
      : fit_(fit),
        payloads_(payloads),
        uncertainty_(uncertainty),
        facts_(facts),
        contrast_(contrast),
        random_(payloads.find("random", facts.reference_state)) {
    if (random_) scale_ = std::abs(payloads.energy(*random_));
    declared_ = declared_errors(facts);
  }

  [[nodiscard]] const std::optional<std::size_t>& random() const { return random_; }

  // Payload at the reference state; nothing where it was not run.
  [[nodiscard]] std::optional<std::size_t> payload(std::string_view pattern) const {
    return payloads_.find(pattern, facts_.reference_state);
  }

  // sum weights[v] k_v; `scale_share` of the random payload's energy is what its interval is
  // measured by.
  FittedConstant energy(WireConstant which, const std::optional<Eigen::VectorXd>& weights,
                        const std::string& absent,
                        Convention convention = Convention::per_random_bit,
                        double scale_share = 1) const {
    FittedConstant constant = blank(which, convention);
    if (!contrast_) {
      return unknown(constant,
                     fmt::format("all pairs of engine and quadrant are equally far by {}; there is "
                                 "no distance contrast",
                                 facts_.by_flight() ? "measured latency" : "the floorplan"));
    }
    if (!random_) {
      return unknown(constant, "random payload was not run at the reference voltage and frequency");
    }
    if (!weights) return unknown(constant, absent);
    const double value = value_of(*weights);
    fill_errors(constant, *weights);
    const Reach reach = reach_95(uncertainty_, *weights);
    if (!std::isfinite(value) || !std::isfinite(reach.up) ||
        std::max(reach.down, reach.up) > kUselessShare * scale_share * scale_) {
      return unknown(constant,
                     "the 95% interval is wider than half of the energy itself; "
                     "measure more blocks");
    }
    const Interval absolute =
        absolute_interval_95(uncertainty_, *weights, value, declared_.together());
    if (!std::isfinite(absolute.low) || !std::isfinite(absolute.high)) {
      if (declared_.by_flight && declared_.positions > kMaxFlightError) {
        return unknown(constant, flights_say_nothing(declared_.positions));
      }
      return unknown(constant, fmt::format("gain, regulator and distances are known to {:.0f}% "
                                           "together, which bounds no energy",
                                           100 * declared_.together()));
    }
    constant.row.value = value;
    constant.row.low = absolute.low;
    constant.row.high = absolute.high;
    constant.sensed_low = value - reach.down;
    constant.sensed_high = value + reach.up;
    return constant;
  }

  // K of one payload.
  FittedConstant of(WireConstant which, std::string_view pattern, const std::string& words) const {
    const auto here = payload(pattern);
    return energy(which, here ? std::optional(payloads_.weights(*here)) : std::nullopt,
                  words + " was not run");
  }

  // (K of a - K of b) * factor.
  FittedConstant contrast(WireConstant which, std::string_view a, std::string_view b, double factor,
                          Convention convention, const std::string& words,
                          double scale_share) const {
    const auto one = payload(a);
    const auto other = payload(b);
    std::optional<Eigen::VectorXd> weights;
    if (one && other) {
      weights = factor * (payloads_.weights(*one) - payloads_.weights(*other));
    }
    return energy(which, weights, words + " was not run", convention, scale_share);
  }

  // Energy of the payload's own toggles per random bit: the toggle slope at rate 1/2; nothing where
  // half random payload was not run.
  [[nodiscard]] std::optional<Eigen::VectorXd> wires_alone() const {
    const auto half = payload("half_random");
    if (!random_ || !half) return std::nullopt;
    return 2 * (payloads_.weights(*random_) - payloads_.weights(*half));
  }

  // Energy of the payload's wires alone per random bit and mm. Neighbouring wires couple and
  // nothing else does, so that wires cost at least what coupling does; and at most all that toggles
  // with the data: twice what random bits cost more than half random ones, and what zeros cost, for
  // a bus that rests at ones between its grants toggles more for half random data than for random
  // ones. With a grant every eighth beat that is 1.8 times the former, which it never exceeds by
  // far: clocks along the way cost without any toggle. Flops, multiplexers and arbiters along the
  // way toggle with the data as well, and no run separates them from the wires' capacitance to
  // ground: any value between the two bounds is equally likely. `departures` is the rms of what
  // distance leaves unexplained over what it explains, in `terms` interactions: no less likely
  // along distance, and per link no property of its millimetres.
  [[nodiscard]] FittedConstant wires(WireConstant which, double departures, double terms) const {
    const auto random = random_ ? std::optional(payloads_.weights(*random_)) : std::nullopt;
    FittedConstant constant = energy(which, random, "random payload was not run");
    if (!constant.row.value) return constant;
    const auto toggling = wires_alone();
    const auto zeros = payload("zeros");
    Eigen::VectorXd most = *random;
    if (toggling && zeros) most = *toggling + payloads_.weights(*zeros);
    if (toggling && kMaxRestingFactor * value_of(*toggling) < value_of(most)) {
      most = kMaxRestingFactor * *toggling;
    }
    const auto uniform = payload("uniform_lines");
    Eigen::VectorXd least = Eigen::VectorXd::Zero(random->size());
    if (uniform) least = (*random - payloads_.weights(*uniform)) / kMaxCouplingShare;
    const double doubt = terms > 0 ? kNormal95 * departures / std::sqrt(terms) : 0;
    const auto sensed = [&](const Eigen::VectorXd& weights, double away) {
      const double value = value_of(weights);
      const Reach reach = reach_95(uncertainty_, weights);
      return std::max(0.0,
                      value + away * std::hypot(away < 0 ? reach.down : reach.up, doubt * value));
    };
    const auto absolute = [&](const Eigen::VectorXd& weights) {
      const double value = value_of(weights);
      return absolute_interval_95(uncertainty_, weights, value, declared_.together(),
                                  doubt * value);
    };
    const double high = std::max(0.0, value_of(most));
    const double low = std::clamp(value_of(least), 0.0, high);
    fill_errors(constant, (most + least) / 2);
    constant.row.value = (low + high) / 2;
    constant.sensed_low = sensed(least, -1);
    constant.sensed_high = sensed(most, 1);
    constant.row.low = std::max(0.0, absolute(least).low);
    constant.row.high = std::max(0.0, absolute(most).high);
    constant.row.reason =
        "between what neighbouring wires couple and all that toggles with the data: flops and "
        "switches along the way cannot be told from the wires' capacitance to ground";
    return constant;
  }

  // Energy of random payload carried over to a segment that offers no contrast of its own. Wires
  // carry over; clocks, strobes and parking of the crossbar do not.
  FittedConstant transferred(WireConstant which, double tolerance_95,
                             const std::string& reason) const {
    const auto random = random_ ? std::optional(payloads_.weights(*random_)) : std::nullopt;
    FittedConstant constant = energy(which, wires_alone(), "half random payload was not run");
    if (!constant.row.value) constant = energy(which, random, "random payload was not run");
    if (!constant.row.value) return constant;
    constant.row.status = RowStatus::transferred;
    constant.row.reason = reason;
    const double value = *constant.row.value;
    const double wider = tolerance_95 * std::abs(value);
    constant.sensed_low = value - std::hypot(value - constant.sensed_low, wider);
    constant.sensed_high = value + std::hypot(constant.sensed_high - value, wider);
    constant.row.low = value - std::hypot(value - *constant.row.low, wider);
    constant.row.high = value + std::hypot(*constant.row.high - value, wider);
    return constant;
  }

  // A number without dimension: gain and scale drop out of it, so both intervals are the same.
  FittedConstant exponent(WireConstant which, double value, const Eigen::VectorXd& weights) const {
    FittedConstant constant = blank(which, Convention::none);
    fill_errors(constant, weights);
    const double half = half_width_95(uncertainty_, weights);
    if (!std::isfinite(value) || !(half <= kUselessExponent)) {
      return unknown(constant, fmt::format("its 95% interval is +-{:.2g}; measure more blocks at "
                                           "other states",
                                           half));
    }
    constant.row.value = value;
    constant.row.low = constant.sensed_low = value - half;
    constant.row.high = constant.sensed_high = value + half;
    return constant;
  }

  [[nodiscard]] Budget budget(const Eigen::VectorXd& weights) const {
    return make_budget(uncertainty_, weights, value_of(weights), declared_);
  }

  FittedConstant unknown(FittedConstant constant, const std::string& reason) const {
    constant.row.status = RowStatus::not_identified;
    constant.row.reason = reason;
    return constant;
  }

  FittedConstant blank(WireConstant which, Convention convention) const {
    FittedConstant constant;
    constant.which = which;
    constant.row.name = name_of(which);
    constant.row.unit = unit_of(which);
    constant.row.device = facts_.device;
    constant.convention = convention;
    return constant;
  }

 private:
  [[nodiscard]] double value_of(const Eigen::VectorXd& weights) const {
    double value = 0;
    for (Eigen::Index v = 0; v < weights.size(); ++v) {
      value +=
          weights[v] * fit_.parameters.variants[static_cast<std::size_t>(v)].energy_fj_per_bit_mm;
    }
    return value;
  }

  void fill_errors(FittedConstant& constant, const Eigen::VectorXd& weights) const {
    const auto error = [&](const Eigen::MatrixXd& matrix) {
      return matrix.size() > 0 ? std::sqrt(std::max(0.0, weights.dot(matrix * weights))) : 0.0;
    };
    constant.covariance_error = error(uncertainty_.covariance);
    constant.bootstrap_error = error(uncertainty_.bootstrap);
    constant.systematic_error = error(uncertainty_.systematic);
  }

  const JointFit& fit_;
  const Payloads& payloads_;
  const Uncertainty& uncertainty_;
  const Facts& facts_;
  bool contrast_;
  std::optional<std::size_t> random_;
  double scale_{};
  DeclaredErrors declared_;
};

// Exponents of K ~ V^a f^b over the states that ran random payload, by weighted least squares on
// logarithms.
void fit_exponents(FitResult& result, const Constants& make, const Payloads& payloads,
                   const Uncertainty& uncertainty, const Facts& facts) {
  std::vector<std::size_t> states;
  std::vector<std::size_t> rows;
  for (std::size_t s = 0; s < facts.dvfs.size(); ++s) {
    const auto here = payloads.find("random", static_cast<int>(s));
    if (!here || !(payloads.energy(*here) > 0)) continue;
    states.push_back(s);
    rows.push_back(*here);
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  const auto& reference = facts.dvfs[static_cast<std::size_t>(facts.reference_state)];
  Eigen::VectorXd volt(n);
  Eigen::VectorXd clock(n);
  Eigen::VectorXd log_k(n);
  // d ln K of a state by d k of a variant.
  Eigen::MatrixXd by_variant(n, uncertainty.covariance.rows());
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const DvfsState& state = facts.dvfs[states[at]];
    volt[i] = std::log(state.voltage_v / reference.voltage_v);
    clock[i] = std::log(state.clock_hz / reference.clock_hz);
    log_k[i] = std::log(payloads.energy(rows[at]));
    by_variant.row(i) = payloads.weights(rows[at]).transpose() / payloads.energy(rows[at]);
    StateRow row;
    row.dvfs_state = static_cast<int>(states[at]);
    row.voltage_v = state.voltage_v;
    row.clock_hz = state.clock_hz;
    row.energy_fj_per_bit_mm = payloads.energy(rows[at]);
    row.half_width_95 = half_width_95(uncertainty, payloads.weights(rows[at]));
    result.states.push_back(row);
  }
  const auto solve = [&](const Eigen::MatrixXd& design) -> Eigen::MatrixXd {
    const Eigen::MatrixXd covariance =
        by_variant * (uncertainty.covariance + uncertainty.systematic) * by_variant.transpose();
    const Eigen::MatrixXd weighted = covariance.ldlt().solve(design);
    return (design.transpose() * weighted).ldlt().solve(weighted.transpose());
  };
  auto along = make.blank(WireConstant::voltage_exponent_along_curve, Convention::none);
  auto voltage = make.blank(WireConstant::voltage_exponent, Convention::none);
  auto frequency = make.blank(WireConstant::frequency_exponent, Convention::none);
  if (n < 2 || volt.maxCoeff() - volt.minCoeff() < 0.02) {
    const std::string reason = "random payload was run at one voltage only";
    for (auto* constant : {&along, &voltage, &frequency}) {
      *constant = make.unknown(*constant, reason);
      result.constants.push_back(*constant);
    }
    return;
  }
  Eigen::MatrixXd design(n, 2);
  design << Eigen::VectorXd::Ones(n), volt;
  const Eigen::MatrixXd one = solve(design);
  result.constants.push_back(
      make.exponent(along.which, one.row(1).dot(log_k), (one.row(1) * by_variant).transpose()));

  const Eigen::VectorXd line = design.colPivHouseholderQr().solve(clock);
  const double off_curve = (clock - design * line).norm() / std::sqrt(static_cast<double>(n));
  if (n < 3 || off_curve < kMinOffCurve) {
    const std::string reason =
        "voltage and frequency go together over the states that were run, so their exponents "
        "cannot be told apart; they need states off that curve";
    result.constants.push_back(make.unknown(voltage, reason));
    result.constants.push_back(make.unknown(frequency, reason));
    return;
  }
  Eigen::MatrixXd both(n, 3);
  both << Eigen::VectorXd::Ones(n), volt, clock;
  const Eigen::MatrixXd two = solve(both);
  result.constants.push_back(
      make.exponent(voltage.which, two.row(1).dot(log_k), (two.row(1) * by_variant).transpose()));
  result.constants.push_back(
      make.exponent(frequency.which, two.row(2).dot(log_k), (two.row(2) * by_variant).transpose()));
}

// Fills in the result by each length of turn, and whether all agree.
void fill_lock_in(FitResult& result, const JointInput& input, const JointFit& fit,
                  const Payloads& payloads, const Uncertainty& uncertainty, std::size_t random,
                  const std::vector<double>& correction) {
  const auto pairs = static_cast<double>(input.distance_mm.size());
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(uncertainty.covariance.rows());
  for (const std::size_t v : payloads.members(random)) {
    const auto at = static_cast<Eigen::Index>(v);
    unit.setZero();
    unit[at] = 1;
    LockInRow row;
    row.turn_s = input.variants[v].turn_s;
    row.cycle_hz = row.turn_s > 0 ? 1 / (pairs * row.turn_s) : 0;
    row.energy_fj_per_bit_mm = fit.parameters.variants[v].energy_fj_per_bit_mm;
    row.uncorrected_fj_per_bit_mm = row.energy_fj_per_bit_mm - correction[v];
    row.half_width_95 = half_width_95(uncertainty, unit);
    result.lock_in.push_back(row);
  }
  std::ranges::sort(result.lock_in, {}, &LockInRow::turn_s);
  const auto turns = payloads.weights_of(random, true);
  const auto plateaus = payloads.weights_of(random, false);
  if (!turns || !plateaus) return;
  const Eigen::VectorXd difference = *turns - *plateaus;
  double value = 0;
  for (Eigen::Index v = 0; v < difference.size(); ++v) {
    value +=
        difference[v] * fit.parameters.variants[static_cast<std::size_t>(v)].energy_fj_per_bit_mm;
  }
  const double error =
      half_width_95(uncertainty, difference) / t_quantile_95(uncertainty.degrees_of_freedom);
  result.lock_in_disagreement_sigmas = error > 0 ? value / error : 0;
}

void fill_rates(FitResult& result, const Payloads& payloads, const JointFit& fit,
                const Uncertainty& uncertainty, const Facts& facts) {
  for (std::size_t p = 0; p < payloads.count(); ++p) {
    const Variant& variant = payloads.variant(p);
    if (variant.pattern != "random" || variant.dvfs_state != facts.reference_state) continue;
    RateRow row;
    row.throttle = variant.throttle;
    row.bits_per_second = variant.mean_bits_per_second;
    row.energy_fj_per_bit_mm = payloads.energy(p);
    row.half_width_95 = half_width_95(uncertainty, payloads.weights(p));
    for (const std::size_t v : payloads.members(p)) {
      row.dynamic_w = fit.parameters.variants[v].mean_w;
    }
    result.rates.push_back(row);
  }
  std::ranges::sort(result.rates, {}, &RateRow::bits_per_second);
}

}  // namespace

bool has_contrast(const JointInput& input) {
  return distance_contrast_mm(input) > kMinContrast * input.distance_mm.mean();
}

void fill_constants(FitResult& result, const JointInput& input, const JointFit& fit,
                    const Payloads& payloads, const Uncertainty& uncertainty, const Facts& facts,
                    const std::vector<double>& correction, std::optional<std::size_t> main) {
  const bool contrast = has_contrast(input);
  const Constants make(fit, payloads, uncertainty, facts, contrast);
  auto& constants = result.constants;
  result.energy_per_bit_mm = make.of(WireConstant::energy, "random", "random payload");
  constants.push_back(result.energy_per_bit_mm);
  if (result.energy_per_bit_mm.row.value)
    result.budget = make.budget(payloads.weights(*make.random()));
  const LackOfFit lack = main ? lack_of_fit(input, fit, uncertainty, *main) : LackOfFit{};
  constants.push_back(make.wires(WireConstant::wire_energy, lack.relative, lack.freedom));
  constants.push_back(make.of(WireConstant::zero_toggle_intercept, "zeros", "payload of zeros"));
  // Toggle rates: 0.5 transitions a bit for random payload, 0.25 for half random.
  constants.push_back(make.contrast(WireConstant::toggle_slope, "random", "half_random", 4,
                                    Convention::per_transition, "half random payload", 2));
  const auto slowest = payloads.find("random", facts.reference_state, true);
  const bool two_rates = slowest && make.random() && *slowest != *make.random();
  constants.push_back(
      make.energy(WireConstant::throttled_energy,
                  two_rates ? std::optional(payloads.weights(*slowest)) : std::nullopt,
                  "random payload was run at one rate only"));
  // All wires of a line move together or not at all: what random payload costs more is coupling.
  constants.push_back(make.contrast(WireConstant::coupling, "random", "uniform_lines", 1,
                                    Convention::per_random_bit, "payload of uniform lines", 1));
  constants.push_back(make.contrast(WireConstant::neighbour_coupling, "pairs_opposite",
                                    "pairs_equal", 1, Convention::per_random_bit,
                                    "payload of equal or opposite neighbours", 1));
  // Densities of one quarter and three quarters toggle equally; zeros are half of the bits more.
  constants.push_back(make.contrast(WireConstant::zero_bit_value, "density_25", "density_75", 2,
                                    Convention::per_random_bit,
                                    "payload of a density other than half", 2));
  constants.push_back(make.of(WireConstant::ones_intercept, "ones", "payload of ones"));
  constants.push_back(make.of(WireConstant::aa_intercept, "aa", "payload of 0xAA"));

  constants.push_back(make.transferred(
      WireConstant::registers_l1_energy, kInsideUnitTolerance95,
      "from L1-L2: registers and L1 of every CU lie equally far apart, so that distance cannot be "
      "told from what the L1 itself takes"));
  constants.push_back(make.transferred(WireConstant::l2_memory_energy, kAcrossDieTolerance95,
                                       "from L1-L2: each channel has one memory controller, so "
                                       "that its distance cannot be told from "
                                       "what channel and controller themselves take"));

  if (contrast && make.random()) {
    const std::size_t random = *make.random();
    constants.push_back(
        make.energy(WireConstant::lock_in_energy, payloads.weights_of(random, true),
                    "the sensor is too slow for lock-in, or the campaign has none"));
    constants.push_back(make.energy(WireConstant::plateau_energy,
                                    payloads.weights_of(random, false), "no plateaus were run"));
    fit_exponents(result, make, payloads, uncertainty, facts);
    fill_lock_in(result, input, fit, payloads, uncertainty, random, correction);
    fill_rates(result, payloads, fit, uncertainty, facts);
  }
}

}  // namespace ww::model
