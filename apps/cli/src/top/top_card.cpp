#include "top/top_card.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "estimate/calibrated_part.hpp"
#include "timeline_option.hpp"
#include "top/top_display.hpp"
#include "top/watched_program.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/session/card.hpp"
#include "ww/session/traffic.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

struct Card {
  measure::TelemetryGpu gpu;
  std::string label;  // "gpu:0"
};

Result<Card> find_card(const std::string& device) {
  const auto telemetry = measure::find_telemetry();
  auto index = measure::choose_gpu(telemetry, device);
  if (!index) {
    if (index.error().code == ErrorCode::not_found) {
      index.error().message += ". Without a GPU: wirewatt top --model model.json -- PROGRAM";
    }
    return tl::unexpected(index.error());
  }
  return Card{telemetry.gpus[*index], fmt::format("gpu:{}", *index)};
}

// Counters from which the segments follow.
struct Counted {
  std::optional<model::KernelEstimate> whole;  // of kernels that run without a pause
  std::string by;                              // "profile.csv", "rocprof, in a run before this one"
};

Result<Counted> count(const CardRequest& request, const model::WireModel& model) {
  Counted counted;
  session::CountedTraffic traffic;
  if (!request.counters.empty()) {
    WW_ASSIGN(read, session::read_dispatches(request.counters, request.architecture));
    WW_TRY(calibration::require_named_part(request.architecture, read.named_architecture,
                                           request.counters.front()));
    WW_ASSIGN(summed, session::count_traffic(read.dispatches, read.architecture));
    traffic = std::move(summed);
    counted.by = request.counters.front();
  } else if (!request.command.empty()) {
    if (request.architecture.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "the profiler must know the GPU's architecture: give --arch, as gfx90a or sm_80",
                  "wirewatt top");
    }
    const auto profilers = measure::installed_profilers(request.architecture);
    measure::ProfileRequest profile;
    profile.architecture = request.architecture;
    profile.command = request.command;
    spdlog::info("counting a first run of {}", request.command.front());
    WW_ASSIGN(found, measure::profile(profile));
    WW_ASSIGN(summed, session::count_traffic(found.counters.dispatches, request.architecture));
    traffic = std::move(summed);
    counted.by =
        fmt::format("{}, in a run before this one", measure::to_string(profilers.front().profiler));
  } else {
    return counted;
  }
  WW_TRY(calibration::require_same_part(
      calibrated_part(model.device, model.target), traffic.architecture,
      request.counters.empty() ? request.command.front() : request.counters.front(), "a bit",
      "or give counters of the calibrated one"));
  WW_ASSIGN(estimate, model::estimate(model, traffic.kernels, {}));
  counted.whole = std::move(estimate.total);
  return counted;
}

std::string source_of(const Counted& counted, bool tells_busy) {
  if (!counted.whole) {
    return "device power sampled; no counters are read beside a program: give --counters FILE of a "
           "profiled run, or a program after --, to estimate the segments";
  }
  return fmt::format("device power sampled; segments estimated from counters of {}, {}", counted.by,
                     tells_busy ? "times the share of the time in which kernels run"
                                : "as if its kernels ran all the time: the driver does not tell "
                                  "when they do");
}

// The newest reading of power and temperature.
void tell_sensor(const std::vector<SensorReading>& readings, Display& display, json& facts) {
  for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading) {
    if (!reading->power_uw) continue;
    const double watts = static_cast<double>(*reading->power_uw) * 1e-6;
    facts["device_w"] = watts;
    display.frame.lines.push_back(fmt::format("sensor {:.4g} W", watts));
    return;
  }
  if (readings.empty()) return;  // it is slower than the refreshes
  constexpr const char* kSilent = "the sensor does not answer: the card sleeps or is being reset";
  facts["no_device_w"] = kSilent;
  display.frame.lines.emplace_back(kSilent);
}

// The clock of the refreshes and of the sensor's readings.
std::int64_t clock_ns(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

void add_readings(timeline::Timeline& timeline, const std::vector<SensorReading>& readings) {
  const auto scaled = [](const auto& raw, double factor) {
    return raw ? std::optional(static_cast<double>(*raw) * factor) : std::nullopt;
  };
  for (const SensorReading& reading : readings) {
    timeline.add_reading(
        "", {reading.poll_ns, scaled(reading.power_uw, 1e-6), scaled(reading.temperature_mc, 1e-3),
             scaled(reading.clock_khz, 1e-3)});
  }
}

}  // namespace

Result<int> watch_card(const CardRequest& request, const model::WireModel& model) {
  if (!request.counters.empty() && !request.command.empty()) {
    return fail(ErrorCode::invalid_argument,
                "give counter files (--counters) or a program after --, not both", "wirewatt top");
  }
  WW_ASSIGN(found, find_card(request.device));
  const measure::TelemetryGpu& card = found.gpu;
  const std::string name = measure::name_with_address(card);
  measure::TelemetryOptions options;
  options.clock_control = false;
  WW_ASSIGN(sensor, measure::open_sensor(card, options));
  // It was woken to open its sensor. A driver that reports now and not later has put it to sleep.
  const bool tells_busy = session::busy_share(card).has_value();
  WW_ASSIGN(counted, count(request, model));
  WW_ASSIGN(display, Display::open({request.json, request.metrics, found.label}));
  display.frame.title =
      name + (model.is_virtual ? " (model of a virtual chip: not a measurement)" : "");
  std::optional<WatchedProgram> program;
  if (!request.command.empty()) program.emplace(request.command);
  const std::string besides = measure::measured_besides(sensor->fields());
  timeline::Timeline timeline({name, model.is_virtual, model.misfit, request.architecture});
  Status trouble;
  auto refreshed = std::chrono::steady_clock::now();
  for (bool quit = false; !quit;) {
    const auto readings = sensor->new_readings();
    if (!readings) {
      trouble = tl::unexpected(readings.error());
      break;
    }
    const bool ended = program && program->ended();
    const auto busy = session::busy_share(card);
    json facts = {{"virtual", model.is_virtual}, {"running", !ended}};
    display.frame.state = !program ? "sampling" : ended ? "the program has ended" : "running";
    display.frame.source = source_of(counted, tells_busy);
    display.mark_misfit(model.misfit);
    display.frame.lines.clear();
    tell_sensor(*readings, display, facts);
    if (!besides.empty()) {
      facts["device_w_of"] = besides;
      display.frame.lines.push_back(besides);
    }
    if (request.timeline.wanted()) add_readings(timeline, *readings);
    if (busy) {
      facts["busy_share"] = *busy;
      display.frame.lines.push_back(fmt::format("kernels run {:.0f}% of the time", 100 * *busy));
    }
    const auto now = std::chrono::steady_clock::now();
    const auto before = std::exchange(refreshed, now);
    if (counted.whole && !ended && (busy || !tells_busy)) {
      const std::chrono::duration<double> passed = now - before;
      const auto power = session::at_share(*counted.whole, busy.value_or(1));
      display.take(power, passed.count());
      if (request.timeline.wanted()) timeline.add_stretch(clock_ns(before), clock_ns(now), power);
      for (TopRow& row : display.frame.rows) {
        if (row.power_w && model.misfit.empty()) row.status = "estimated";
      }
    } else {
      display.take_nothing(ended ? "idle" : "unavailable");
    }
    display.show(std::move(facts));
    if (ended && !display.on_screen()) break;
    quit = display.wait(request.interval) || interrupted();
  }
  const bool stopped = interrupted();  // by Ctrl-C; the key q only ends the program
  std::optional<Result<ProcessResult>> result;
  if (program) {
    result = program->finish();
    display.close();
  }
  if (request.timeline.wanted()) WW_TRY(save_timeline(timeline, request.timeline));
  WW_TRY(trouble);
  const int code_of_stop = stopped ? exit_code(ErrorCode::cancelled) : 0;
  if (!result) return code_of_stop;
  WW_ASSIGN(code, WatchedProgram::told(*result));
  return stopped ? code_of_stop : code;
}

}  // namespace ww::cli
