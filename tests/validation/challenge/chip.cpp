#include "chip.hpp"

#include <algorithm>
#include <cmath>

namespace ww::challenge {
namespace {

constexpr double kReferenceC = 60;
constexpr double kEngineHeatShare =
    0.7;  // of an engine's activity; the rest is the crossbar's and L2's
constexpr double kCrossbarLeakage = 0.25;  // of all leakage
constexpr double kBoostFromC = 58;
constexpr double kBoostStepC = 6;
constexpr double kGovernorS = 0.002;
constexpr double kRefreshDoublesC = 85;
constexpr double kMemoryAboveDieK = 12;
constexpr double kFanS = 8;
constexpr double kFanSpanK = 40;

// First-order approach to a goal.
double approach(double state, double goal, double seconds, double tau_s) {
  return state - std::expm1(-seconds / tau_s) * (goal - state);
}

}  // namespace

Chip::Chip(const Die& die, const Wires& wires, Draws& draws)
    : wires_(wires), random_(draws.stream("chip.run")) {
  const double voltage = draws.number("clock.voltage_v");
  const double hertz = draws.number("clock.frequency_ghz") * 1e9;
  states_.push_back({voltage, hertz});
  states_.push_back({voltage * draws.number("clock.lower_voltage_share"),
                     hertz * draws.number("clock.lower_frequency_share")});
  bytes_per_channel_ = draws.number("clock.bytes_per_channel");
  boosts_ = draws.chance("clock.boosts");
  boost_bin_ = draws.number("clock.boost_bin_share");
  const double avfs = draws.number("clock.avfs_mv_per_k") * 1e-3;
  avfs_v_per_k_ = draws.chance("clock.avfs") ? avfs : 0;

  leakage_w_ = draws.number("power.leakage_w");
  fold_k_ = draws.number("power.leakage_fold_k");
  leakage_power_ = draws.number("power.leakage_voltage_power");
  clock_tree_w_ = draws.number("power.clock_tree_w");
  rest_w_ = draws.number("power.rest_w");
  activity_w_ = draws.number("power.activity_w");
  furnace_w_ = draws.number("power.furnace_w");
  idle_share_ = draws.number("power.idle_share_of_activity");
  value_dependence_ = draws.number("power.value_dependence");
  gated_w_ = draws.number("power.gated_engine_w");
  gate_delay_s_ = draws.number("power.gate_delay_ms") * 1e-3;
  refresh_w_ = draws.number("power.refresh_step_w");
  burst_w_ = draws.number("power.background_w");
  bursts_per_s_ = draws.number("power.background_per_minute") / 60;
  drift_w_ = draws.number("power.drift_w");
  drift_s_ = draws.number("power.drift_s");
  cap_w_ =
      draws.number("clock.cap_over_stream") * (leakage_w_ + clock_tree_w_ + rest_w_ + activity_w_);

  hot_k_per_w_ = draws.number("heat.hot_spot_k") / (kEngineHeatShare * activity_w_);
  hot_s_ = draws.number("heat.hot_spot_ms") * 1e-3;
  hot_share_ = draws.number("heat.hot_leakage_share");
  wire_hot_share_ = draws.number("heat.wire_hot_share");
  die_k_per_w_ = draws.number("heat.die_k_per_w");
  die_s_ = draws.number("heat.die_s");
  sink_k_per_w_ = draws.number("heat.sink_k_per_w");
  sink_s_ = draws.number("heat.sink_s");
  air_c_ = draws.number("heat.air_c");
  air_wander_k_ = draws.number("heat.air_wander_k");
  air_wander_s_ = draws.number("heat.air_wander_s");
  fan_w_ = draws.number("heat.fan_w");
  fan_from_c_ = draws.number("heat.fan_from_c");

  load_line_ohm_ = draws.number("regulator.load_line_mohm") * 1e-3;
  regulator_.board = draws.chance("regulator.board");
  const double fixed_w = draws.number("regulator.fixed_w");
  const double linear = draws.number("regulator.linear");
  const double bend = draws.number("regulator.ohmic_per_kw") * 1e-3;
  const double rail_slope = draws.number("regulator.rail_slope");
  if (regulator_.board) {
    regulator_.fixed_w = fixed_w;
    regulator_.linear = linear;
    regulator_.bend_per_w = bend;
  } else {
    regulator_.linear = rail_slope;
  }

  peak_share_ = draws.number("rate.peak_share");
  throttled_rate_ = draws.number("rate.throttled_share");
  const double fall = draws.number("rate.fall_per_mm");
  const double scatter = draws.number("rate.scatter");
  const double engine_scatter = draws.number("power.engine_scatter");
  auto random = draws.stream("chip.pairs");
  waiting_ = Wires::distances_mm(die.real);
  late_ = waiting_;
  const double first_mm = waiting_[0][0];
  for (auto& row : waiting_) {
    for (double& value : row) value = 1 - fall * (value - first_mm);
  }
  for (auto& row : late_) {
    for (double& value : row) value = 1 + scatter * normal_(random);
  }
  for (int e = 0; e < die.engines; ++e) engine_offset_.push_back(engine_scatter * normal_(random));
  for (int q = 0; q < kQuadrants; ++q) {
    quadrant_offset_.push_back(0.4 * engine_scatter * normal_(random));
  }
  hot_k_.assign(static_cast<std::size_t>(die.engines), 0);
  awake_s_ = hot_k_;
  voltage_v_ = voltage;
  // The chip has idled for long.
  begin({});
  for (int i = 0; i < 2000; ++i) advance(0.5);
}

void Chip::begin(const Load& load) {
  load_ = load;
  run_rate_ = 1 + 1e-4 * normal_(random_);
}

double Chip::clock_hz() const {
  double share = cap_factor_;
  if (boosts_ && load_.engine >= 0) {
    share *= 1 - boost_bin_ * std::floor(std::max(0.0, (die_c() - kBoostFromC) / kBoostStepC));
  }
  return states_[static_cast<std::size_t>(state_)].clock_hz * share;
}

// Pairs differ at full speed; a stream that is throttled does not depend on them.
Chip::Rate Chip::rate_of_pair() const {
  const auto e = static_cast<std::size_t>(load_.engine);
  const auto q = static_cast<std::size_t>(load_.quadrant);
  if (load_.rate < 1) return {load_.rate, run_rate_};
  return {waiting_[e][q], late_[e][q] * run_rate_};
}

double Chip::bits_per_second() const {
  if (load_.engine < 0) return 0;
  return kChannelsOfQuadrant * bytes_per_channel_ * 8 * clock_hz() * peak_share_ *
         rate_of_pair().total();
}

double Chip::leakage_w(double scale) const {
  const double die = die_c() - kReferenceC;
  double share = kCrossbarLeakage * std::exp((die + wire_spot_k_) / fold_k_);
  const double engine_part = (1 - kCrossbarLeakage) / static_cast<double>(hot_k_.size());
  for (const double hot : hot_k_) {
    share += engine_part * (hot_share_ * std::exp((die + hot) / fold_k_) +
                            (1 - hot_share_) * std::exp(die / fold_k_));
  }
  return leakage_w_ * scale * share;
}

Power Chip::advance(double seconds) {
  const DvfsState& reference = states_.front();
  const double v = voltage_v_ / reference.voltage_v;
  const double f = clock_hz() / reference.clock_hz;
  const double dynamic = v * v * f;
  double engine_w = 0;
  double wires_w = 0;
  double shared_w = 0;  // of crossbar and L2
  if (load_.engine >= 0) {
    const auto e = static_cast<std::size_t>(load_.engine);
    const auto q = static_cast<std::size_t>(load_.quadrant);
    const Rate rate = rate_of_pair();
    const double activity = activity_w_ * (1 + engine_offset_[e] + quadrant_offset_[q]) *
                            (idle_share_ + (1 - idle_share_) * rate.waiting) * rate.late *
                            (1 + value_dependence_ * (load_.activity.toggles - 0.5)) * dynamic;
    engine_w = kEngineHeatShare * activity;
    shared_w = (1 - kEngineHeatShare) * activity;
    wires_w = wires_.energy_fj(load_.engine, load_.quadrant, load_.activity, voltage_v_) * 1e-15 *
              bits_per_second() * wires_.at_temperature(wire_c());
    awake_s_[e] = gate_delay_s_;
  }
  double gated = 0;
  for (double& awake : awake_s_) {
    if (load_.furnace) awake = gate_delay_s_;
    if (awake > 0) gated += gated_w_;
  }
  // Leakage follows the spots' heat in the middle of the step.
  double spot_w = engine_w;
  if (load_.furnace) {
    spot_w = kEngineHeatShare * furnace_w_ * dynamic / static_cast<double>(hot_k_.size());
  }
  warm_spots(seconds / 2, spot_w, wires_w + shared_w);
  Power power;
  power.core_w = leakage_w(std::pow(v, leakage_power_)) + clock_tree_w_ * dynamic + gated * v * v +
                 engine_w + shared_w + wires_w + (load_.furnace ? furnace_w_ * dynamic : 0);
  warm_spots(seconds / 2, spot_w, wires_w + shared_w);
  wander(seconds);
  power.rest_w = rest_w_ + drift_now_w_ + burst_now_w_ + fan_w_ * std::pow(fan_speed_, 3);
  if (die_c() + kMemoryAboveDieK > kRefreshDoublesC) power.rest_w += refresh_w_;
  warm(seconds, power);
  for (double& awake : awake_s_) awake -= seconds;
  govern(seconds, power.core_w + power.rest_w);
  const double goal_v = states_[static_cast<std::size_t>(state_)].voltage_v +
                        avfs_v_per_k_ * (die_c() - kReferenceC) -
                        load_line_ohm_ * power.core_w / voltage_v_;
  voltage_v_ = goal_v;
  return power;
}

void Chip::warm_spots(double seconds, double engine_w, double crossbar_w) {
  for (std::size_t e = 0; e < hot_k_.size(); ++e) {
    const bool works = load_.furnace || static_cast<int>(e) == load_.engine;
    hot_k_[e] = approach(hot_k_[e], works ? hot_k_per_w_ * engine_w : 0, seconds, hot_s_);
  }
  wire_spot_k_ =
      approach(wire_spot_k_, hot_k_per_w_ * wire_hot_share_ * crossbar_w, seconds, hot_s_);
}

void Chip::warm(double seconds, const Power& power) {
  die_k_ = approach(die_k_, die_k_per_w_ * power.core_w, seconds, die_s_);
  const double resistance = sink_k_per_w_ * (1.15 - 0.3 * fan_speed_);
  sink_k_ = approach(sink_k_, resistance * (power.core_w + power.rest_w / 2), seconds, sink_s_);
  const double speed = std::clamp((die_c() - fan_from_c_) / kFanSpanK, 0.0, 1.0);
  fan_speed_ = approach(fan_speed_, speed, seconds, kFanS);
}

void Chip::wander(double seconds) {
  const auto step = [&](double& state, double sigma, double tau_s) {
    const double kept = std::exp(-seconds / tau_s);
    state = kept * state + sigma * std::sqrt(1 - kept * kept) * normal_(random_);
  };
  step(drift_now_w_, drift_w_, drift_s_);
  step(air_now_k_, air_wander_k_, air_wander_s_);
  if (burst_left_s_ > 0) {
    burst_left_s_ -= seconds;
    if (burst_left_s_ <= 0) burst_now_w_ = 0;
    return;
  }
  std::uniform_real_distribution<double> uniform(0, 1);
  if (uniform(random_) < bursts_per_s_ * seconds) {
    burst_left_s_ = 0.05 * std::pow(40.0, uniform(random_));  // 50 ms to 2 s
    burst_now_w_ = burst_w_ * (0.5 + uniform(random_));
  }
}

// The power limit: down by half a percent while above it, and up again below it.
void Chip::govern(double seconds, double power_w) {
  since_governed_s_ += seconds;
  if (since_governed_s_ < kGovernorS) return;
  since_governed_s_ = 0;
  cap_factor_ =
      power_w > cap_w_ ? std::max(0.5, cap_factor_ - 0.005) : std::min(1.0, cap_factor_ + 0.005);
}

}  // namespace ww::challenge
