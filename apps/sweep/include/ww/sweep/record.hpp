// The outcome of one point, as its worker records it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ww/sweep/points.hpp"

namespace ww::sweep {

// Stored as text.
enum class PointStatus {
  ok,
  bad,            // finished, and the command itself calls its result bad (exit code 1)
  refused,        // the command refused the configuration (exit code 2)
  environment,    // a driver, device or permission was missing (exit code 3)
  crashed,        // a signal ended it
  timeout,        // ended at the time limit
  out_of_memory,  // ended at the memory limit
  no_result,      // ended well, but printed no JSON
  missing,        // no worker has finished it
};
[[nodiscard]] std::string_view to_string(PointStatus status);
[[nodiscard]] Result<PointStatus> point_status_from_string(std::string_view text);
// Whether --resume skips such a point, because it has a result.
[[nodiscard]] constexpr bool is_final(PointStatus status) {
  return status == PointStatus::ok || status == PointStatus::bad;
}

struct Record {
  PointHash hash;
  PointStatus status{PointStatus::missing};
  std::string reason;   // empty for ok
  std::string result;   // canonical JSON of what the command printed, without its times; or empty
  std::string timings;  // JSON: the times that it printed, by dotted key
  double wall_s{};
  double cpu_s{};
  double peak_mib{};  // most memory of its largest process, or seen of all of them [MiB]
  std::string host;
  std::int64_t started_ms{};  // UTC, since 1970
  int attempts{1};
};

// The ending of a process that ran a point.
struct Ending {
  int exit_code{};
  int signal{};
  bool timed_out{};
  bool over_memory{};
  std::string out{};
  std::string err{};
};

// Which parts of a result to keep, and which of its keys contain times. Keys are names in the JSON
// document, and `keep` has dotted prefixes. What says what a result is worth is kept with them:
// `virtual`, `stable`, `status` and `reason`.
struct ResultFilter {
  std::vector<std::string> keep;
  std::vector<std::string> timings;
};

// Judges an ending and fills status, reason, result and timings.
void judge(const Ending& ending, const ResultFilter& filter, double time_limit_s, double memory_mib,
           Record& record);

// A record as one line without its line end: a checksum of 16 hexadecimal digits, a space, JSON.
[[nodiscard]] std::string to_line(const Record& record);
// Error parse_error for a damaged line.
[[nodiscard]] Result<Record> from_line(std::string_view line);

}  // namespace ww::sweep
