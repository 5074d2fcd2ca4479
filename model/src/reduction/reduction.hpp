// Reduces raw samples to plateaus: cut-off of the sensor's delay and rise, outliers, averages, and
// the states of a bank of thermal filters. One pass over the samples.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reduction/facts.hpp"
#include "reduction/trace.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

inline constexpr std::size_t kFewestSamples = 8;  // of a plateau
// Share of readings that may be zero or negative before the run is not to be trusted.
inline constexpr double kBadShare = 0.01;
inline constexpr double kClockTolerance = 0.01;
// Length and growth of the windows after a load, where a sensor is so fast.
inline constexpr double kFirstIdleWindowS = 0.02;
inline constexpr double kIdleWindowGrowth = 1.1;
// Turns of a lock-in run are averaged in at most this many groups.
inline constexpr std::size_t kMaxTurnGroups = 8;

// Averages over a window of samples.
struct Window {
  std::int64_t session{};
  int dvfs_state{};
  double time_s{};          // mean time, since the session's first sample
  double since_load_s{};    // of idle windows: from the end of the run before to the window's begin
  double power_w{};         // outliers taken out
  double power_error_w{};   // standard error, averaging window allowed for
  double power_spread_w{};  // standard deviation of single readings
  double temperature_c{};   // of the raw readings
  double voltage_v{};
  double voltage_readings{};  // that its average is of: some cards are asked ten times a second
  double clock_hz{};
  HeatState heat{};
  std::size_t samples{};
};

struct Plateau {
  PlateauRow row;  // row.temperature_c is the raw reading until the fit reconstructs it
  Window window;
  int dvfs_state{};
  int group{};           // of a lock-in run's turns
  double busy_share{1};  // of the time, in which launches ran
};

struct Reduced {
  std::vector<Plateau> plateaus;    // every run, used or not, in the order of the campaign
  std::vector<Window> idle;         // short windows of idle and cool-down
  std::vector<Window> temperature;  // short windows over everything, for the temperature sensor
  std::vector<double> session_length_s;
  std::vector<std::int64_t> sessions;
  std::int64_t rejected{};
  double temperature_window_s{0.25};  // length of the windows for the temperature sensor
  double temperature_step_c{1};       // of the temperature sensor, 1 where it is finer
  double voltage_step_v{};  // the smallest difference between two voltage readings; 0: none
};

// Errors: bad_data by name: no runs, no power readings, frozen sensor, power never positive.
[[nodiscard]] Result<Reduced> reduce(const std::vector<StoredRun>& runs, const Facts& facts);

}  // namespace ww::model
