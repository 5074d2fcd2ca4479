#include "ww/workloads/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "simulate/timing_options.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/progress.hpp"

namespace ww::cli {
namespace {

struct WorkloadArguments {
  workloads::Request request;
  TimingArguments timing;
  std::string size{"small"};
  bool all{};
  bool json{};
};

int run_list(bool json) {
  if (json) {
    auto entries = nlohmann::json::array();
    for (const auto& info : workloads::list()) {
      nlohmann::json entry{{"name", info.name},
                           {"paper", info.paper},
                           {"suite", info.suite},
                           {"stresses", info.stresses}};
      if (!info.extents.of.empty()) {
        entry["sizes"] = {{"of", info.extents.of}, {"at", info.extents.at}};
      }
      entries.push_back(std::move(entry));
    }
    print_json({{"workloads", entries}});
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"WORKLOAD", "PAPER", "SUITE", "STRESSES"}};
  for (const auto& info : workloads::list()) {
    rows.push_back({std::string(info.name), std::string(info.paper), std::string(info.suite),
                    std::string(info.stresses)});
  }
  print_table(rows);
  return 0;
}

nlohmann::json to_json(const workloads::Report& report) {
  return {{"name", report.name},
          {"status", workloads::to_string(report.outcome)},
          {"reason", report.reason},
          {"seconds", report.seconds},
          {"launches", report.launches},
          {"launch_cpu_seconds", report.launch_cpu_seconds},
          {"launch_wall_seconds", report.launch_wall_seconds},
          {"l1_l2_read_bytes", report.read_bytes},
          {"l1_l2_write_bytes", report.write_bytes},
          {"l1_l2_atomic_bytes", report.atomic_bytes}};
}

int run_workloads(WorkloadArguments& arguments) {
  const auto input = workloads::input_from_string(arguments.size);
  if (!input) return report_error(input.error());
  arguments.request.input = *input;
  if (arguments.all == !arguments.request.names.empty()) {
    return report_error(
        {ErrorCode::invalid_argument, "name workloads, or say --all", "workloads run"});
  }
  if (arguments.request.device.empty()) {
    // Below `wirewatt run, estimate or score --device D` they run on D.
    const char* chip = std::getenv("WIREWATT_CHIP");
    const char* usual = arguments.timing.timing() ? "dapper" : "w9100";
    arguments.request.device = virtual_device_name(chip != nullptr && *chip != '\0' ? chip : usual);
  }
  microbench::DeviceRequest device;
  device.name = arguments.request.device;
  auto settings = sim::read_driver_settings();
  if (!settings) return report_error(settings.error());
  if (const auto entered = enter_mode(arguments.timing, device, *settings); !entered) {
    return report_error(entered.error());
  }
  const auto passed = sim::ScopedDriverSettings::apply(*settings);
  if (!passed) return report_error(passed.error());
  const auto total = static_cast<double>(arguments.all ? workloads::list().size()
                                                       : arguments.request.names.size());
  double done = 0;
  Progress progress("running", "workloads");
  const auto batch = workloads::run(arguments.request, [&](const workloads::Report& report) {
    progress.update(++done, total, report.name);
  });
  progress.finish();
  if (!batch) return report_error(batch.error());

  const bool good = std::ranges::all_of(batch->reports, [](const auto& report) {
    return report.outcome == workloads::Outcome::pass ||
           report.outcome == workloads::Outcome::approximate;
  });
  if (arguments.json) {
    auto entries = nlohmann::json::array();
    for (const auto& report : batch->reports) entries.push_back(to_json(report));
    nlohmann::json json{{"workloads", entries},
                        {"size", arguments.size},
                        {"device", batch->device},
                        {"virtual", batch->is_virtual}};
    if (!batch->timing_report.empty()) {
      json["timing"] = nlohmann::json::parse(batch->timing_report);
    }
    print_json(json);
    return good ? 0 : 1;
  }
  fmt::print("{}{}, inputs of size {}\n", batch->device,
             batch->is_virtual ? " (virtual, not a measurement)" : "", arguments.size);
  std::vector<std::vector<std::string>> rows{
      {"WORKLOAD", "STATUS", "SECONDS", "LAUNCHES", "READ B", "WRITTEN B", "ATOMIC B", ""}};
  for (const auto& report : batch->reports) {
    rows.push_back({report.name, std::string(workloads::to_string(report.outcome)),
                    fmt::format("{:.2f}", report.seconds), std::to_string(report.launches),
                    fmt::format("{:.0f}", report.read_bytes),
                    fmt::format("{:.0f}", report.write_bytes),
                    fmt::format("{:.0f}", report.atomic_bytes), report.reason});
  }
  print_table(rows);
  return good ? 0 : 1;
}

}  // namespace

void add_workloads(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("workloads", "List and run the papers' applications (OpenCL)");
  command->require_subcommand(1);
  command->footer("Example:\n  wirewatt workloads run --all --size small");

  auto* list = command->add_subcommand(
      "list", "List each application with its paper, its suite and what it stresses");
  auto list_json = std::make_shared<bool>(false);
  list->add_flag("--json", *list_json, "Machine-readable output on stdout");
  list->footer("Example:\n  wirewatt workloads list --json");
  list->callback([list_json, &outcome] { outcome.exit_code = run_list(*list_json); });

  auto* run = command->add_subcommand(
      "run", "Run them, check results against the CPU and traffic against the counters");
  auto arguments = std::make_shared<WorkloadArguments>();
  run->add_option("names", arguments->request.names, "Which, as 'workloads list' names them");
  run->add_flag("--all", arguments->all, "All of them");
  run->add_option(
         "--size", arguments->size,
         "Inputs of the applications: small, medium, paper (fills the chip), suite, or a number")
      ->capture_default_str();
  run->add_option(
      "--device", arguments->request.device,
      "As 'wirewatt devices' lists them (virtual:w9100; in timing mode virtual:dapper)");
  add_timing_options(*run, arguments->timing);
  as_output_folder(run->add_option(
      "-o,--out", arguments->request.output_folder,
      "Write each result array to this folder: NAME.N.raw, and NAME.N.json about it"));
  run->add_flag(
      "--time-launches", arguments->request.time_launches,
      "Wait for each launch; their time is launch_cpu_seconds and launch_wall_seconds of --json");
  run->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  run->footer(
      "Examples:\n  wirewatt workloads run dct bfs --size small\n"
      "  wirewatt workloads run dct --mode timing --network mesh --json");
  run->callback([arguments, &outcome] { outcome.exit_code = run_workloads(*arguments); });
}

}  // namespace ww::cli
