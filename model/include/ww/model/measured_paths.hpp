// How far engines are from homes of the L2 by measured latency: what a fit takes for distance where
// no floorplan with millimetres is known, or where latencies contradict the one there is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::model {

// The fact of a campaign under which it is stored.
inline constexpr const char* kPathsFact = "paths";

struct MeasuredPaths {
  // [engine][home] of a load there and back [ns], whatever it spends beside flight: only what
  // depends on both engine and home counts.
  std::vector<std::vector<double>> flight_ns;
  double noise_ns{};  // standard error of an entry by its repeats
  // Standard uncertainty of an entry that no repeat shows: a path takes whole cycles of each clock
  // that it crosses, and all lines of a home may be rounded together, so that a mean does not
  // reduce it.
  double resolution_ns{};
  std::vector<int> channels;  // of each home
  // Whether the campaign goes by millimetres of a floorplan all the same, and why or why not.
  bool by_floorplan{};
  std::string reason;
};
[[nodiscard]] nlohmann::json to_json(const MeasuredPaths& paths);
// Errors: parse_error and out_of_range by key; rows of different length, less than two engines or
// homes.
[[nodiscard]] Result<MeasuredPaths> measured_paths_from_json(const nlohmann::json& json);

// Error of an energy per nanosecond by the latencies' noise and resolution: relative, 95%
// half-width. The latencies are the divisor; 1 where they have no contrast.
[[nodiscard]] double flight_error_95(const MeasuredPaths& paths);

}  // namespace ww::model
