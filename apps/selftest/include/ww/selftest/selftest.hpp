// A test of any machine's GPU in two minutes, kept as one small file. Collecting and judging are
// apart: a file that somebody sends is judged by the same code as the run that made it.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"
#include "ww/measure/finding.hpp"
#include "ww/measure/power_source.hpp"
#include "ww/measure/step_test.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::selftest {

// Readings of the sensor while something ran. Times are those of the device's clock.
struct Recording {
  std::string absent;  // why there is none; the rest is then empty
  std::vector<SensorReading> readings;
  std::vector<RailReading> rails;
  std::vector<measure::LoadStep> steps;  // when a load was on
  double bytes{};                        // that moved each way while it was on, where known
};

// Everything that a run found, raw. It holds no names of people or machines, no paths of homes and
// no serial numbers.
struct Archive {
  std::string version;  // of wirewatt
  std::string system;   // kernel and its release
  std::string device;   // as wirewatt names it
  std::string api, name, driver, target, pci;
  bool is_virtual{};
  double elapsed_s{};
  std::vector<measure::Finding> libraries;
  std::string sensor;  // its name; empty where there is none
  std::vector<measure::FieldState> fields;
  std::string no_topology;
  std::optional<microbench::Topology> topology;
  std::string no_waves;
  std::vector<microbench::WavePlace> waves;
  Recording step_test;
  Recording stream;
};

// Says what is done next.
using Narrator = std::function<void(const std::string& step, int done, int total)>;

// Opens the device and runs the parts of the test one after the other. A part that fails leaves its
// reason in the archive. Errors: the device cannot be opened; cancelled.
[[nodiscard]] Result<Archive> collect(const microbench::DeviceRequest& request,
                                      const Narrator& narrate);

// The archive as a file: JSON, compressed with zstd.
[[nodiscard]] std::string archive_bytes(const Archive& archive);
// Errors: parse_error (not such a file, damaged, cut off), unsupported (a newer version's).
[[nodiscard]] Result<Archive> parse_archive(std::string_view bytes, const std::string& source);

// Judges the archive: one finding for each part of the test.
[[nodiscard]] std::vector<measure::Finding> judge(const Archive& archive);
// The findings with the facts of the device.
[[nodiscard]] nlohmann::json report(const Archive& archive);

}  // namespace ww::selftest
