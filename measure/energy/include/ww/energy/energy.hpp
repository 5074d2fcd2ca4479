// The ruler: how many joules a device drew between two moments, from its sensor's readings. Every
// command that prints joules or watts of a device calls this header.
//
// A sensor offers up to two columns. An *energy accumulator* counts ticks of 2^-16 J. It misses no
// energy between two readings, so it is preferred. A *power register* shows watts, which must be
// integrated over time; it may lag behind the load, and what happens between its readings is
// unknown.
//
// An accumulator is exact only at the moments for which its value is known:
// - Some sensors *stamp* a reading with the time of the refresh. If every such reading moved, each
//   one is exact.
// - Other readings are *polled*: they bear the time of the poll. An accumulator that is refreshed
//   about as often as it is polled repeats its value now and then and later moves twice as far. The
//   first reading that shows a new value (a *move*) is late by less than one poll. Two moves at
//   least five polls apart therefore bound the power to 20%, and the error falls with distance.
//
// A faulty answer among others, below those before it or above by more than any device draws, is
// left out with a remark, for up to half a second and a twentieth of the readings.
//
// An accumulator is not used if it ran backward otherwise, moved fewer than three times, was absent
// from more than half of the readings, or rested for more than half a second and ten times its
// usual step while it was polled. A gap in which nobody polled is no rest: the accumulator counts
// through it. A 32-bit accumulator (gpu_metrics v1.0) wraps after 65,536 J; that is no step
// backward.
//
// Times are nanoseconds of the device's clock. All functions require readings in order of time.
// Threading: the functions have no state.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/energy_tick.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww::energy {

// No device draws more [W]: a reading above it, or below 0, is a fault of the sensor.
inline constexpr double kMaxDeviceWatts = 10'000;

inline constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

// One reading, of 24 bytes because a campaign has millions.
struct EnergyReading {
  std::int64_t time_ns{};
  std::int64_t ticks{kAbsent};     // energy accumulator
  std::int64_t power_uw{kAbsent};  // power register [1e-6 W]
};

struct EnergySeries {
  std::vector<EnergyReading> readings;
  bool stamped{};  // times are those of the sensor's refreshes rather than of polls
};
// The samples that show energy or power. The series is stamped if the time of any of them differs
// from that of its poll.
[[nodiscard]] EnergySeries energy_series(std::span<const SensorReading> samples);

// Ticks counted from one reading of the accumulator to a later one, across a wrap of 32 bits.
// Absent if the accumulator ran backward.
[[nodiscard]] std::optional<std::int64_t> ticks_between(std::int64_t before, std::int64_t after);

// --- power over time --------------------------------------------------------------------------

struct EnergySteps {
  // `ok`; `unavailable` without an accumulator to go by; `rejected` if it ran backward or rested.
  RowStatus status{RowStatus::unavailable};
  std::string reason;
  // Indices of the readings between which power is known, ascending; at least three.
  std::vector<std::size_t> moves;
  // Mean power [W] of the step around each reading of the series. Readings before the first move
  // and after the last one repeat their neighbour's. Energy is conserved: each step begins where
  // the one before ended.
  std::vector<float> power_w;
  // Longest usual step [s]. Two of them after a change of the load, a reading shows the new load
  // alone. 0 if every reading is exact; a step is then one period of the sensor.
  double interval_s{};
};

// Power by the accumulator. Steps last at least `least_s`, and at least five polls unless every
// reading is exact. Register readings are ignored.
[[nodiscard]] EnergySteps energy_steps(const EnergySeries& series, double least_s = 0);

// --- energy between two moments ---------------------------------------------------------------

enum class EnergySource { accumulator, power_register };

struct EnergyOptions {
  // Readings this soon after the first moment [s] are left out: a lagging register (its delay plus
  // its rise) or a warming chip still shows what was before. The time counts at the mean power.
  double settle_s{};
  double gain_tolerance_95{};  // of the sensor, relative half-width
  std::optional<EnergySource>
      only{};  // absent: the accumulator if it can be used, else the register
  // The longest time [s] for which the register shows something of an earlier load: where a counter
  // departs from it by more than this explains, the figure has a remark. The default is that of the
  // slowest one known: the averaged power of an MI210 rises over 4 s.
  double register_lag_s{4.2};
  // The ends that no reading covers count at the power beside them, and not at the mean of all; and
  // the accumulator is read at the moves whose moments are known best. For runs whose load changes.
  bool hold_ends{};
  std::string_view counter_unit{"units of 2^-16 J"};  // what the device's counter counts in
};

struct Energy {
  // `ok`; `unavailable` with too few readings; `rejected` if the sensor stood still, ran backward,
  // showed no positive power, or in more than 1% of its readings one that no device draws. The
  // figures below are valid
  // only if `ok`.
  RowStatus status{RowStatus::unavailable};
  std::string reason;  // why there is no figure; if ok, what limits it
  EnergySource source{};
  double energy_j{};         // between the two moments
  double low_j{}, high_j{};  // 95% interval
  double power_w{};          // mean
  [[nodiscard]] bool ok() const { return status == RowStatus::ok; }
};

// Energy from `from_ns` to `to_ns`. The mean power comes from the readings inside alone: from the
// first move to the last one, or by the trapezoidal rule from the first register reading to the
// last one (at least three). Readings outside are not used because another load may run there.
//
// The interval covers the time at both ends (and `settle_s`) that no reading covers, the late
// stamps of polled moves, and gaps in a register's readings, each at the highest power seen; and
// the gain's tolerance in quadrature. It does not cover noise, which averages out over a window.
[[nodiscard]] Energy energy_between(const EnergySeries& series, std::int64_t from_ns,
                                    std::int64_t to_ns, const EnergyOptions& options = {});

// Mean power by the accumulator over that by the register, between two moments. Far from 1, the
// accumulator counts in another unit, or not all of the device. Register readings that no device
// draws are left out. Absent where either column has no figure.
[[nodiscard]] std::optional<double> counter_over_register(const EnergySeries& series,
                                                          std::int64_t from_ns, std::int64_t to_ns);

// --- energy beyond idle -----------------------------------------------------------------------

// A recording that begins idle, becomes busy and ends idle.
struct BusyWindow {
  std::int64_t idle_from_ns{};  // idle from here ...
  std::int64_t busy_from_ns{};  // ... to here,
  std::int64_t busy_to_ns{};    // and from here ...
  std::int64_t idle_to_ns{};    // ... to here
};

struct EnergyAboveIdle {
  RowStatus status{RowStatus::unavailable};
  std::string reason;
  double energy_j{};         // from busy_from_ns to busy_to_ns, minus idle power over that time
  double low_j{}, high_j{};  // 95% interval
  double idle_w{};           // mean of the idle power before and after
  [[nodiscard]] bool ok() const { return status == RowStatus::ok; }
};

// Energy by the accumulator that a load drew beyond idle power. Idle power is interpolated between
// its values before and after. The interval adds in quadrature: the scatter of idle readings, taken
// to be that of busy ones as well; the error of the mean idle power; and half of the change of idle
// power, because a warmer chip leaks more and nobody sees when. It needs an accumulator: a lagging
// register smears the load into the idle time.
[[nodiscard]] EnergyAboveIdle energy_above_idle(const EnergySeries& series,
                                                const BusyWindow& window);

}  // namespace ww::energy
