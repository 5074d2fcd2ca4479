// Checks each field of a series of readings, as health.hpp checks a sensor as a whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/sensor_reading.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

enum class ReadingStatus {
  healthy,
  missing,    // the device does not offer it
  denied,     // this user may not read it
  no_answer,  // offered, but no reading came (or fewer than four polls of five)
  zero,       // all readings are zero
  negative,
  absurd,    // more than 10 kW, beyond -100..200 C, more than 10 V
  frozen,    // did not move while the load changed
  backward,  // a counter fell
};
[[nodiscard]] std::string_view to_string(ReadingStatus status);

struct StatusRow {
  std::string field;  // "power", "energy", "temperature", "voltage", "clock"
  ReadingStatus status{ReadingStatus::healthy};
  std::string reason;
};

// One row for power, energy, temperature, voltage and clock each. `load_changes`: power must have
// moved. Slow fields (all but power and energy) may be absent from most readings.
[[nodiscard]] std::vector<StatusRow> reading_statuses(std::span<const SensorReading> readings,
                                                      bool load_changes);

// Replaces "no answer" by the reason why a field was not offered (FieldState).
void explain_missing(std::vector<StatusRow>& rows, std::span<const FieldState> fields);

}  // namespace ww::measure
