// Readings of a run as a campaign stores them: column by column, compressed. docs/files.md
// describes the form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww {

struct PackedReadings {
  std::int64_t count{};
  // For each field of a reading a digit: how often neighbours were subtracted, 0 to 2.
  std::string differences;
  std::string compressed;  // zstd
};

[[nodiscard]] PackedReadings pack_readings(std::span<const SensorReading> readings);

// Error parse_error: they are damaged.
[[nodiscard]] Result<std::vector<SensorReading>> unpack_readings(const PackedReadings& packed);

}  // namespace ww
