// A test of any machine's GPU in two minutes, kept as one small file. Collecting and judging are
// apart: a file that somebody sends is judged by the same code as the run that made it. Whatever
// goes wrong, there is a file with what was found until then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "ww/microbench/raw_probes.hpp"
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

// How a part of the test went.
struct PartState {
  std::string name;    // "latencies"
  std::string state;   // "done", "failed", "stopped", "left out", "to do"
  std::string reason;  // why not done
  double elapsed_s{};
};

// A file of the kernel's about a card: its text, or its bytes as hexadecimal digits.
struct CardFile {
  std::string name;  // "0000:03:00.0/gpu_metrics"
  std::string text;
};

// Cost of the smallest launch. Times in seconds.
struct LaunchCosts {
  std::string absent;               // why there are none
  std::vector<double> waited_s;     // from the call until the program sees the end
  std::vector<double> by_events_s;  // by the device's own events; empty from hosts without
};

// How the sensor answered the polls of the step test.
struct PollTimes {
  double read_p50_us{}, read_p99_us{};
  std::uint64_t polls{};
};

// Everything that a run found, raw. It holds no names of people or machines, no paths of homes and
// no serial numbers.
struct Archive {
  std::string version;    // of wirewatt
  std::string system;     // kernel and its release
  std::string device;     // as wirewatt names it
  std::string chosen;     // why this device
  std::string no_device;  // why there is none
  std::string api, name, driver, target, pci;
  bool is_virtual{};
  double elapsed_s{};
  std::vector<PartState> parts;
  std::vector<measure::Finding> libraries;
  std::vector<microbench::DeviceListing> devices;  // all but the virtual ones
  std::vector<CardFile> files;                     // of all AMD cards
  std::string sensor;                              // its name; empty where there is none
  std::vector<measure::FieldState> fields;
  std::string no_topology;
  std::optional<microbench::Topology> topology;
  std::string no_waves;
  std::vector<microbench::WavePlace> waves;
  Recording idle;  // ten seconds with nothing to do
  Recording step_test;
  std::optional<PollTimes> polls;
  Recording stream;  // copies of a known number of bytes
  LaunchCosts launches;
  std::vector<measure::Finding> counters;  // the vendor's profiler on known bytes
  microbench::TopologyReadings probes;     // behind the topology, or until it failed
  std::string no_sleeps;                   // why there are none
  std::optional<microbench::SleepCurve> sleeps;
  std::string no_visibility;  // why not; empty of parts that nobody asks
  std::optional<microbench::Visibility> visibility;
};

// Says what is done next.
using Narrator = std::function<void(const std::string& step, int done, int total)>;
// Keeps what was found so far; called before the first part and after each.
using Keeper = std::function<Status(const Archive&)>;

// Runs the parts of the test one after the other, each in a process of its own with a deadline: a
// driver may crash or hang. A part that fails leaves its reason in the archive, and the next one
// begins. Ctrl-C leaves the rest out. `limit` replaces the parts' own deadlines. Errors: those of
// `keep`.
[[nodiscard]] Result<Archive> collect(const microbench::DeviceRequest& request,
                                      const Narrator& narrate, const Keeper& keep,
                                      std::optional<std::chrono::seconds> limit = {});

// The archive as a file: JSON, compressed with zstd.
[[nodiscard]] std::string archive_bytes(const Archive& archive);
// All that is in it.
[[nodiscard]] nlohmann::json to_json(const Archive& archive);
// Errors: parse_error, unsupported (a newer version's).
[[nodiscard]] Result<Archive> archive_from_json(const nlohmann::json& json,
                                                const std::string& source);
// Errors: parse_error (not such a file, damaged, cut off), unsupported (a newer version's).
[[nodiscard]] Result<Archive> parse_archive(std::string_view bytes, const std::string& source);
// Whether they are an archive, of whatever version: readings of a card that may be gone.
[[nodiscard]] bool is_archive(std::string_view bytes);

// Judges the archive: one finding for each part of the test.
[[nodiscard]] std::vector<measure::Finding> judge(const Archive& archive);
// Findings for the card's owner, in sentences; without those that were not found.
[[nodiscard]] std::vector<std::string> about_the_card(const Archive& archive);
// A page in Markdown of the cards whose files were received, without virtual ones: verdicts and
// what was found of each.
[[nodiscard]] std::string cards_page(std::vector<Archive> archives);
// The findings with the facts of the device.
[[nodiscard]] nlohmann::json report(const Archive& archive);

}  // namespace ww::selftest
