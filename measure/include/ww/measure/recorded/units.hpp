// Units that a recording's names get wrong, and counters beside an external meter.
#pragma once

#include <optional>
#include <string>

#include "ww/energy/energy.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace ww::measure {

// A unit other than that of a column's name.
struct UnitFound {
  double factor{1};  // by which the column must be multiplied; 1 where the name is right
  std::string text;  // what was found, and why; empty where the name is right
};

// The unit of a column of power. Its name ends in _w, _mw or _uw, and other names mean watts.
// Readings that are a thousand or a million times the truth, or a thousandth or a millionth of it,
// are in another unit; so are watts that no device draws. Beside a truth that no device draws, they
// keep their unit. `truth` may be empty, and `truth_name` says what it is.
[[nodiscard]] UnitFound unit_of_power(const PollColumn& column, const PowerSeries& truth,
                                      const std::string& truth_name);

// The unit of a column of energy (_j, _mj or _uj) beside the joules of a register's readings over
// the same time: joules, their thousandths and so on, counts of 2^-16 J, and such counts that a
// program took for 15.3 uJ, as AMD's headers round them. Readings and counter may differ by 3%; the
// rounded counts are told from exact ones only where the readings' interval is narrow enough.
[[nodiscard]] UnitFound unit_of_energy(const EnergyColumn& column, const energy::Energy& readings);

// A device's counter beside an external meter, over the time that both cover.
struct CounterGain {
  double counter_j{}, meter_j{};
  double ratio{};     // meter over counter
  double ratio_sd{};  // of that; by leaving out one sixteenth of the time after the other
  // The meter's power by that of the counter: meter = slope * counter + offset. Absent where the
  // load hardly changes. A ratio holds the offset (losses that no load changes), a slope does not.
  std::optional<double> slope, offset_w;
  double slope_sd{};
};
// Absent where they share less than 16 s or 16 readings of either.
[[nodiscard]] std::optional<CounterGain> compare_with_meter(const EnergyColumn& counter,
                                                            const PowerSeries& meter);

}  // namespace ww::measure
