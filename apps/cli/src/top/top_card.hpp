// wirewatt top on a real GPU: its sensor now, and segments as a profiled run had them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "timeline_option.hpp"
#include "top/top_display.hpp"
#include "ww/core/result.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::cli {

struct CardRequest {
  std::string device;                 // "gpu:1"; empty: the first
  std::vector<std::string> counters;  // files of a profiled run; none: the sensor alone
  std::string architecture;           // where the files name none; a program needs it
  std::vector<std::string> command;   // counted by a profiler, then watched; not with files
  std::chrono::milliseconds interval;
  bool json{};
  MetricsTargets metrics;
  TimelineFiles timeline;
};

// Shows power until the user asks to end or, where output is JSON, the program ends. The segments
// are those of the counted kernels, times the share of the time in which the driver says that
// kernels ran. Gives the program's exit code. Errors: not_found (no such GPU), invalid_argument,
// those of the sensor, the profiler, the files and the estimate.
[[nodiscard]] Result<int> watch_card(const CardRequest& request, const model::WireModel& model);

}  // namespace ww::cli
