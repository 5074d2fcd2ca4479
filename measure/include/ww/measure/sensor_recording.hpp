// Recorded power of a GPU under a known load: polls of its own sensor (nvidia-smi --format=csv),
// the times at which the load was switched, and an external meter on its cables (ElmorLabs
// PMD-USB, as the GPU_Power_Benchmark recordings have it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::measure {

struct PowerPoint {
  double time_s{};
  double power_w{};
};

// One power column of a poll file, oldest first; polls without a value are left out.
struct PollColumn {
  std::string name;  // "power.draw.instant"
  std::vector<PowerPoint> polls;
};

// Times of nvidia-smi are local and have no zone. They become seconds since 1970 as if they were
// UTC. Errors: parse_error with source and line, bad_data (several devices, time runs backwards),
// unsupported (no power column). A last line that was cut off is left out.
[[nodiscard]] Result<std::vector<PollColumn>> parse_polls(std::string_view text,
                                                          const std::string& source);

// Switch times of the load, seconds since 1970; the first one switches it on. Each line of the
// file appears twice. Errors: parse_error.
[[nodiscard]] Result<std::vector<double>> parse_load_switches(std::string_view text,
                                                              const std::string& source);

// Power in equal steps of time; values are means over each step.
struct PowerSeries {
  double start_s{};  // when the first step begins
  double step_s{};
  std::vector<double> power_w;
  [[nodiscard]] bool empty() const { return power_w.empty(); }
  [[nodiscard]] double end_s() const {
    return start_s + step_s * static_cast<double>(power_w.size());
  }
};

// Decodes the meter's 18-byte records to means over 1 ms. A record has the clock (2934.5 counts a
// ms, 16 bits that wrap), then voltage and current of four connectors; the third one is the slot.
// Time 0 is the first record. Errors: parse_error (empty, or a record cut off).
[[nodiscard]] Result<PowerSeries> decode_pmd(std::span<const std::byte> data,
                                             const std::string& source);

// One recording. Times are seconds since the load was first switched on.
struct SensorRecording {
  std::vector<PollColumn> columns;
  std::vector<double> switches;  // on, off, on, ...
  PowerSeries meter;             // empty where there was none
};

// Parses a table with the columns time_s (or time_ms, time_us, time_ns), power_w (any names that
// end in _w), and where they exist meter_w (an external meter) and load (0 or 1); empty fields are
// no readings. Times become seconds since the first row. Errors: parse_error and bad_data with
// source and line, unsupported (other columns).
[[nodiscard]] Result<SensorRecording> parse_power_table(std::string_view text,
                                                        const std::string& source);

// Reads a folder with gpudata.csv and, where they exist, timestamps.csv, PMD_data.bin and
// PMD_start_ts.txt. The polls' time zone is found from the switch times, in half hours. Errors:
// io_error, those of the readers, bad_data (polls and switches are not of one time).
[[nodiscard]] Result<SensorRecording> read_sensor_recording(const std::string& folder);

}  // namespace ww::measure
