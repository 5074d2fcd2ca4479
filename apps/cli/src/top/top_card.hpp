// wirewatt top on a real GPU: its sensor now, and segments as a profiled run had them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "timeline_option.hpp"
#include "top/top_display.hpp"
#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"

namespace ww::cli {

struct CardRequest {
  std::string device;                 // "gpu:1"; empty: the first
  std::vector<std::string> counters;  // files of a profiled run; none: the sensor alone
  std::string architecture;           // where neither the files nor the model name it
  bool count{};                       // the card, also where its programs run already
  std::vector<std::string> command;   // counted by a profiler, then watched; not with files
  std::chrono::milliseconds interval;
  bool json{};
  MetricsTargets metrics;
  TimelineFiles timeline;
};

// Shows power and joules until the user asks to end or, where output is JSON, the program ends.
// Without a model (null) these are the device's and its rails' alone. The segments are those of the
// counted kernels as `estimate` prices them, times the share of the time in which the driver says
// that kernels ran. Gives the program's exit code. Errors: not_found (no such GPU),
// invalid_argument, unsupported (a timeline of a calibration without segments), those of the
// sensor, the profiler, the files and the estimate.
[[nodiscard]] Result<int> watch_card(const CardRequest& request,
                                     const calibration::Calibration* model);

}  // namespace ww::cli
