#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <regex>
#include <set>

#include "anyway.hpp"
#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "estimate/card_counting.hpp"
#include "estimate/estimate_command.hpp"
#include "estimate/toggles_file.hpp"
#include "floorplan_option.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/named_file.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/microbench/segments.hpp"
#include "ww/model/technology.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/runner/counted_run.hpp"
#include "ww/runner/samples_file.hpp"
#include "ww/runner/sensed_energy.hpp"

namespace ww::cli {
namespace {

// The calibration; of the literature, what is known of an architecture.
Result<std::unique_ptr<calibration::Calibration>> calibration_for(
    const EstimateArguments& arguments, const std::string& architecture) {
  if (arguments.constant == "literature") {
    WW_ASSIGN(model,
              model::literature_model({architecture, arguments.node_nm, arguments.voltage_v}));
    return calibration::calibration_of(std::move(model));
  }
  if (arguments.model.empty()) {
    return fail(ErrorCode::invalid_argument,
                "give --model model.json, or leave --constant calibration out for figures from "
                "literature");
  }
  WW_ASSIGN(model, calibration::load(arguments.model, admission(arguments.anyway)));
  WW_TRY(calibration::refuse_foreign(*model, calibration::Use::estimate, arguments.given));
  if (arguments.node_nm && !model->uses_literature()) {
    return fail(ErrorCode::invalid_argument,
                "goes with --constant literature: a calibration is of its card's node (project "
                "takes it to another)",
                "--node");
  }
  return model;
}

// Whether --arch names a relative whose data sheet stands in for that of the counted part.
bool is_relative(const EstimateArguments& arguments, const std::string& counted) {
  return arguments.constant == "literature" &&
         calibration::of_another_part(arguments.architecture, counted) &&
         model::device_sheet(counted) == nullptr && measure::counter_map(counted) != nullptr &&
         measure::counter_map(counted) == measure::counter_map(arguments.architecture);
}

// Takes registers-L1 from a recording of `wirewatt segments`; what it could not identify stays
// transferred. Error invalid_argument: it is of another device.
Status use_segments(calibration::Calibration& model, const std::string& path) {
  WW_ASSIGN(file, named_file(path, "segments.db", "'wirewatt segments --out FOLDER' writes one"));
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  WW_ASSIGN(fit, microbench::fit_segments(store));
  if (fit.device != model.provenance().device) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("measured on {}, the model on {}; give one of the same device",
                            fit.device, model.provenance().device),
                file.string());
  }
  const Figure& row = fit.registers_l1_per_bit;
  const auto absolute = model::registers_l1_absolute(fit);
  if (row.status != RowStatus::ok || !absolute) {
    log::warn("{}: registers-L1 is {}, so it stays transferred: {}", file.string(),
              to_string(row.status), row.reason);
    return {};
  }
  return model.use_registers_l1(*absolute);
}

// Adds the sensor's energy for the wires' share, or why there is none.
Status add_share(calibration::EstimateRequest& request, const std::vector<std::string>& samples) {
  model::Interval dynamic_j;
  for (const auto& file : samples) {
    const auto energy = runner::dynamic_energy_j(file);
    if (!energy && energy.error().code == ErrorCode::unsupported) {
      request.no_dynamic_reason = energy.error().message;
      return {};
    }
    if (!energy) return tl::unexpected(energy.error());
    dynamic_j = model::together(dynamic_j, *energy);
  }
  request.dynamic_j = dynamic_j;
  return {};
}

Result<std::regex> expression_of_kernels(const std::string& expression) {
  try {
    return std::regex(expression, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is no regular expression: {}", expression, error.what()),
                "--kernels");
  }
}

// Leaves out the launches of kernels whose names do not match.
Status keep_kernels(session::CountedDispatches& counted, const std::string& expression) {
  if (expression.empty()) return {};
  WW_ASSIGN(wanted, expression_of_kernels(expression));
  std::set<std::string> names;
  const auto left_out = std::erase_if(counted.dispatches, [&](const auto& dispatch) {
    names.insert(dispatch.kernel);
    return !std::regex_search(dispatch.kernel, wanted);
  });
  if (counted.dispatches.empty()) {
    constexpr std::size_t kMaxNamed = 5;
    std::vector<std::string> some(names.begin(), names.end());
    if (some.size() > kMaxNamed) some.resize(kMaxNamed);
    return fail(ErrorCode::invalid_argument,
                fmt::format("no kernel matches '{}'; there are {}{}", expression,
                            fmt::join(some, ", "), names.size() > kMaxNamed ? ", ..." : ""),
                "--kernels");
  }
  // The time in which any of the others ran is not known to be theirs.
  if (left_out > 0) counted.busy_s.reset();
  return {};
}

// Takes the time that the user gives for all launches in place of what the files say.
Status use_time(Application& done, std::optional<double> time_s) {
  done.request.options.busy_s = done.counted.busy_s;
  if (!time_s) return {};
  if (!(*time_s > 0)) return fail(ErrorCode::invalid_argument, "must be above 0 s", "--time");
  done.request.options.busy_s = time_s;
  for (auto& kernel : done.traffic.kernels) {
    kernel.time_s.reset();
    kernel.time_reason = "--time gives that of all launches together";
  }
  return {};
}

// Sets the assumptions about the data.
Status use_data(calibration::EstimateRequest& request, const EstimateArguments& arguments) {
  model::EstimateOptions& options = request.options;
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
  request.toggle_rate = arguments.toggle_rate;
  request.literature_node_nm = arguments.node_nm;
  request.anyway = arguments.anyway;
  return {};
}

// Returns the program's device: the one that was named, else the calibration's virtual chip,
// else a card, else the virtual GPU.
Result<microbench::DeviceRequest> device_of_program(const EstimateArguments& arguments,
                                                    const std::string& calibrated) {
  microbench::DeviceRequest device = device_beside_model(arguments.device, calibrated);
  if (arguments.command.empty() || !device.name.empty()) return device;
  WW_ASSIGN(choice, microbench::choose_device(device.need));
  device.name = choice.name;
  return device;
}

// Counts the program on a real card. What can be refused is refused before it runs.
Result<session::CountedDispatches> count_program(const EstimateArguments& arguments,
                                                 const std::string& device,
                                                 const calibration::Provenance& calibrated,
                                                 Application& done) {
  WW_ASSIGN(card, microbench::look_up_device(device));
  auto planned = plan_counting(card, arguments.architecture, arguments.command);
  const std::string architecture = planned ? planned->architecture : arguments.architecture;
  if (arguments.constant == "literature") {
    if (!architecture.empty()) WW_TRY(calibration_for(arguments, architecture));
  } else if (!arguments.anyway) {
    WW_TRY(calibration::require_same_part(
        calibrated_part(calibrated.device, calibrated.target), architecture, card.name, "a bit",
        "name the calibrated one with --device, or give --anyway"));
  }
  if (!planned) return tl::unexpected(planned.error());
  planned->kernels = arguments.kernels;
  if (arguments.limit_s) {
    planned->limit = std::chrono::milliseconds(std::llround(1e3 * *arguments.limit_s));
  }
  log::info("{}", to_text(*planned, arguments.command));
  done.device = card.name;
  WW_ASSIGN(counted, count_on_card(*planned, arguments.command, arguments.json));
  done.program_exit_code = counted.exit_code;
  return std::move(counted.counted);
}

// The sensor's view of each kernel, and what only `wirewatt score` reads.
Status add_run(Application& done, const runner::CountedRun& ran,
               const EstimateArguments& arguments) {
  WW_TRY(add_share(done.request, ran.samples));
  // Kernels of several processes share the chip's time in no order that their files show.
  if (ran.samples.size() == 1 && ran.counters.size() == 1) {
    WW_ASSIGN(samples, runner::read_samples_file(ran.samples.front()));
    session::LaunchLog log;
    if (log.add(done.counted.dispatches)) {
      done.sensed = session::kernel_energies(log, samples.series, arguments.response.sensor());
    }
  }
  for (const auto& file : ran.sealed) {
    WW_ASSIGN(text, read_file(file));
    done.sealed += text;
  }
  return {};
}

}  // namespace

Result<Application> read_application(const EstimateArguments& arguments) {
  if (arguments.counters.empty() == arguments.command.empty()) {
    return fail(ErrorCode::invalid_argument,
                arguments.counters.empty()
                    ? "give a profile (a file or a folder), or a program after --"
                    : "give counter files or a program after --, not both");
  }
  WW_TRY(check_timeline_files(arguments.timeline));
  if (!arguments.kernels.empty()) WW_TRY(expression_of_kernels(arguments.kernels));
  const bool literature = arguments.constant == "literature";
  Application done;
  if (!literature) {
    WW_ASSIGN(model, calibration_for(arguments, ""));
    done.model = std::move(model);
  }
  calibration::Provenance calibrated =
      literature ? calibration::Provenance{} : assumed_of(done.model->provenance());
  WW_ASSIGN(device, device_of_program(arguments, calibrated.device));
  std::optional<runner::CountedRun> ran;
  auto files = arguments.counters;
  const bool on_card = !arguments.command.empty() && !DeviceName(device.name).is_virtual();
  if (arguments.limit_s && !on_card) {
    return fail(ErrorCode::invalid_argument, "is for a program that is counted on a card",
                "--limit");
  }
  if (on_card) {
    WW_ASSIGN(counted, count_program(arguments, device.name, calibrated, done));
    done.counted = std::move(counted);
    files = {arguments.command.front()};
  } else {
    if (!arguments.command.empty()) {
      WW_ASSIGN(run, runner::run_counted(device, arguments.command,
                                         {.sealed = arguments.sealed, .quiet = arguments.json}));
      done.program_exit_code = run.exit_code;
      done.device = device.name;
      files = run.counters;
      ran.emplace(std::move(run));
      calibrated.assumed_architecture = runner::chip_generation(device);
    }
    WW_ASSIGN(counted, session::read_dispatches(files, arguments.architecture.empty()
                                                           ? calibrated.assumed_architecture
                                                           : arguments.architecture));
    done.counted = std::move(counted);
  }
  WW_TRY(keep_kernels(done.counted, arguments.kernels));
  const std::string& named = done.counted.named_architecture;
  const bool relative = is_relative(arguments, named);
  if (!relative) {
    WW_TRY(calibration::require_named_part(arguments.architecture, named, files.front()));
  }
  WW_ASSIGN(traffic, session::application_traffic(done.counted, files.front()));
  done.traffic = std::move(traffic);
  if (literature) {
    WW_ASSIGN(model, calibration_for(
                         arguments, relative ? arguments.architecture : done.traffic.architecture));
    done.model = std::move(model);
  } else {
    done.request.part = calibrated_part(calibrated.device, calibrated.target);
  }
  if (!arguments.floorplan.empty()) {
    WW_ASSIGN(floorplan, named_floorplan(arguments.floorplan));
    WW_TRY(done.model->use_floorplan(floorplan));
  }
  if (!arguments.segments.empty()) WW_TRY(use_segments(*done.model, arguments.segments));
  WW_TRY(use_data(done.request, arguments));
  WW_TRY(use_time(done, arguments.time_s));
  done.request.shown_kernels = arguments.shown_kernels;
  if (ran) {
    WW_TRY(add_run(done, *ran, arguments));
    done.samples = ran->samples;
    done.run_folder = std::make_unique<ScratchFolder>(std::move(ran->folder));
  }
  return done;
}

}  // namespace ww::cli
