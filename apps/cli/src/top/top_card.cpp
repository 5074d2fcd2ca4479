#include "top/top_card.hpp"

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "estimate/calibrated_part.hpp"
#include "timeline_option.hpp"
#include "top/live_counting.hpp"
#include "top/top_display.hpp"
#include "top/watched_program.hpp"
#include "ww/calibration/priced.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/counted/nvidia_traffic.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/session/application.hpp"
#include "ww/session/card.hpp"
#include "ww/session/device_meter.hpp"

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
    if (telemetry.gpus.empty()) {
      index.error().message += ". Without a GPU: wirewatt top -- PROGRAM";
    }
    return tl::unexpected(index.error());
  }
  return Card{telemetry.gpus[*index], fmt::format("gpu:{}", *index)};
}

// Counters from which the segments follow.
struct Counted {
  std::optional<calibration::Priced> priced;   // of kernels that run without a pause
  std::optional<model::KernelEstimate> wires;  // the same by segment, for a timeline
  std::string by;                              // "profile.csv", "rocprof, in a run before this one"
};

Result<Counted> count(const CardRequest& request, const calibration::Calibration& model) {
  Counted counted;
  session::CountedDispatches read;
  const std::string& file =
      request.counters.empty() ? request.command.front() : request.counters.front();
  if (!request.counters.empty()) {
    WW_ASSIGN(from_files, session::read_application(request.counters, request.architecture,
                                                    assumed_of(model.provenance())));
    read = std::move(from_files);
    counted.by = file;
  } else {
    const auto& provenance = model.provenance();
    const std::string architecture = request.architecture.empty()
                                         ? calibrated_part(provenance.device, provenance.target)
                                         : request.architecture;
    if (architecture.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "the profiler must know the GPU's architecture: give --arch, as gfx90a or sm_80",
                  "wirewatt top");
    }
    log::warn("{} runs twice: it is counted now, and watched in a second run after that", file);
    WW_ASSIGN(found, measure::count_command(architecture, request.command));
    for (const std::string& warning : found.warnings) log::warn("{}", warning);
    read.dispatches = std::move(found.counters.dispatches);
    read.architecture = architecture;
    counted.by = found.by + ", in a run before this one";
  }
  WW_ASSIGN(traffic, session::application_traffic(read, file));
  calibration::EstimateRequest estimate;
  estimate.part = calibrated_part(model.provenance().device, model.provenance().target);
  WW_ASSIGN(priced, calibration::price(model, traffic, estimate));
  counted.priced = std::move(priced);
  if (request.timeline.wanted() && model.wires() != nullptr) {
    WW_ASSIGN(wires, model::estimate(*model.wires(), traffic.kernels, estimate.options));
    counted.wires = std::move(wires.total);
  }
  return counted;
}

std::string source_of(const Counted& counted, bool with_model, bool tells_busy) {
  if (!counted.priced) {
    return with_model
               ? "device power sampled; no counters are read beside a program: give --count, "
                 "--counters FILE of a profiled run, or a program after --, to estimate the "
                 "segments"
               : "joules of the device by its own accumulator; give --model and --counters for "
                 "those of its wires";
  }
  return fmt::format("device power sampled; segments estimated from counters of {}, {}", counted.by,
                     tells_busy ? "times the share of the time in which kernels run"
                                : "as if its kernels ran all the time: the driver does not tell "
                                  "when they do");
}

// The newest reading of power and temperature.
void show_sensor(const std::vector<SensorReading>& readings, Display& display, json& facts) {
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

// Shows the bytes that memory and links move, where the card's driver counts them.
void show_traffic(measure::NvidiaTrafficMeter& meter, Display& display, json& facts) {
  const auto taken = meter.take();
  if (!taken) {
    facts["no_traffic"] = taken.error().text();
    return;
  }
  if (!*taken) return;
  std::string line;
  for (const measure::NamedTraffic& named : measure::kNamedTraffic) {
    const auto& rate = (**taken).*named.rate;
    if (!rate) continue;
    constexpr double kGiga = 1e9;
    facts[std::string(named.name) + "_bytes_per_s"] = *rate;
    line += fmt::format("{}{} {:.4g} GB/s", line.empty() ? "" : "; ", named.words, *rate / kGiga);
  }
  if (!line.empty()) display.frame.lines.push_back(line);
}

// The clock of the refreshes and of the sensor's readings.
std::int64_t clock_ns(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// Processor time of all threads of this process, without its children [s].
double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
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

Result<int> watch_card(const CardRequest& request, const calibration::Calibration* model) {
  if (request.timeline.wanted() && model != nullptr && model->wires() == nullptr) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no segments, by which a timeline goes", model->title()),
                "--timeline");
  }
  WW_ASSIGN(found, find_card(request.device));
  const measure::TelemetryGpu& card = found.gpu;
  const std::string name = measure::name_with_address(card);
  std::optional<LiveCounting> live;  // before the sensor's thread
  if (model != nullptr && (request.count || !request.command.empty())) {
    WW_ASSIGN(prepared, LiveCounting::prepare(request, card, *model));
    if (prepared) live.emplace(std::move(*prepared));
  }
  WW_ASSIGN(sensor, measure::open_sensor_beside_a_program(
                        card, std::chrono::nanoseconds(request.interval).count()));
  // It was woken to open its sensor. A driver that reports now and not later has put it to sleep.
  const bool tells_busy = session::busy_share(card).has_value();
  const calibration::Provenance provenance =
      model != nullptr ? model->provenance() : calibration::Provenance{};
  Counted counted;
  if (model != nullptr && !live && !(request.counters.empty() && request.command.empty())) {
    WW_ASSIGN(done, count(request, *model));
    counted = std::move(done);
  }
  constexpr const char* kUnavailable = "unavailable";
  const calibration::Priced rows = counted.priced ? *counted.priced
                                   : model != nullptr
                                       ? calibration::unpriced(*model, kUnavailable, "")
                                       : calibration::unpriced_segments(kUnavailable, "");
  WW_ASSIGN(display, Display::open({request.json, request.metrics, found.label, rows}));
  display.frame.title =
      name + (provenance.is_virtual ? " (model of a virtual chip: not a measurement)" : "");
  session::DeviceMeter meter(*sensor);
  sensor->poll_now();  // the joules begin with a reading
  auto traffic = card.nvidia ? measure::NvidiaTrafficMeter::open(card.pci)
                             : Result<std::unique_ptr<measure::NvidiaTrafficMeter>>{};
  std::optional<WatchedProgram> program;
  if (!request.command.empty()) {
    program.emplace(request.command,
                    live ? live->counting().environment() : WatchedProgram::Environment());
  }
  const std::string besides = measure::measured_besides(sensor->fields());
  const std::string sensor_of = measure::sensor_of(sensor->fields());
  timeline::Timeline timeline(
      {name, provenance.is_virtual, provenance.misfit, request.architecture});
  std::vector<std::string> warnings;  // of the counts
  Status trouble;
  auto refreshed = std::chrono::steady_clock::now();
  for (bool quit = false; !quit;) {
    const auto readings = meter.take();
    if (!readings) {
      trouble = tl::unexpected(readings.error());
      break;
    }
    const bool ended = program && program->ended();
    const auto busy = session::busy_share(card);
    json facts = {
        {"virtual", provenance.is_virtual}, {"running", !ended}, {"cpu_s", cpu_seconds()}};
    display.frame.state = !program ? "sampling" : ended ? "the program has ended" : "running";
    display.frame.source = live ? live->source() : source_of(counted, model != nullptr, tells_busy);
    display.mark_misfit(provenance.misfit);
    display.frame.lines.clear();
    show_sensor(*readings, display, facts);
    if (!traffic) facts["no_traffic"] = traffic.error().text();
    if (traffic && *traffic != nullptr) show_traffic(**traffic, display, facts);
    display.take_device(meter.so_far());
    if (!besides.empty()) {
      facts["device_w_of"] = besides;
      display.frame.lines.push_back(besides);
    }
    if (!sensor_of.empty()) facts["sensor_of"] = sensor_of;
    if (request.timeline.wanted()) add_readings(timeline, *readings);
    if (busy) {
      facts["busy_share"] = *busy;
      display.frame.lines.push_back(fmt::format("kernels run {:.0f}% of the time", 100 * *busy));
    }
    const auto now = std::chrono::steady_clock::now();
    const auto before = std::exchange(refreshed, now);
    if (live) {
      trouble = live->take(display, facts, request.timeline.wanted() ? &timeline : nullptr);
      if (!trouble) break;
      if (ended) {
        auto doubts = live->finish(facts);
        if (doubts) warnings = std::move(*doubts);
      }
    } else if (counted.priced && !ended && (busy || !tells_busy)) {
      const std::chrono::duration<double> passed = now - before;
      const double share = busy.value_or(1);
      display.take(calibration::at_share(*counted.priced, share), passed.count());
      if (counted.wires) {
        timeline.add_stretch(clock_ns(before), clock_ns(now),
                             session::at_share(*counted.wires, share));
      }
      for (TopRow& row : display.frame.rows) {
        if (row.power_w && provenance.misfit.empty()) row.status = "estimated";
      }
    } else {
      display.take_nothing(ended ? "idle" : kUnavailable);
    }
    display.show(std::move(facts));
    if (ended && !display.on_screen()) break;
    quit = display.wait(request.interval) || interrupted();
  }
  const bool stopped = interrupted();  // by Ctrl-C; the key q only ends the program
  std::optional<Result<ProcessResult>> result;
  if (program) result = program->finish();
  display.close();
  if (!request.json) display.print_joules();
  if (request.timeline.wanted()) WW_TRY(save_timeline(timeline, request.timeline));
  WW_TRY(trouble);
  for (const std::string& warning : warnings) log::warn("{}", warning);
  const int code_of_stop = stopped ? exit_code(ErrorCode::cancelled) : 0;
  if (!result) return code_of_stop;
  WW_ASSIGN(code, WatchedProgram::show_result(*result));
  return stopped ? code_of_stop : code;
}

}  // namespace ww::cli
