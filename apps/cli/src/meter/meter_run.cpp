#include "meter/meter_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/energy/energy.hpp"
#include "ww/measure/counted/device_counting.hpp"
#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/runner/counted_run.hpp"
#include "ww/runner/samples_file.hpp"
#include "ww/session/application.hpp"
#include "ww/session/background_meter.hpp"
#include "ww/session/priced_bytes.hpp"

namespace ww::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// --- wires ---

void no_wires(MeterResult& result, const calibration::Calibration* model, std::string reason) {
  result.wires_status = to_string(RowStatus::unavailable);
  result.wires = model != nullptr ? calibration::unpriced(*model, result.wires_status, "")
                                  : calibration::unpriced_segments(result.wires_status, "");
  result.wires_reason = std::move(reason);
}

Status price_wires(MeterResult& result, const calibration::Calibration& model,
                   const session::CountedDispatches& counted, const std::string& from) {
  WW_ASSIGN(traffic, session::application_traffic(counted, from));
  calibration::EstimateRequest request;
  const auto& provenance = model.provenance();
  request.part = calibrated_part(provenance.device, provenance.target);
  request.options.busy_s = counted.busy_s;
  WW_ASSIGN(priced, calibration::price(model, traffic, request));
  result.wires = std::move(priced);
  result.wires_from = from;
  result.wires_virtual = provenance.is_virtual || traffic.is_virtual;
  const bool any = std::ranges::any_of(result.wires.rows, [](const calibration::PricedRow& row) {
    return row.energy_j.has_value();
  });
  result.wires_status = !any                         ? to_string(RowStatus::unavailable)
                        : !provenance.misfit.empty() ? to_string(RowStatus::misfit)
                                                     : to_string(RowStatus::ok);
  if (!any && !result.wires.rows.empty()) result.wires_reason = result.wires.rows.front().reason;
  if (!provenance.misfit.empty()) result.wires_reason = provenance.misfit;
  return {};
}

Result<std::string> counted_part(const MeterRequest& request,
                                 const calibration::Calibration& model) {
  if (!request.architecture.empty()) return request.architecture;
  auto part = calibrated_part(model.provenance().device, model.provenance().target);
  if (!part.empty()) return part;
  return fail(ErrorCode::invalid_argument,
              "the profiler must know the GPU's architecture: give --arch, as gfx90a or sm_80",
              request.count ? "--count" : "--count-first");
}

// Prepares to count the cards and the other dies of their packages.
Result<measure::DeviceCounting> prepare_counting(const MeterRequest& request,
                                                 const measure::Telemetry& telemetry,
                                                 const std::vector<std::size_t>& cards,
                                                 const calibration::Calibration& model) {
  WW_ASSIGN(architecture, counted_part(request, model));
  WW_ASSIGN(sdk, measure::find_counting_sdk(architecture));
  measure::DeviceCountRequest counting{architecture, {}, std::chrono::milliseconds(1000)};
  for (const std::size_t card : cards) {
    const measure::TelemetryGpu& gpu = telemetry.gpus[card];
    counting.cards.push_back(to_string(gpu.pci));
    if (gpu.amd && gpu.amd->other_die) {
      counting.cards.push_back(to_string(gpu.amd->other_die->pci));
    }
  }
  if (const auto disturbed = measure::counting_disturbs(architecture, sdk.release);
      !disturbed.empty()) {
    log::warn("{}", disturbed);
  }
  return measure::DeviceCounting::prepare(sdk, std::move(counting));
}

Status price_counted(MeterResult& result, const MeterRequest& request,
                     measure::DeviceCounting& counting, const calibration::Calibration& model) {
  WW_ASSIGN(news, counting.poll());
  WW_ASSIGN(warnings, counting.warnings());
  for (const std::string& warning : warnings) log::warn("{}", warning);
  if (news.stretches.empty() || !news.trouble.empty()) {
    no_wires(result, &model, news.trouble.empty() ? "no sample was taken" : news.trouble);
    return {};
  }
  WW_ASSIGN(architecture, counted_part(request, model));
  return price_wires(result, model,
                     session::counted_dispatches(std::move(news.stretches), architecture),
                     "the whole card while it ran, other processes included, by rocprofiler-sdk " +
                         counting.release() + " inside it");
}

// The counters of a card's run: from files, or from a run before this one.
Status price_wires_of_card(MeterResult& result, const MeterRequest& request,
                           const calibration::Calibration* model) {
  if (model == nullptr) {
    no_wires(result, model, "no calibration was given (--model)");
    return {};
  }
  if (!request.counters.empty()) {
    WW_ASSIGN(counted, session::read_application(request.counters, request.architecture,
                                                 assumed_of(model->provenance())));
    return price_wires(result, *model, counted, request.counters.front());
  }
  if (!request.count_first) {
    no_wires(result, model,
             "nothing counts the bits of a program while it runs on a card: give --counters FILE "
             "of a profiled run of it, --count or --count-first");
    return {};
  }
  WW_ASSIGN(architecture, counted_part(request, *model));
  log::warn("{} runs twice: it is counted now, and metered in a second run after that",
            request.command.front());
  WW_ASSIGN(found, measure::count_command(architecture, request.command));
  for (const std::string& warning : found.warnings) log::warn("{}", warning);
  session::CountedDispatches counted;
  counted.dispatches = std::move(found.counters.dispatches);
  counted.architecture = architecture;
  return price_wires(result, *model, counted, "a run before this one, by " + found.by);
}

// --- cards ---

struct MeteredCard {
  MeteredDevice device;
  std::unique_ptr<session::BackgroundMeter> meter;  // null where the sensor cannot be read
  std::unique_ptr<session::LinkTraffic> traffic;    // null where nobody counts it
};

std::string scope_of(const measure::TelemetryGpu& gpu, const std::string& besides) {
  if (gpu.amd && gpu.amd->other_die) return "package";
  if (gpu.amd && gpu.amd->integrated) return "processor";
  if (gpu.nvidia && besides.find("module") != std::string::npos) return "module";
  return "card";
}

MeteredCard open_card(const measure::TelemetryGpu& gpu, std::size_t index, double interval_s) {
  MeteredCard card;
  card.device.device = fmt::format("gpu:{}", index);
  card.device.name = measure::name_with_address(gpu);
  card.traffic = session::LinkTraffic::beside(gpu);
  auto sensor = measure::open_sensor_beside_a_program(gpu, std::llround(interval_s * 1e9));
  if (!sensor) {
    card.device.scope = scope_of(gpu, "");
    card.device.reading.device.reason = sensor.error().message;
    return card;
  }
  card.device.scope_says = measure::measured_besides((*sensor)->fields());
  card.device.scope = scope_of(gpu, card.device.scope_says);
  card.meter = std::make_unique<session::BackgroundMeter>(std::move(*sensor));
  return card;
}

// Those that were named; else those that this process may open, as a batch system leaves a job its
// own.
Result<std::vector<std::size_t>> chosen_cards(const measure::Telemetry& telemetry,
                                              const std::vector<std::string>& names) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : names) {
    WW_ASSIGN(index, measure::choose_gpu(telemetry, name));
    if (std::ranges::find(chosen, index) == chosen.end()) chosen.push_back(index);
  }
  if (names.empty()) chosen = measure::gpus_of_this_process(telemetry);
  return chosen;
}

// Devices that are read at the same sensor: the first one counts.
void find_shared_sensors(const measure::Telemetry& telemetry,
                         const std::vector<std::size_t>& chosen, std::vector<MeteredCard>& cards) {
  std::map<std::string, std::string> counted;  // device by the sensor's PCI address
  for (std::size_t i = 0; i < cards.size(); ++i) {
    MeteredDevice& device = cards[i].device;
    if (cards[i].meter == nullptr) continue;
    std::string sensor = measure::sensor_of(cards[i].meter->sensor().fields());
    if (sensor.empty()) sensor = to_string(telemetry.gpus[chosen[i]].pci);
    const auto [first, is_new] = counted.emplace(sensor, device.device);
    if (!is_new) device.counted_at = first->second;
  }
}

session::Joules joules_together(const std::vector<MeteredDevice>& devices) {
  std::vector<session::DeviceJoules> each;
  for (const MeteredDevice& device : devices) {
    if (device.counted_at.empty()) each.push_back({device.device, device.reading.device});
  }
  return session::joules_together(each);
}

void close_card(MeteredCard& card, const calibration::Calibration* model) {
  if (card.traffic != nullptr) {
    card.device.moved = card.traffic->finish();
    const auto& bytes = card.device.moved->bytes.memory_at_most;
    if (bytes && model != nullptr && model->wires() != nullptr) {
      card.device.l2_memory_at_most_j = session::l2_memory_at_most_j(*model->wires(), *bytes);
    }
  }
  if (card.meter == nullptr) return;
  auto reading = card.meter->finish();
  if (reading) {
    card.device.reading = std::move(*reading);
  } else {
    card.device.reading.device.reason = reading.error().text();
  }
  const auto stats = card.meter->sensor().stats();
  card.device.cost =
      PollCost{stats.ticks, static_cast<double>(stats.period_ns) * 1e-9, stats.cpu_share};
}

Result<MeterResult> run_on_cards(const MeterRequest& request, const measure::Telemetry& telemetry,
                                 const calibration::Calibration* model) {
  MeterResult result;
  WW_ASSIGN(chosen, chosen_cards(telemetry, request.devices));
  std::optional<measure::DeviceCounting> counting;
  ProcessSetup setup;
  if (request.count && model != nullptr) {
    WW_ASSIGN(prepared, prepare_counting(request, telemetry, chosen, *model));
    setup.environment = prepared.environment();
    counting.emplace(std::move(prepared));
  } else {
    WW_TRY(price_wires_of_card(result, request, model));
  }
  std::vector<MeteredCard> cards;
  for (const std::size_t index : chosen) {
    cards.push_back(open_card(telemetry.gpus[index], index, request.interval_s));
  }
  find_shared_sensors(telemetry, chosen, cards);
  const auto begin = SteadyClock::now();
  const auto program = run_in_foreground(request.command, setup);
  result.seconds = seconds_since(begin);
  for (MeteredCard& card : cards) {
    close_card(card, model);
    result.devices.push_back(std::move(card.device));
  }
  result.together = joules_together(result.devices);
  if (!program) return tl::unexpected(program.error());
  if (counting) WW_TRY(price_counted(result, request, *counting, *model));
  result.exit_code = program->end.exit_code;
  result.interrupted = program->asked_to_end;
  return result;
}

// The program runs where a card's power cannot be read, and the reason stands for the joules.
Result<MeterResult> run_unread(const MeterRequest& request, const calibration::Calibration* model,
                               const Error& why) {
  MeterResult result;
  WW_TRY(price_wires_of_card(result, request, model));
  MeteredDevice card;
  card.device = card.name = "the GPU";
  card.scope = "card";
  card.reading.device.reason = why.text();
  const auto begin = SteadyClock::now();
  WW_ASSIGN(program, run_in_foreground(request.command, {}));
  result.seconds = seconds_since(begin);
  result.exit_code = program.end.exit_code;
  result.interrupted = program.asked_to_end;
  result.devices.push_back(std::move(card));
  result.together = joules_together(result.devices);
  return result;
}

// --- the virtual GPU ---

// Joules of one process, while its kernels ran and in between.
session::MeterReading reading_of(const std::string& samples_file,
                                 const session::CountedDispatches& counted, bool only_process) {
  session::MeterReading reading;
  const auto samples = runner::read_samples_file(samples_file);
  if (!samples || samples->series.readings.empty()) {
    reading.device.reason = samples ? "the chip's sensor gave no reading" : samples.error().text();
    return reading;
  }
  std::int64_t from_ns = samples->series.readings.front().time_ns;
  std::int64_t to_ns = samples->series.readings.back().time_ns;
  const auto span = session::launch_span(counted.dispatches);
  if (only_process && span && span->start_ns < span->end_ns) {
    from_ns = span->start_ns;
    to_ns = span->end_ns;
  }
  return session::reading_between(samples->series, from_ns, to_ns);
}

Result<MeterResult> run_on_virtual(const MeterRequest& request,
                                   const calibration::Calibration* model) {
  MeterResult result;
  const auto begin = SteadyClock::now();
  WW_ASSIGN(run, runner::run_counted(request.chip, request.command, {.keeps_what_there_is = true}));
  result.seconds = seconds_since(begin);
  result.exit_code = run.exit_code;
  result.interrupted = run.asked_to_end;
  const std::string architecture = runner::chip_generation(request.chip);
  session::CountedDispatches counted;
  if (!run.counters.empty()) {
    WW_ASSIGN(read, session::read_dispatches(run.counters, architecture));
    counted = std::move(read);
  }
  MeteredDevice chip;
  chip.device = chip.name = request.chip.name;
  chip.is_virtual = true;
  chip.scope = "chip";
  if (run.samples.empty()) {
    chip.reading.device.reason =
        "the program made no use of the virtual GPU, or did not end by itself";
    result.devices.push_back(chip);
  }
  for (const std::string& file : run.samples) {
    chip.reading = reading_of(file, counted, run.samples.size() == 1);
    result.devices.push_back(chip);
  }
  result.together = joules_together(result.devices);
  if (model == nullptr) {
    no_wires(result, model, "no calibration was given (--model)");
  } else if (counted.dispatches.empty()) {
    no_wires(result, model, "nothing was launched");
  } else {
    WW_TRY(price_wires(result, *model, counted, "the virtual GPU's own counters"));
  }
  result.wires_virtual = true;
  return result;
}

}  // namespace

Result<MeterResult> run_metered(const MeterRequest& request,
                                const calibration::Calibration* model) {
  const bool names_virtual = std::ranges::any_of(
      request.devices, [](const std::string& name) { return DeviceName(name).is_virtual(); });
  if (names_virtual) {
    if (request.devices.size() > 1) {
      return fail(ErrorCode::invalid_argument,
                  "a virtual GPU lives inside the program, so it is the only device of a run",
                  "--device");
    }
    return run_on_virtual(request, model);
  }
  const auto telemetry = measure::find_telemetry();
  if (!request.devices.empty() || !telemetry.gpus.empty()) {
    return run_on_cards(request, telemetry, model);
  }
  if (const auto none = has_no_card(); !none) return run_unread(request, model, none.error());
  MeterRequest on_virtual = request;
  on_virtual.chip = device_beside_model(
      request.chip, model != nullptr ? model->provenance().device : std::string());
  if (on_virtual.chip.name.empty()) on_virtual.chip.name = "virtual:w9100";
  log::warn("there is no GPU here, so the program runs on {}: nothing of that is a measurement",
            on_virtual.chip.name);
  return run_on_virtual(on_virtual, model);
}

}  // namespace ww::cli
