// A recorded campaign of crossings between the sides of an L2, and its fit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::calibration {

// Values of StoredRun::pattern in a run of this campaign.
namespace crossing_patterns {
inline constexpr const char* random = "random";
inline constexpr const char* zeros = "zeros";
inline constexpr const char* waits = "waits";      // no traffic: the loop and its waits alone
inline constexpr const char* kHalf1 = "random/1";  // half of near's lines: the null pair
inline constexpr const char* kHalf2 = "random/2";
}  // namespace crossing_patterns

// Meanings of near and far in the plan's setup ("contrast").
namespace crossing_contrasts {
inline constexpr const char* sides = "sides";      // of a partitioned L2
inline constexpr const char* latency = "latency";  // the ends of the latency's product term
}  // namespace crossing_contrasts

// A condition whose outcome is known in advance.
struct CrossingCheck {
  std::string name;
  bool passed{};
  std::string detail;
};

// Slope on a part without two sides: the answer over the latency that far has more than near.
struct LatencySlope {
  double ticks{};                  // of a round trip, far less near; in cycles of the SM
  double ticks_error{};            // 95% half-width
  std::optional<double> clock_hz;  // of the SMs while the runs went on; absent: the sensor has none
  std::optional<double> ns;        // ticks at that clock
  double additive_r2{}, with_product_r2{};  // of the latencies
  Figure per_ns;                            // J a payload bit and ns
  Figure per_tick;                          // J a payload bit and cycle
};

struct CrossingFit {
  // J a payload bit and crossing with its 95% interval. Without a value where the rates allow none
  // or a control failed: the row's reason says which.
  Figure random_bit;  // independent random bits (convention per_random_bit)
  Figure zero_bit;    // zeros: what control and clocking cost
  Figure difference;  // what the data itself costs
  // Absent: near and far are sides of a partitioned L2. Else they are the ends of the latencies,
  // the rows above are of the way between these, and nothing crosses.
  std::optional<LatencySlope> slope;
  std::vector<CrossingCheck> controls;
  // Half-width of random_bit's 95% interval that each source alone would leave [J/bit/crossing]:
  // scatter over blocks, temperature, how power goes with the clock, a bend of power with the rate,
  // unequal times asleep, gain of the sensor, losses of the regulator.
  double noise{}, heat{}, clock{}, rate{}, asleep{}, gain{}, regulator{};
  double greatest_mismatch{};  // of near's and far's rates at one wait, as a fraction
  // Rates at the shortest wait.
  double near_bits_per_s{};
  double far_bits_per_s{};
  double near_w{};  // power over idle
  double far_w{};
  int blocks{};
  int waits{};
  int runs{};  // with or without traffic, idle ones not counted
  int rejected{};
};
[[nodiscard]] nlohmann::json to_json(const CrossingFit& fit);

// Fits the recorded runs. Errors: bad_data (no complete block), those of the store.
[[nodiscard]] Result<CrossingFit> fit_crossing(const CampaignStore& store);

}  // namespace ww::calibration
