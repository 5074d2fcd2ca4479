// From raw samples to plateaus: cut-off of the sensor's delay and rise, outliers, averages, and the
// states of a bank of thermal filters. One pass over the samples.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "facts.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

// Time constants [s] of the thermal filter bank. The temperature anywhere on a chip is the ambient
// plus a sum of first-order responses to power; a bank spaced by sqrt(10) represents any of them,
// and being linear it needs one pass over the samples whatever the chip is.
inline constexpr std::array<double, 7> heat_taus_s{0.1, 0.316, 1.0, 3.16, 10.0, 31.6, 100.0};
inline constexpr std::size_t heat_count = heat_taus_s.size();
using HeatState = std::array<double, heat_count>;  // power seen through each filter [W]

// Averages over a window of samples.
struct Window {
  std::int64_t session{};
  int dvfs_state{};
  double time_s{};         // mean time, since the session's first sample
  double power_w{};        // outliers taken out
  double power_error_w{};  // standard error, averaging window allowed for
  double temperature_c{};  // of the raw readings
  double voltage_v{};
  double clock_hz{};
  HeatState heat{};
  std::size_t samples{};
};

struct Plateau {
  PlateauRow row;  // row.temperature_c is the raw reading until the fit reconstructs it
  Window window;
  int dvfs_state{};
};

struct Reduced {
  std::vector<Plateau> plateaus;    // every run, used or not, in the order of the campaign
  std::vector<Window> idle;         // short windows of idle and cool-down
  std::vector<Window> temperature;  // short windows over everything, for the temperature sensor
  std::vector<double> session_length_s;
  std::vector<std::int64_t> sessions;
  std::int64_t rejected{};
};

// Errors: bad_data by name: no runs, no power readings, frozen sensor, power never positive.
[[nodiscard]] Result<Reduced> reduce(const std::vector<StoredRun>& runs, const Facts& facts);

}  // namespace ww::model
