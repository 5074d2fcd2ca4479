// A program's kernels, the power of its on-chip wires and the readings of the sensor over time, as
// a trace that Perfetto reads (ui.perfetto.dev, trace_processor), or as rocpd: the SQLite database
// of ROCm's profiler, schema 3.
//
// Power of a segment is a step function: between two times it is the sum of energy over duration of
// the launches that run. Its integral over the trace is therefore the energy of the estimate that
// the launches were added with, and likewise for both ends of the 95% interval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/model/estimate.hpp"

namespace ww::timeline {

// Energy of the wires by model::WireSegment [J]; absent where a segment has no figure.
using SegmentJoules = std::array<std::optional<model::Interval>, 3>;

// A reading of the sensor. What the sensor did not give is absent.
struct SensorPoint {
  std::int64_t time_ns{};
  std::optional<double> power_w;  // of the device
  std::optional<double> temperature_c;
  std::optional<double> clock_mhz;
};

struct CounterValue {
  std::size_t counter{};  // index of its name
  double value{};
};

// Kernels that ran (or time without any known kernel) from `start_ns` to `end_ns`.
struct Stretch {
  static constexpr std::size_t kNoKernel = std::numeric_limits<std::size_t>::max();
  std::size_t kernel{kNoKernel};  // index of its name
  std::uint64_t dispatch{};
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  SegmentJoules energy_j;
  std::int32_t agent{};               // number of the GPU as the profiler counts
  std::optional<double> grid_size{};  // work-items
  std::vector<CounterValue> counters{};
};

// One clock: a process on the virtual GPU, whose chip begins at 0, or a card.
struct ClockDomain {
  std::vector<Stretch> stretches;
  std::vector<SensorPoint> readings;
};

// The estimate that launches are added with, and how it was made.
struct EnergySource {
  const model::WireModel& model;
  const model::EstimateOptions& options;
  const model::Estimate& whole;  // of exactly the launches that are added
  std::string architecture;      // how their counters are read
};

struct TimelineDevice {
  std::string name;  // "virtual:w9100"
  bool is_virtual{};
  std::string misfit;        // why the calibration is flagged, where it is
  std::string architecture;  // "gfx90a"; empty: unknown
};

struct TraceContent;

class Timeline {
 public:
  explicit Timeline(TimelineDevice device) : device_(std::move(device)) {}

  // Adds launches without energy. A launch without a start or a duration is left out, and gaps()
  // says so.
  void add_launches(std::span<const measure::CounterDispatch> launches);
  // Adds launches. The energy of a kernel in `energy.whole` is shared out over its launches in
  // proportion to each one's own estimate. Errors: those of the estimate.
  Status add_launches(std::span<const measure::CounterDispatch> launches,
                      const EnergySource& energy);
  // Adds time in which a card drew this energy in its wires. Empty stretches are ignored.
  void add_stretch(std::int64_t start_ns, std::int64_t end_ns,
                   const model::KernelEstimate& estimate);
  void add_reading(const std::string& process, const SensorPoint& reading);
  // Adds the readings of a process from the file that the virtual GPU's driver writes
  // (WIREWATT_SAMPLES), whose name begins with the process's number. Where the driver launched
  // short kernels again for the sensor's sake, readings after the last added launch are left out.
  // Errors: io_error, parse_error.
  Status add_sensor_file(const std::filesystem::path& file);

  // Nothing to show: neither launch, stretch nor reading.
  [[nodiscard]] bool empty() const { return domains_.empty(); }
  // Says what the trace lacks and why, a sentence each.
  [[nodiscard]] std::vector<std::string> gaps() const;
  // Writes the trace for Perfetto. Errors: not_found, permission_denied, io_error.
  Status write(const std::filesystem::path& file) const;
  // Writes the rocpd database. Each launch has its counters and, as further counters with the unit
  // J, its energy by segment (WIREWATT_L1_L2_ENERGY, ..._LOWER, ..._UPPER), whose sums are those of
  // the estimate. The sensor's readings are samples. Errors as above.
  Status write_rocpd(const std::filesystem::path& file) const;

 private:
  void place(const measure::CounterDispatch& launch, const SegmentJoules& energy_j);
  void note(const std::array<model::SegmentEstimate, 3>& segments);
  [[nodiscard]] TraceContent content() const;

  TimelineDevice device_;
  std::map<std::string, ClockDomain> domains_;  // by process
  std::map<std::string, std::size_t> kernel_index_;
  std::vector<std::string> kernels_;
  std::map<std::string, std::size_t> counter_index_;
  std::vector<std::string> counters_;
  bool has_energy_{};
  std::array<std::string, 3> status_;    // of each segment's figures: "ok", "transferred"
  std::array<std::string, 3> no_power_;  // why a segment has no track
  std::uint64_t untimed_{};              // launches without a place in time
  std::string untimed_reason_;
};

}  // namespace ww::timeline
