// Checks whether the bytes that kernels should have moved are those that a card's counters see. The
// counters of real cards cannot follow every launch of a campaign. They are therefore read once: a
// profiler is started on a short program of wirewatt's own.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/mapping_check.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {

// The program that the profiler watches (`wirewatt exercise`): copies of a known number of bytes,
// and streams of one engine and quadrant after another, on cards whose layout is known.
struct ExerciseReport {
  std::string target;
  double known_bytes{};  // each way, of one copy
  double l2_bytes{};     // 0: not known
  int copies{};
  std::vector<double> stream_bytes;  // by arithmetic, of each launch of l2_stream, in order
  std::string no_streams;            // why there are none
};
[[nodiscard]] nlohmann::json to_json(const ExerciseReport& report);
// Errors of the device; bad_data where a copy is wrong.
[[nodiscard]] Result<ExerciseReport> run_exercise(const DeviceRequest& request);

struct TrafficCheck {
  bool verified{};       // counters and arithmetic agree within 0.5%
  bool contradicted{};   // the counters hold on known bytes, and the streams move other bytes
  std::string profiler;  // empty: none was run
  std::string reason;    // why not verified
  std::vector<measure::MappingCheck> mapping;  // empty: no profiler
  std::optional<double> stream_deviation;      // counted over computed, minus 1
};
[[nodiscard]] nlohmann::json to_json(const TrafficCheck& check);

// Runs `program exercise` on the device under the best installed profiler. If that is impossible,
// the check is not verified, and its reason says why. Errors: those of opening the device.
[[nodiscard]] Result<TrafficCheck> check_traffic(const DeviceRequest& request,
                                                 const std::filesystem::path& program);

// Checks the device's counter mapping on known bytes: by its own counters (virtual devices), else
// by a profiler. Error unsupported with the reason if there is neither.
struct ComputeDevice;
[[nodiscard]] Result<std::vector<measure::MappingCheck>> check_device_mapping(
    ComputeDevice& device, const std::filesystem::path& program);

}  // namespace ww::microbench
