#include <fmt/format.h>

#include "anyway.hpp"
#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "estimate/estimate_command.hpp"
#include "estimate/toggles_file.hpp"
#include "timeline_option.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/log.hpp"
#include "ww/core/named_file.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/microbench/segments.hpp"
#include "ww/model/technology.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/runner/counted_run.hpp"
#include "ww/runner/samples_file.hpp"
#include "ww/runner/sensed_energy.hpp"
#include "ww/session/same_part.hpp"

namespace ww::cli {
namespace {

Result<model::WireModel> wire_model(const EstimateArguments& arguments,
                                    const std::string& architecture) {
  if (arguments.constant == "literature") {
    model::LiteratureRequest request;
    request.architecture = architecture;
    request.node_nm = arguments.node_nm;
    request.voltage_v = arguments.voltage_v;
    return model::literature_model(request);
  }
  if (arguments.model.empty()) {
    return fail(ErrorCode::invalid_argument,
                "give --model model.json, or --constant literature for a device without one");
  }
  return model::load_wire_model(arguments.model, flagged_model(arguments.anyway));
}

// Whether --arch names a relative whose data sheet stands in for that of the counted part.
bool is_relative(const EstimateArguments& arguments, const std::string& counted) {
  return arguments.constant == "literature" &&
         session::of_another_part(arguments.architecture, counted) &&
         model::device_sheet(counted) == nullptr && measure::counter_map(counted) != nullptr &&
         measure::counter_map(counted) == measure::counter_map(arguments.architecture);
}

// Takes registers-L1 from a recording of `wirewatt segments`; what it could not identify stays
// transferred. Error invalid_argument: it is of another device.
Status use_segments(model::WireModel& model, const std::string& path) {
  WW_ASSIGN(file, named_file(path, "segments.db", "'wirewatt segments --out FOLDER' writes one"));
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  WW_ASSIGN(fit, microbench::fit_segments(store));
  if (fit.device != model.device) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("measured on {}, the model on {}; give one of the same device",
                            fit.device, model.device),
                file.string());
  }
  const ResultRow& row = fit.registers_l1_per_bit;
  const auto absolute = model::registers_l1_absolute(fit);
  if (row.status != RowStatus::ok || !absolute) {
    spdlog::warn("{}: registers-L1 is {}, so it stays transferred: {}", file.string(),
                 to_string(row.status), row.reason);
    return {};
  }
  model.registers_l1_fj_per_bit = *absolute;
  return {};
}

// The launches with their shares of the estimate, and the sensor's readings if the program ran
// here.
Status write_estimate_timeline(const EstimateArguments& arguments, const Estimated& done,
                               const std::string& device_name,
                               const session::CountedDispatches& counted,
                               const model::EstimateOptions& options,
                               const std::vector<std::string>& samples) {
  const bool ran = !arguments.command.empty();
  timeline::TimelineDevice device;
  device.name = !ran ? counted.architecture : device_name.empty() ? "virtual:w9100" : device_name;
  device.is_virtual = done.is_virtual();
  device.misfit = done.model.misfit;
  device.architecture = counted.architecture;
  timeline::Timeline timeline(std::move(device));
  WW_TRY(timeline.add_launches(counted.dispatches,
                               {done.model, options, done.estimate, counted.architecture}));
  WW_TRY(add_sensor_files(timeline, samples));
  return save_timeline(timeline, arguments.timeline);
}

// The wires' share of what the sensor saw, or why there is none.
Status add_share(model::Estimate& estimate, const std::vector<std::string>& samples) {
  model::Interval dynamic_j;
  for (const auto& file : samples) {
    const auto energy = runner::dynamic_energy_j(file);
    if (!energy && energy.error().code == ErrorCode::unsupported) {
      estimate.share_reason = energy.error().message;
      return {};
    }
    if (!energy) return tl::unexpected(energy.error());
    dynamic_j = model::together(dynamic_j, *energy);
  }
  model::add_dynamic_energy(estimate, dynamic_j);
  return {};
}

}  // namespace

Result<Estimated> run_estimate(const EstimateArguments& arguments) {
  if (arguments.counters.empty() == arguments.command.empty()) {
    return fail(ErrorCode::invalid_argument,
                "give counter files (--counters FILE...) or a program after --, not both");
  }
  WW_TRY(check_timeline_files(arguments.timeline));
  std::string architecture = arguments.architecture;
  Estimated done;
  if (arguments.constant != "literature") {
    WW_ASSIGN(model, wire_model(arguments, architecture));
    done.model = std::move(model);
    if (architecture.empty() && done.model.is_virtual) architecture = calibrated_part(done.model);
  }
  const microbench::DeviceRequest device = device_beside_model(arguments.device, done.model.device);
  std::optional<runner::CountedRun> ran;
  auto files = arguments.counters;
  if (!arguments.command.empty()) {
    // A program runs on a virtual GPU; a real card's profiler writes the files for --counters.
    WW_ASSIGN(run, runner::run_counted(device, arguments.command,
                                       {.sealed = arguments.sealed, .quiet = arguments.json}));
    done.program_exit_code = run.exit_code;
    files = run.counters;
    ran.emplace(std::move(run));
    if (arguments.architecture.empty()) architecture = runner::chip_generation(device);
  }
  WW_ASSIGN(counted, session::read_dispatches(files, architecture));
  const bool relative = is_relative(arguments, counted.named_architecture);
  if (!relative) {
    WW_TRY(session::require_named_part(arguments.architecture, counted.named_architecture,
                                       files.front()));
  }
  auto traffic = session::count_traffic(counted.dispatches, counted.architecture);
  if (!traffic) {
    traffic.error().context = files.front();
    return tl::unexpected(traffic.error());
  }
  done.traffic = std::move(*traffic);
  WW_TRY(session::require_same_part(calibrated_part(done.model), done.traffic.architecture,
                                    files.front(), "a bit", "or use --constant literature"));
  if (arguments.constant == "literature") {
    WW_ASSIGN(model,
              wire_model(arguments, relative ? arguments.architecture : done.traffic.architecture));
    done.model = std::move(model);
  }
  if (!arguments.floorplan.empty()) {
    WW_ASSIGN(floorplan, model::load_floorplan(arguments.floorplan));
    WW_TRY(model::use_floorplan(done.model, floorplan));
  }
  if (!arguments.segments.empty()) WW_TRY(use_segments(done.model, arguments.segments));
  model::EstimateOptions options;
  if (!arguments.toggles.empty()) {
    WW_TRY(use_toggles(options, arguments.toggles));
  } else if (!arguments.dumps.empty()) {
    WW_TRY(use_dumps(options, arguments.dumps));
  } else if (arguments.toggle_rate) {
    options.data = model::data_at_rate(*arguments.toggle_rate);
  }
  options.use_monitors =
      arguments.toggles.empty() && arguments.dumps.empty() && !arguments.assume_toggles;
  options.voltage_v = arguments.voltage_v;
  options.busy_s = counted.busy_s;
  done.options = options;
  done.io_dies = session::count_io_dies(counted.dispatches);
  WW_ASSIGN(estimate, model::estimate(done.model, done.traffic.kernels, options));
  done.estimate = std::move(estimate);
  if (arguments.timeline.wanted()) {
    const auto samples = ran ? ran->samples : std::vector<std::string>();
    WW_TRY(write_estimate_timeline(arguments, done, device.name, counted, options, samples));
  }
  if (ran) {
    WW_TRY(add_share(done.estimate, ran->samples));
    // Kernels of several processes share the chip's time in no order that their files show.
    if (ran->samples.size() == 1 && ran->counters.size() == 1) {
      WW_ASSIGN(samples, runner::read_samples_file(ran->samples.front()));
      session::LaunchLog log;
      if (log_launches(log, counted.dispatches)) {
        done.sensed = session::kernel_energies(log, samples.series, arguments.response.sensor());
      }
    }
    for (const auto& file : ran->sealed) {
      WW_ASSIGN(text, read_file(file));
      done.sealed += text;
    }
  }
  return done;
}

}  // namespace ww::cli
