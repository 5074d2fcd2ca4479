// Checks whether a sensor can be believed. Frozen, zero, negative and backward readings are common
// on real systems. Each gives an error with a reason, never a silent value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww::measure {

struct HealthExpectation {
  bool load_changes{};  // the power must have moved: identical readings mean a frozen sensor
};

// Error bad_data names the sensor and the fault: no answer at all, too few answers (fewer than four
// ticks of five), all zero, negative, absurd (more than 10 kW, beyond -100..200 C, more than 10 V),
// frozen while the load changed, or time or energy running backwards.
[[nodiscard]] Status check_health(std::span<const SensorReading> readings, std::string_view sensor,
                                  const HealthExpectation& expectation);

// Converts watts to micro-watts. Error bad_data for NaN, infinity and values that do not fit.
[[nodiscard]] Result<std::int64_t> microwatts(double watts, std::string_view sensor);

}  // namespace ww::measure
