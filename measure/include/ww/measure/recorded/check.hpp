// The doctor's look at recorded power: how each register and each counter of a recording behaves,
// and how many joules it shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/energy/energy.hpp"
#include "ww/measure/finding.hpp"
#include "ww/measure/recorded/units.hpp"
#include "ww/measure/recorded_energy.hpp"
#include "ww/measure/sensor_recording.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::measure {

// A register of power.
struct RegisterCheck {
  std::string name;
  std::size_t polls{};
  UnitFound unit;
  UpdatePeriod period;
  Spikes spikes;
  SensorResponse response;
  energy::Energy energy;   // without the spikes, corrected for the response
  std::string counter;     // the device's own counter beside it; empty where there is none
  UnitFound counter_unit;  // of that counter
  // The readings' standard of comparison: the meter, the counter, "load switches" or "nothing".
  std::string truth;
  std::vector<SteadyError> errors;

  // Limited: the refreshes or the response are not known, the readings miss more than 5% of the
  // time, or the response is slower than 0.5 s.
  [[nodiscard]] Verdict verdict() const;
};

// A counter of energy.
struct CounterCheck {
  std::string name;
  std::size_t polls{};
  UnitFound unit;
  UpdatePeriod period;
  energy::Energy energy;
  std::optional<CounterGain> gain;  // beside an external meter

  [[nodiscard]] Verdict verdict() const { return energy.ok() ? Verdict::good : Verdict::bad; }
};

struct RecordingCheck {
  std::vector<RegisterCheck> registers;
  std::vector<CounterCheck> counters;
};

// Checks every column that has a reading. A register is compared with the meter where the recording
// has one that is read as often as the register's counter, else with that counter, else with the
// switches of the load. A unit that a column's name gets wrong is corrected first. Error bad_data:
// no column has a reading.
[[nodiscard]] Result<RecordingCheck> check_recording(const SensorRecording& recording,
                                                     const std::string& source);

// Parses a file of polls, a log of PMT or a power table, whichever `text` is. Times become seconds
// since the first reading. Errors: those of these parsers.
[[nodiscard]] Result<SensorRecording> parse_recorded_power(std::string_view text,
                                                           const std::string& source);

// Adds an external meter's recording, whose clock is the same one. `column` names the column of the
// meter. If it is empty, the meter must have only one column of joules or, without joules, only one
// of watts. Error bad_data: no such column, several, or one without power.
[[nodiscard]] Status add_meter(SensorRecording& recording, const SensorRecording& meter,
                               const std::string& column, const std::string& source);

}  // namespace ww::measure
