#include "estimate/recorded_power.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>
#include <vector>

#include "option.hpp"
#include "ww/core/log.hpp"
#include "ww/otf2/power_trace.hpp"
#include "ww/session/traffic.hpp"

namespace ww::cli {
namespace {

struct Candidate {
  std::string name;
  std::vector<measure::PowerPoint> power;
};

Result<Candidate> choose(const measure::SensorRecording& recording, const RecordedPower& power) {
  std::vector<Candidate> fitting;
  std::vector<std::string> all;
  const auto consider = [&](const std::string& name, auto&& points) {
    all.push_back(name);
    if (name.find(power.metric) != std::string::npos) fitting.push_back({name, points()});
  };
  for (const auto& column : recording.columns) {
    consider(column.name, [&column] { return column.polls; });
  }
  for (const auto& counter : recording.counters) {
    consider(counter.name, [&counter] { return measure::power_of_moves(counter); });
  }
  if (fitting.size() == 1) return std::move(fitting.front());
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} metrics fit: choose one with --power-metric, by a part of its name "
                          "that no other has: {}",
                          fitting.size(), fmt::join(all, ", ")),
              power.file);
}

std::set<std::string> processes_of(std::span<const measure::CounterDispatch> launches) {
  std::set<std::string> processes;
  for (const auto& launch : launches) {
    if (launch.start_ns && launch.duration_ns) processes.insert(launch.process);
  }
  return processes;
}

}  // namespace

void add_recorded_power_options(CLI::App& command, RecordedPower& power) {
  as_input_file(command.add_option("--power", power.file,
                                   "Power of the profiled run for --timeline: a trace of Score-P "
                                   "(traces.otf2) by the profiler's clock"));
  command.add_option("--power-metric", power.metric,
                     "A part of the name of its metric of power or energy, where it has several");
}

Status add_recorded_power(timeline::Timeline& timeline, const RecordedPower& power,
                          std::span<const measure::CounterDispatch> launches) {
  if (power.file.empty()) return {};
  WW_ASSIGN(trace, otf2::read_power_trace(power.file));
  for (const auto& gap : trace.gaps) log::warn("{}: {}", power.file, gap);
  constexpr double kNanoseconds = 1e9;
  if (trace.ticks_per_s != kNanoseconds) {
    return fail(ErrorCode::bad_data,
                fmt::format("the trace's timer counts {:.0f} cycles a second from a start of its "
                            "own, so that its times cannot be compared with the profile's: record "
                            "with SCOREP_TIMER=clock_gettime",
                            trace.ticks_per_s),
                power.file);
  }
  const auto span = session::launch_span(launches);
  const auto processes = processes_of(launches);
  if (!span || processes.size() != 1) {
    return fail(ErrorCode::unsupported,
                processes.empty()
                    ? "the profile's launches have no times, beside which power could be drawn"
                    : "the profile's launches are of several processes: give one at a time",
                "--power");
  }
  WW_ASSIGN(chosen, choose(trace.recording, power));
  const auto at_ns = [&trace](const measure::PowerPoint& point) {
    return trace.start_ns + static_cast<std::int64_t>(std::llround(point.time_s * kNanoseconds));
  };
  if (chosen.power.empty() || at_ns(chosen.power.front()) > span->end_ns ||
      at_ns(chosen.power.back()) < span->start_ns) {
    const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / kNanoseconds; };
    return fail(ErrorCode::bad_data,
                chosen.power.empty()
                    ? chosen.name + " has no readings"
                    : fmt::format("the profile's launches run from {:.3f} to {:.3f} s and {} from "
                                  "{:.3f} to {:.3f} s: they are of two clocks or of two runs",
                                  seconds(span->start_ns), seconds(span->end_ns), chosen.name,
                                  seconds(at_ns(chosen.power.front())),
                                  seconds(at_ns(chosen.power.back()))),
                power.file);
  }
  for (const auto& point : chosen.power) {
    timeline.add_reading(*processes.begin(), {at_ns(point), point.power_w, {}, {}});
  }
  return {};
}

}  // namespace ww::cli
