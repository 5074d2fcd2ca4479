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
  double
      known_to_s{};  // time between the readings it was made of, where that is longer than a step
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

struct EnergyPoint {
  double time_s{};
  double energy_j{};
};

// One column of joules since some start, oldest first.
struct EnergyColumn {
  std::string name;  // "socket_energy_uj"
  std::vector<EnergyPoint> polls;
};
// Power on straight lines from reading to reading, in steps of 1 ms.
[[nodiscard]] PowerSeries power_between(const PollColumn& column);
// Mean power from move to move, in steps of 1 ms; empty where joules never grew or ran backward.
[[nodiscard]] PowerSeries mean_power(const EnergyColumn& column);
// Mean power between moves of a counter, each at the time of the earlier move. Moves backward are
// left out.
[[nodiscard]] std::vector<PowerPoint> power_of_moves(const EnergyColumn& column);

// One recording. Times are seconds since the load was first switched on.
struct SensorRecording {
  std::vector<PollColumn> columns;
  std::vector<double> switches{};  // on, off, on, ...
  double switches_known_to_s{};    // 0: exactly
  PowerSeries meter{};             // empty where there was none
  std::string meter_name{"external meter"};
  std::vector<EnergyColumn> counters{};  // of the devices' own energy
  double zero_s{};                       // time 0 by the file's own clock
};
// The device's own counter beside a column of power: the one counter that grew, or of several the
// one whose name differs by "energy" for "power" ("accel0_power_w", "accel0_energy_j"). Null where
// there is none.
[[nodiscard]] const EnergyColumn* counter_beside(const SensorRecording& recording,
                                                 std::string_view power_column);

// Parses a table with the columns time_s (or time_ms, time_us, time_ns; t_s for short), power_w
// (any names that end in _w, _mw or _uw), energy_j (any that end in _j, _mj or _uj: joules since
// some start), and where they exist load (0 or 1) and an external meter: meter_w (its power at the
// row's time), meter_mean_w (its mean since the row before) or meter_j (its joules), with the same
// endings. Empty fields are no readings. Times become seconds since the first row. Errors:
// parse_error and bad_data with source and line, unsupported (other columns).
[[nodiscard]] Result<SensorRecording> parse_power_table(std::string_view text,
                                                        const std::string& source);

// Parses a log of the Power Measurement Toolkit (PMT): a head "timestamp NAME ...", seconds since
// 1970 and watts, and marks (lines that begin with M), which are left out because the load follows
// them late. Times become seconds since the first row. Errors: as above; unsupported for another
// head.
[[nodiscard]] Result<SensorRecording> parse_pmt_log(std::string_view text,
                                                    const std::string& source);

// Reads a folder with gpudata.csv and, where they exist, timestamps.csv, PMD_data.bin and
// PMD_start_ts.txt. The polls' time zone is found from the switch times, in half hours. Errors:
// io_error, those of the readers, bad_data (polls and switches are not of one time).
[[nodiscard]] Result<SensorRecording> read_sensor_recording(const std::string& folder);

}  // namespace ww::measure
