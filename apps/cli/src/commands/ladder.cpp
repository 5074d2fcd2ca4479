// wirewatt ladder: what a bit costs from each level of the memory's hierarchy.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/progress.hpp"
#include "ww/microbench/ladder.hpp"
#include "ww/report/report.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

struct LadderArguments {
  microbench::LadderRequest request;
  std::string out;
  bool json{};
  const CLI::App* command{};
};

// Takes from the recording the options that the command line leaves out.
Status take_from_recording(LadderArguments& arguments) {
  microbench::LadderRequest& request = arguments.request;
  if (arguments.out.empty()) {
    return fail(ErrorCode::invalid_argument, "needs --out, the folder of the recording to continue",
                "--resume");
  }
  WW_ASSIGN(plan, take_recorded(request.folder / microbench::kLadderFile, *arguments.command,
                                request.device, request.seed));
  if (!plan.is_object()) return {};
  request.quick = request.quick || plan.value("quick", false);
  if (arguments.command->count("--data") == 0) request.data = plan.value("data", request.data);
  if (arguments.command->count("--most-mib") == 0) {
    request.most_mib = plan.value("most_mib", request.most_mib);
  }
  return {};
}

Result<calibration::Fitted> fit_and_report(const LadderArguments& arguments,
                                           const microbench::CampaignSummary& summary) {
  const fs::path folder = arguments.out;
  WW_ASSIGN(store, CampaignStore::open_read_only(folder / microbench::kLadderFile));
  WW_ASSIGN(fitted, calibration::fit(store, {{}, {}, folder}));
  WW_TRY(write_file_atomically(folder / fitted.file, fitted.contents));
  WW_TRY(report::write_report(folder, folder / "report.html"));
  fitted.answer.json["elapsed_s"] = summary.elapsed_s;
  fitted.answer.json["folder"] = arguments.out;
  fitted.answer.text.emplace_back(fmt::format("took         {}\nreport       {}",
                                              human_duration(summary.elapsed_s),
                                              (folder / "report.html").string()));
  return fitted;
}

int run(LadderArguments arguments) {
  microbench::LadderRequest& request = arguments.request;
  request.folder = arguments.out;
  const Status ready = request.resume ? take_from_recording(arguments)
                       : arguments.out.empty()
                           ? Status()
                           : refuse_foreign_model(arguments.out, microbench::kLadderFile);
  if (!ready) return report_error(ready.error());
  if (request.device.name.empty()) {
    auto chosen = microbench::choose_device(request.device.need);
    if (!chosen) return report_error(chosen.error());
    request.device.name = std::move(chosen->name);
  }
  if (arguments.out.empty()) {
    arguments.out = new_folder("ladder", request.device.name);
    request.folder = arguments.out;
  }
  int exit_code = 0;
  const auto summary = record("climbing the ladder", "runs", resumed_by("ladder", arguments.out),
                              exit_code, [&](const microbench::ProgressFunction& progress) {
                                return microbench::run_ladder(request, progress);
                              });
  if (!summary) return exit_code;
  const auto fitted = fit_and_report(arguments, *summary);
  if (!fitted) return report_error(fitted.error());
  show(fitted->answer, arguments.json);
  return fitted->identified ? 0 : 1;
}

}  // namespace

void add_ladder(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "ladder", "Measure the energy of a bit from L1, L2, caches behind and memory");
  auto arguments = std::make_shared<LadderArguments>();
  arguments->command = command;
  auto& request = arguments->request;
  request.device.need = need_of("ladder");
  command->add_option("--device", request.device.name,
                      "Device as `wirewatt devices` names it; default: the best real GPU, else "
                      "virtual:w9100");
  as_output_folder(command->add_option(
      "-o,--out", arguments->out,
      "Folder for ladder.db, ladder.json, report.html (default: named after device and time)"));
  command->add_flag("--quick", request.quick, "Do fewer and shorter runs");
  command->add_option("--seed", request.seed, "Seed of the run order")->capture_default_str();
  command
      ->add_option("--data", request.data,
                   "Data beside random bits and zeros, of another toggle rate")
      ->capture_default_str();
  command->add_option("--most-mib", request.most_mib,
                      "Largest working set [MiB] (default: by the device's memory)");
  command->add_flag("--resume", request.resume,
                    "Continue the recording in --out, with its device, seed and mode");
  add_random_chip_options(*command, request.device);
  command->add_flag_callback(
      "--no-clock-control", [arguments] { arguments->request.device.clock_control = false; },
      "Real GPUs: never touch the clocks");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt ladder --device virtual:w9100 --quick --out ladder\n"
      "  wirewatt ladder --resume --out ladder\n"
      "  wirewatt estimate --model ladder/ladder.json --counters counters.csv");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
