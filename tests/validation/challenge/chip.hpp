// A chip in time: power, heat, voltage and clock under a load that changes in steps.
#pragma once

#include <random>
#include <vector>

#include "wires.hpp"
#include "ww/core/dvfs_state.hpp"

namespace ww::challenge {

struct Load {
  bool furnace{};  // all engines at work, no stream
  int engine{-1};  // that streams; -1: none
  int quadrant{-1};
  double rate{};  // of the saturated rate
  Activity activity;
};

// Power at a moment, of the core and of the rest.
struct Power {
  double core_w{};  // behind the regulator
  double rest_w{};  // memory, board, fan
};

// How the sensing point sees the core's power: P = fixed + linear P + bend P^2.
struct Regulator {
  bool board{};
  double fixed_w{}, linear{1}, bend_per_w{};
  [[nodiscard]] double input_w(double core_w) const {
    return fixed_w + linear * core_w + bend_per_w * core_w * core_w;
  }
  [[nodiscard]] double marginal(double core_w) const { return linear + 2 * bend_per_w * core_w; }
  // Power at the sensing point for each watt of the core: 1 behind the regulator.
  [[nodiscard]] double mean_ratio(double core_w) const {
    return board ? input_w(core_w) / core_w : 1;
  }
  // Power saved at the sensing point for each watt less of the core.
  [[nodiscard]] double saved_ratio(double core_w) const { return board ? marginal(core_w) : 1; }
};

class Chip {
 public:
  Chip(const Die& die, const Wires& wires, Draws& draws);

  [[nodiscard]] const std::vector<DvfsState>& states() const { return states_; }
  [[nodiscard]] double bytes_per_channel() const { return bytes_per_channel_; }
  [[nodiscard]] const Regulator& regulator() const { return regulator_; }
  [[nodiscard]] double throttled_rate() const { return throttled_rate_; }

  void select(int state) { state_ = state; }
  void begin(const Load& load);
  // Lets the load run; at most some milliseconds at a time while heat and power change. Returns the
  // mean power.
  Power advance(double seconds);

  // Rate of the streaming pair, at the clock of the moment; 0 without a stream.
  [[nodiscard]] double bits_per_second() const;
  [[nodiscard]] double voltage_v() const { return voltage_v_; }
  [[nodiscard]] double clock_hz() const;
  [[nodiscard]] double die_c() const { return air_c_ + air_now_k_ + die_k_ + sink_k_; }
  [[nodiscard]] double wire_c() const { return die_c() + wire_spot_k_; }

 private:
  // Shares of the saturated rate. An engine that waits for its data is awake; one whose launch
  // begins late or ends early draws nothing meanwhile.
  struct Rate {
    double waiting{}, late{};
    [[nodiscard]] double total() const { return waiting * late; }
  };
  [[nodiscard]] Rate rate_of_pair() const;
  [[nodiscard]] double leakage_w(double scale) const;
  void warm_spots(double seconds, double engine_w, double crossbar_w);
  void warm(double seconds, const Power& power);
  void wander(double seconds);
  void govern(double seconds, double power_w);

  const Wires& wires_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<DvfsState> states_;
  Regulator regulator_;
  double bytes_per_channel_{};
  // Rates and power of pairs.
  std::vector<std::vector<double>> waiting_, late_;
  std::vector<double> engine_offset_, quadrant_offset_;
  double peak_share_{}, throttled_rate_{};
  double leakage_w_{}, fold_k_{}, leakage_power_{}, clock_tree_w_{}, activity_w_{}, furnace_w_{};
  double idle_share_{}, value_dependence_{}, gated_w_{}, gate_delay_s_{};
  double rest_w_{}, refresh_w_{}, burst_w_{}, bursts_per_s_{}, drift_w_{}, drift_s_{};
  double hot_k_per_w_{}, hot_s_{}, hot_share_{}, wire_hot_share_{};
  double die_k_per_w_{}, die_s_{}, sink_k_per_w_{}, sink_s_{};
  double air_c_{}, air_wander_k_{}, air_wander_s_{}, fan_w_{}, fan_from_c_{};
  double load_line_ohm_{}, avfs_v_per_k_{}, cap_w_{}, boost_bin_{};
  bool boosts_{};
  // State.
  Load load_;
  int state_{};
  double run_rate_{1};           // small scatter of a run's rate
  std::vector<double> hot_k_;    // of engines
  std::vector<double> awake_s_;  // until an engine is gated
  double wire_spot_k_{}, die_k_{}, sink_k_{}, air_now_k_{}, drift_now_w_{}, fan_speed_{};
  double burst_left_s_{}, burst_now_w_{}, voltage_v_{1}, cap_factor_{1}, since_governed_s_{};
};

}  // namespace ww::challenge
