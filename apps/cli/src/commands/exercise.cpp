// wirewatt exercise: what a vendor's profiler watches when wirewatt checks a card's counters. Not
// for users, so not in the list of commands.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/microbench/crossing.hpp"
#include "ww/microbench/ladder.hpp"
#include "ww/microbench/traffic_check.hpp"

namespace ww::cli {
namespace {

Result<nlohmann::json> bytes_moved(const microbench::DeviceRequest& device) {
  WW_ASSIGN(report, microbench::run_exercise(device));
  return microbench::to_json(report);
}

Result<nlohmann::json> crossings_moved(const microbench::DeviceRequest& device) {
  constexpr int kRounds = 3;
  WW_ASSIGN(launches, microbench::exercise_crossings(device, kRounds));
  auto rows = nlohmann::json::array();
  for (const microbench::CrossingLaunch& launch : launches) {
    rows.push_back({{"way", launch.far ? "far" : "near"}, {"bytes", launch.bytes}});
  }
  return nlohmann::json{{"kernel", "cross"}, {"launches", rows}};
}

Result<nlohmann::json> ladder_climbed(const microbench::DeviceRequest& device,
                                      const std::string& recording) {
  WW_ASSIGN(launches, microbench::exercise_ladder(device, recording));
  auto rows = nlohmann::json::array();
  for (const microbench::LadderExercise& launch : launches) {
    rows.push_back({{"stream", launch.stream}, {"bits", launch.bits}});
  }
  return nlohmann::json{{"kernel", "ladder"}, {"launches", rows}};
}

}  // namespace

void add_exercise(CLI::App& app, Outcome& outcome) {
  struct Arguments {
    microbench::DeviceRequest device;
    std::string out;
    std::string ladder;
    bool crossings{};
  };
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "exercise", "Run kernels that move a known number of bytes, for a profiler to watch");
  command->group("");
  command->add_option("--device", arguments->device.name, "Device as `wirewatt devices` names it")
      ->required();
  as_output_file(
      command->add_option("-o,--out", arguments->out, "File for what was moved (default: stdout)"));
  command->add_flag("--crossings", arguments->crossings,
                    "Update lines of an L2's near and far side in turn, three times");
  as_input_file(command->add_option("--ladder", arguments->ladder,
                                    "Perform the launches of this recording of `wirewatt ladder`, "
                                    "each a few times"));
  add_random_chip_options(*command, arguments->device);
  command->footer("Example:\n  rocprofv3 ... -- wirewatt exercise --device hip:0 --out moved.json");
  command->callback([arguments, &outcome] {
    arguments->device.clock_control = false;
    const auto report = !arguments->ladder.empty()
                            ? ladder_climbed(arguments->device, arguments->ladder)
                        : arguments->crossings ? crossings_moved(arguments->device)
                                               : bytes_moved(arguments->device);
    if (!report) {
      outcome.exit_code = report_error(report.error());
      return;
    }
    const auto& json = *report;
    if (arguments->out.empty()) {
      print_json(json);
    } else if (const auto status = write_file_atomically(arguments->out, json.dump(1)); !status) {
      outcome.exit_code = report_error(status.error());
    }
  });
}

}  // namespace ww::cli
