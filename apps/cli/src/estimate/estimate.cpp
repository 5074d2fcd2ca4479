// wirewatt estimate: what the on-chip wires draw in an application, from its counters.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "anyway.hpp"
#include "build_version.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "estimate/estimate_command.hpp"
#include "given_options.hpp"
#include "open_page.hpp"
#include "option.hpp"
#include "output.hpp"
#include "timeline_option.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/log.hpp"
#include "ww/report/pages.hpp"
#include "ww/session/profile_files.hpp"
#include "ww/study/power_regression.hpp"

namespace ww::cli {
namespace {

void print_regression(const nlohmann::json& result) {
  fmt::print("{}: {} kernels, R2 {:.3f}, residual {:.3g} W, condition {:.3g}\n",
             result["device"].get<std::string>(), result["kernels"].get<int>(),
             result["r_squared"].get<double>(), result["residual_w"].get<double>(),
             result["condition"].get<double>());
  std::vector<std::vector<std::string>> rows{
      {"TERM", "W", "LOW", "HIGH", "INFLATION", "STATUS", ""}};
  for (const auto& row : result["coefficients"]) {
    rows.push_back({row["name"], fmt::format("{:.4g}", row["value"].get<double>()),
                    fmt::format("{:.4g}", row["low"].get<double>()),
                    fmt::format("{:.4g}", row["high"].get<double>()),
                    fmt::format("{:.3g}", row["inflation"].get<double>()), row["status"],
                    row["reason"]});
  }
  print_table(rows);
  fmt::print("interconnect: {}: {}\n", result["interconnect"]["status"].get<std::string>(),
             result["interconnect"]["reason"].get<std::string>());
  std::vector<std::vector<std::string>> sectors{
      {"LEVEL", "pJ/SECTOR", "LOW", "HIGH", "STATUS", "ACCELWATTCH"}};
  const auto range = [](const nlohmann::json& boost, const nlohmann::json& base) {
    return boost.is_null()
               ? std::string("-")
               : fmt::format("{:.0f} to {:.0f}", boost.get<double>(), base.get<double>());
  };
  for (const auto& level : result["sectors"]) {
    sectors.push_back({level["name"],
                       range(level["pj_per_sector_at_boost"], level["pj_per_sector_at_base"]),
                       fmt::format("{:.0f}", level["low"].get<double>()),
                       fmt::format("{:.0f}", level["high"].get<double>()), level["status"],
                       range(level["accelwattch_pj_at_boost"], level["accelwattch_pj_at_base"])});
  }
  fmt::print(
      "energies of a sector of 32 B, at clocks of 1.63 to 1.13 GHz, which the tables do not "
      "state:\n");
  print_table(sectors);
}

// A file without "--" before it that can be neither counted nor run.
Status refuse_plain_file(const std::string& name) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(name, ec) || ::access(name.c_str(), X_OK) == 0) return {};
  return fail(ErrorCode::invalid_argument,
              "is neither a profile (a folder, .csv or .db; name others with --counters) nor a "
              "program",
              name);
}

// Takes words before "--" as the profile, and the literature where no calibration is named.
Status complete(EstimateArguments& arguments, bool has_separator) {
  const bool profile = !has_separator && !arguments.command.empty() &&
                       session::names_profile(arguments.command.front());
  if (profile) {
    for (const std::string& word : std::exchange(arguments.command, {})) {
      WW_ASSIGN(files, session::profile_files(word));
      std::ranges::move(files, std::back_inserter(arguments.counters));
    }
  }
  if (!has_separator && !arguments.command.empty()) {
    WW_TRY(refuse_plain_file(arguments.command.front()));
  }
  std::vector<std::string> counters;
  for (const std::string& path : arguments.counters) {
    if (std::error_code ec; !std::filesystem::is_directory(path, ec)) {
      counters.push_back(path);
      continue;
    }
    WW_ASSIGN(files, session::profile_files(path));
    std::ranges::move(files, std::back_inserter(counters));
  }
  arguments.counters = std::move(counters);
  if (arguments.constant.empty()) {
    arguments.constant = arguments.model.empty() ? "literature" : "calibration";
  }
  return {};
}

// Options that nothing would read beside the others.
Status refuse_unread_options(const EstimateArguments& arguments) {
  const bool literature = arguments.constant == "literature";
  struct Unread {
    bool given;
    const char* option;
    const char* why;
  };
  for (const Unread& one :
       {Unread{!arguments.power.file.empty() && !arguments.timeline.wanted(), "--power",
               "is drawn into --timeline or --rocpd, of which neither is given"},
        Unread{!arguments.power.file.empty() && arguments.counters.empty(), "--power",
               "is a recording of the run that a profile is of; a program that runs here has its "
               "sensor's readings"},
        Unread{!arguments.power.metric.empty() && arguments.power.file.empty(), "--power-metric",
               "chooses a metric of --power, which is not given"},
        Unread{literature && !arguments.model.empty(), "--model",
               "does not go with --constant literature, which has its own energies"},
        Unread{!arguments.device.name.empty() && !arguments.counters.empty(), "--device",
               "is what a program runs on, and does not go with --counters"},
        Unread{arguments.response.given() && !arguments.counters.empty(), "--window, --lag",
               "are of the sensor's readings while a program runs, and do not go with "
               "--counters"}}) {
    if (one.given) return fail(ErrorCode::invalid_argument, one.why, one.option);
  }
  return {};
}

int show_regression(const EstimateArguments& arguments) {
  if (arguments.timeline.wanted()) {
    return report_error({ErrorCode::invalid_argument,
                         "AccelWattch's tables have no kernels over time", "--timeline"});
  }
  const auto result = study::regress_accelwattch(arguments.accelwattch);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
  } else {
    print_regression(*result);
  }
  return 0;
}

// The launches with their shares of the estimate, and the sensor's readings if the program ran
// here.
Status write_estimate_timeline(const EstimateArguments& arguments, const Application& done) {
  const bool ran = !arguments.command.empty();
  const model::WireModel& wires = *done.model->wires();
  WW_ASSIGN(estimate, model::estimate(wires, done.traffic.kernels, done.request.options));
  timeline::TimelineDevice device;
  device.name = !ran                  ? done.traffic.architecture
                : done.device.empty() ? "virtual:w9100"
                                      : done.device;
  device.is_virtual = wires.is_virtual || done.traffic.is_virtual;
  device.misfit = wires.misfit;
  device.architecture = done.traffic.architecture;
  timeline::Timeline timeline(std::move(device));
  WW_TRY(timeline.add_launches(done.counted.dispatches,
                               {wires, done.request.options, estimate, done.traffic.architecture}));
  WW_TRY(add_sensor_files(timeline, done.samples));
  WW_TRY(add_recorded_power(timeline, arguments.power, done.counted.dispatches));
  return save_timeline(timeline, arguments.timeline);
}

// The answer with the files that it is from, for a page that is passed on.
nlohmann::json with_origin(nlohmann::json answer, const EstimateArguments& arguments) {
  answer["files"] = arguments.counters;
  answer["wirewatt_version"] = build_version();
  std::error_code ec;
  if (arguments.counters.empty()) return answer;
  const auto time = std::filesystem::last_write_time(arguments.counters.front(), ec);
  if (ec) return answer;
  const auto seconds =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(time));
  answer["written_utc"] = fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(seconds));
  return answer;
}

Result<calibration::Answer> estimate(const EstimateArguments& arguments, Application& done) {
  WW_TRY(refuse_unread_options(arguments));
  WW_ASSIGN(read, read_application(arguments));
  done = std::move(read);
  WW_ASSIGN(answer, done.model->estimate(done.traffic, done.request));
  put_kernel_joules(answer.json, done.sensed);
  if (arguments.timeline.wanted()) WW_TRY(write_estimate_timeline(arguments, done));
  if (!arguments.report.empty()) {
    WW_TRY(report::write_estimate_page(with_origin(answer.json, arguments), arguments.report));
  }
  return answer;
}

int run(const EstimateArguments& arguments) {
  if (!arguments.accelwattch.empty()) return show_regression(arguments);
  Application done;
  auto answer = estimate(arguments, done);
  if (!answer) return report_error(answer.error());
  const auto lacking = std::exchange(answer->lacking, std::nullopt);
  show(*answer, arguments.json);
  if (!arguments.json) {
    if (const auto rows = kernel_joules_rows(done.sensed); !rows.empty()) {
      fmt::print("energy of the whole chip above rest, by the times of the launches:\n");
      print_table(rows);
    }
  }
  const int shown = arguments.open ? open_page(arguments.report) : 0;
  const int bad = lacking ? report_error(*lacking) : shown;
  return done.program_exit_code != 0 ? done.program_exit_code : bad;
}

}  // namespace

void add_estimate(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("estimate", "Estimate an application's joules and watts in on-chip wires");
  auto arguments = std::make_shared<EstimateArguments>();
  arguments->device.need = need_of("estimate");
  as_input_file(command->add_option("--model", arguments->model,
                                    "model.json or crossing.json of a calibration, or its folder"));
  add_anyway_option(*command, arguments->anyway, kAlsoOtherParts);
  command
      ->add_option("--constant", arguments->constant,
                   "calibration (needs --model) or literature: published wires, scaled (default: "
                   "the calibration if --model names one)")
      ->check(CLI::IsMember({"calibration", "literature"}));
  as_input_file(command->add_option("--segments", arguments->segments,
                                    "segments.db of `wirewatt segments`, or its folder: "
                                    "registers-L1 as measured, not transferred"));
  as_input_file(command->add_option("--counters", arguments->counters,
                                    "Profiler CSV files: rocprof, rocprofv3, ncu, wirewatt run"));
  command->add_option("-k,--kernels", arguments->kernels,
                      "Only kernels whose names match this regular expression");
  command
      ->add_option(
          "--limit", arguments->limit_s,
          "Cards: end a counted run that takes longer [s] (default: none): kernels run one at a "
          "time there, and those that wait for one another never end")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--top", arguments->shown_kernels,
                   "How many kernels the tables show, those with most energy first; the page and "
                   "--json have all")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--time", arguments->time_s,
                      "Time of all counted launches together [s] (default: as the files say)");
  command->add_option("--arch", arguments->architecture,
                      "gfx90a, sm_80, ... where the files do not say");
  as_input_file(
      command->add_option("--floorplan", arguments->floorplan,
                          "Distances from this floorplan: a name (w9100, mi210, ...) or a file"));
  command
      ->add_option("--node", arguments->node_nm,
                   "literature: technology node, as 7 or 7nm (default: the part's)")
      ->transform(kNanometres);
  command->add_option("--voltage", arguments->voltage_v,
                      "Core voltage of the run [V] (default: the model's; literature: the node's)");
  auto* toggles = command->add_option("--toggles", arguments->toggles,
                                      "Toggles of the program's data by kernel: a file of "
                                      "`wirewatt toggles`");
  auto* dumps = command
                    ->add_option("--toggles-from", arguments->dumps,
                                 "Toggles of the program's data: dumps of its buffers, as they lie "
                                 "in memory")
                    ->excludes(toggles);
  as_input_file(toggles);
  as_input_file(dumps);
  command
      ->add_option(
          "--toggle-rate", arguments->toggle_rate,
          "Toggles per payload bit where no monitor counts them, if you know it (default: what "
          "applications do, in the interval)")
      ->excludes(toggles)
      ->excludes(dumps);
  command->add_flag("--assume-toggles", arguments->assume_toggles,
                    "Use --toggle-rate even where monitors count the toggles");
  command->add_option(
      "--device", arguments->device.name,
      "Device to run the program on, counted there by its profiler (hip:N, cuda:N, gpu:N) or by "
      "the virtual GPU (virtual:NAME); default: the model's virtual chip, else the best card, else "
      "virtual:w9100");
  add_random_chip_options(*command, arguments->device);
  auto* page =
      command->add_option("-o,--out", arguments->report, "Write a page with charts (HTML)");
  as_output_file(page);
  add_open_flag(*command, arguments->open)->needs(page);
  add_timeline_options(*command, arguments->timeline);
  add_recorded_power_options(*command, arguments->power);
  command->add_option("--accelwattch", arguments->accelwattch,
                      "Folder of AccelWattch's GV100 tables, to test whether measured power shows "
                      "an interconnect term");
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command,
                      "A profile (counter file, or the folder of rocprof-compute, rocprofv3 or "
                      "rocpd); or, after --, a program to run and its arguments");
  command->footer(
      "Examples:\n"
      "  wirewatt estimate workloads/app/MI200 -o app.html\n"
      "  wirewatt estimate pmc_perf.csv --arch gfx90a -k gemm --top 5\n"
      "  wirewatt estimate --model first-run/model.json --device virtual:w9100 -- ./app args\n"
      "  wirewatt estimate --model first-run --timeline app.pftrace -- ./app args");
  command->callback([arguments, command, &outcome] {
    arguments->given = given_options(*command);
    const auto completed = complete(*arguments, outcome.has_separator);
    outcome.exit_code = completed ? run(*arguments) : report_error(completed.error());
  });
}

}  // namespace ww::cli
