// A made-up chip and its campaign, for tests only: writes campaign files whose answer is known.
// Written from physics (heat nodes, leakage per region, load line, sensor), not from the fit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::model::testing {

// How pairs of engine and quadrant depart from energy proportional to the published distance.
enum class Departure {
  none,
  unequal_links,   // every pair's wires differ by `departure` (standard deviation, relative)
  distance_steps,  // energy grows in steps of 1/departure of the span, not in proportion
  pair_power,      // pairs have a power of their own, `departure` of the wire power's spread
};

struct SyntheticVariant {
  std::string pattern{"random"};
  int throttle{};
  double rate{0.95};  // of the channels' peak
  double toggle_rate{0.5};
  int blocks{1};  // of 16 pairs, then the same mirrored
  int dvfs_state{0};
  double odd_pair_w{};  // that one pair draws more, for no reason of distance
};

struct SyntheticSpec {
  std::uint64_t seed{1};
  // The chip.
  double zero_fj_per_bit_mm{20};           // at toggle rate 0
  double slope_fj_per_transition_mm{360};  // so random (0.5) costs 200
  double activity_w{70};                   // engine and L2 at full rate
  double leakage_w{20};                    // at 60 C and reference voltage
  double leakage_fold_c{35};               // e-fold
  double leakage_voltage_power{3};
  double load_line_ohm{0.0003};
  double dynamic_per_k{};  // growth of dynamic power beyond 60 C, relative
  double hot_spot_k_per_w{0.08};
  double hot_spot_tau_s{0.25};
  double die_k_per_w{0.10};
  double sink_k_per_w{0.15};
  double ambient_c{35};
  double ambient_drift_c{1.5};  // slow sine over the campaign
  // Relative loss of rate with distance: engines wait for it as when throttled. Negative: far pairs
  // are faster, for which nothing waits.
  double latency_loss_per_mm{0.001};
  double rate_scatter{};  // relative, of each pair's own rate at full speed (sd)
  // Idle time behind every launch, over the length of a launch whose pair has its variant's rate.
  // All launches of a variant move as many bits: far ones last longer where rates fall.
  double launch_gap{};
  double gap_share{};  // of its activity that a chip goes on with between launches
  // At full speed this much of the activity follows the differences of rate that are no latency;
  // negative: as throttling does.
  double late_share{-1};
  double burst_w{};  // a background program that runs during one plateau in eight, about
  double late_w{};   // drawn for late_s after every load: engines that are gated late
  double late_s{};
  Departure departure{Departure::none};
  double departure_size{};
  double distance_error{};    // standard deviation of each true distance, relative
  bool same_distance{false};  // published floorplan without a contrast
  // The sensor.
  double period_s{0.005};
  double delay_s{0.006};
  double rise_s{0.02};
  double gain{1.0};
  double noise_w{0.5};
  double power_step_w{0.1};
  double temperature_step_c{1.0};
  double outlier_share{0.001};
  bool accumulator{false};  // the sensor also counts energy
  double voltage_noise_v{0.001};
  double voltage_step_v{0.002};
  bool requested_voltage{false};  // the driver shows what the regulator was asked for
  // The plan.
  double gap_s{0.04};  // idle before every run
  double plateau_s{2.0};
  double heat_s{40};
  double cooldown_s{60};
  bool idle_runs{true};
  std::vector<double> turns_s;  // a lock-in run of random payload for each length of turn
  double lock_in_s{30};
  std::vector<SyntheticVariant> variants{{"random", 0, 0.95, 0.5, 2, 0},
                                         {"random", 40, 0.52, 0.5, 1, 0},
                                         {"half_random", 0, 0.95, 0.25, 1, 0},
                                         {"zeros", 0, 0.95, 0.0, 1, 0}};
};

struct SyntheticCampaign {
  std::vector<StoredRun> runs;
  std::map<std::string, std::string> facts;
  double energy_fj_per_bit_mm{};  // random payload, of the wires as a whole
  double sensed_fj_per_bit_mm{};  // of the wires as drawn, regressed on published distance
};

[[nodiscard]] SyntheticCampaign make_campaign(const SyntheticSpec& spec);

// Writes it as a campaign file.
Status write_campaign(const SyntheticCampaign& campaign, const std::filesystem::path& file);

}  // namespace ww::model::testing
