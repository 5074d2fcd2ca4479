// The samples of one session in time order, cleaned, with the states of the thermal filters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reduction/facts.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::model {

// Time constants [s] of the thermal filter bank. The temperature anywhere on a chip is the ambient
// plus a sum of first-order responses to power; a bank spaced by sqrt(10) represents any of them,
// and being linear it needs one pass over the samples whatever the chip is. The fastest stands for
// the hot spot under a load, which the temperature sensor never sees: under a steady load it cannot
// be separated from power itself, when a load ends its leakage stays for some tens of ms.
inline constexpr std::array<double, 8> heat_taus_s{0.03, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6, 100.0};
inline constexpr std::size_t kHeatCount = heat_taus_s.size();
inline constexpr std::size_t kFastHeatCount = 1;   // of the hot spot, which no sensor shows
using HeatState = std::array<double, kHeatCount>;  // power seen through each filter [W]

// A reading this many scales away from the median of its neighbourhood is a glitch.
inline constexpr double kGlitchScales = 8;
// The step test's rise ends at 97% or more; twice that is 99.9% of a first-order lag.
inline constexpr double kRisesToSettle = 2;
inline constexpr double kRisesToIdle = 3;  // 99.997%
// Accumulator and register of one sensor agree in the mean to this; else one of them is broken.
inline constexpr double agreement = 0.05;

// Slower repeats of a register than this are none that an accumulator's would replace.
inline constexpr double kSlowestSettleS = 0.5;
inline constexpr double kRegulatorS = 0.005;  // for the voltage to follow the load

// Float on purpose: half a million samples of these pass through the cache.
struct Sample {
  std::int64_t time_ns{};
  float power_w{};
  float temperature_c{};  // NaN where the sensor gave none, as are the next two
  float voltage_v{};
  float clock_mhz{};
  bool glitch{};
  bool not_positive{};
  std::array<float, kHeatCount> heat{};  // mean since the sample before
};

struct Trace {
  std::int64_t session{};
  std::vector<Sample> samples;
  // How long after a change of load a sample may still show the load before [s].
  double settle_s{};
  // How long after a load idle power is above 0.1% of its step, the size of the thermal tail [s].
  double idle_settle_s{};
  // How long before a change of load a sample may already show the load behind it [s]: a polled
  // accumulator gives the mean power between its steps, and a sample is of the step around it.
  double tail_s{};
  [[nodiscard]] double seconds(std::int64_t time_ns) const;        // since the first sample
  [[nodiscard]] std::size_t first_at(std::int64_t time_ns) const;  // first sample not before
};

// Builds the trace of one session's runs. Power comes from the energy accumulator where the sensor
// has one that agrees with its power register: it neither lags nor averages, and it misses nothing
// between readings. Else from the register, delay and rise to be waited for.
[[nodiscard]] Trace build_trace(std::span<const StoredRun> runs, const SensorFact& sensor);

}  // namespace ww::model
