#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "commands/calibrate_chiplet.hpp"
#include "commands/calibrate_crossing.hpp"
#include "commands/fit_output.hpp"
#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/core/progress.hpp"
#include "ww/microbench/campaign.hpp"
#include "ww/model/stop_rule.hpp"
#include "ww/report/report.hpp"

namespace ww::cli {
namespace {

struct CalibrateArguments {
  microbench::CampaignRequest request;
  std::string out;
  std::optional<double> half_width_percent;
  bool json{};
  bool unpatched{};
  bool dry_run{};
  const CLI::App* command{};
};

// "wirewatt-virtual-w9100-20260131-120000"
std::string default_folder(const std::string& device) {
  std::string name = device.empty() ? "device" : device;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return fmt::format("wirewatt-{}-{:%Y%m%d-%H%M%S}", name, fmt::gmtime(std::time(nullptr)));
}

// How the bytes of a real device's streams are known, in a line; empty where each run's counters
// tell them.
std::string traffic_note(const CampaignStore& campaign) {
  const auto opening = campaign.get(campaign_keys::opening);
  if (!opening || !*opening) return {};
  const auto notes = nlohmann::json::parse(**opening, nullptr, false);
  if (!notes.is_object() || !notes.contains("traffic")) return {};
  const auto check = notes["traffic"].value("check", nlohmann::json());
  if (!check.is_object()) return {};
  if (check.value("verified", false)) {
    return fmt::format("computed from launches; {} agrees within {:.2f}%",
                       check.value("profiler", ""),
                       100 * std::abs(check.value("stream_deviation", 0.0)));
  }
  return "computed from launches, not verified by counters: " + check.value("reason", "");
}

// A calibration whose campaign lies elsewhere, or nowhere any more.
Status refuse_foreign_model(const std::filesystem::path& folder) {
  std::error_code ec;
  if (std::filesystem::exists(folder / "campaign.db", ec)) return {};
  for (const char* name : {"model.json", "crossing.json"}) {
    if (owned_file(folder / name) == OwnedFile::none) continue;
    return fail(ErrorCode::invalid_argument,
                "holds a calibration and is not overwritten; choose another folder with --out",
                (folder / name).string());
  }
  return {};
}

// Options of an interrupted calibration that its campaign does not have.
std::vector<std::string> not_in_campaign(const CalibrateArguments& arguments) {
  std::vector<std::string> words;
  if (arguments.half_width_percent) {
    words = {"--half-width", fmt::format("{}", *arguments.half_width_percent)};
  }
  if (!arguments.request.device.clock_control) words.emplace_back("--no-clock-control");
  return words;
}

// What would be measured and where; nothing is measured or written. A device that the campaign
// would refuse by what can be seen from outside is refused here as well.
int dry_run(CalibrateArguments arguments) {
  auto& device = arguments.request.device;
  if (device.name.empty()) {
    auto chosen = microbench::default_device();
    if (!chosen) return report_error(chosen.error());
    device.name = std::move(*chosen);
  }
  const auto listings = microbench::list_devices();
  if (!listings) return report_error(listings.error());
  // A virtual chip of the user's own is not listed, and neither is a name that no device has.
  microbench::DeviceListing listing{device.name, "a virtual GPU", true, true, ""};
  if (const auto found =
          std::ranges::find(*listings, device.name, &microbench::DeviceListing::name);
      found != listings->end()) {
    listing = *found;
  }
  if (!listing.usable) {
    return report_error({ErrorCode::unsupported, "no campaign can be run on it: " + listing.reason,
                         fmt::format("{} ({})", listing.name, listing.description)});
  }
  const auto crossing = microbench::calibrates_crossings(device);
  if (!crossing) return report_error(crossing.error());
  const auto chiplets = microbench::calibrates_chiplets(device);
  if (!chiplets) return report_error(chiplets.error());
  const char* const campaign = *crossing ? "crossings between the sides of the L2"
                               : *chiplets
                                   ? "every compute die against the I/O dies' caches and memory"
                                   : "every shader engine against every quadrant of the L2";
  const std::string folder = arguments.out.empty() ? default_folder(device.name) : arguments.out;
  if (arguments.json) {
    print_json({{"dry_run", true},
                {"device", listing.name},
                {"description", listing.description},
                {"virtual", listing.is_virtual},
                {"campaign", campaign},
                {"quick", arguments.request.quick},
                {"folder", folder}});
  } else {
    fmt::print(
        "device       {}: {}\ncampaign     {}{}\nfolder       {}\nNothing was measured "
        "(--dry-run).\n",
        listing.name, listing.description, campaign, arguments.request.quick ? ", quick" : "",
        folder);
  }
  return 0;
}

int run(CalibrateArguments arguments) {
  namespace fs = std::filesystem;
  if (arguments.request.resume && arguments.out.empty()) {
    return report_error({ErrorCode::invalid_argument,
                         "--resume needs --out, the folder of the campaign to continue", ""});
  }
  if (arguments.half_width_percent &&
      !(*arguments.half_width_percent > 0 && *arguments.half_width_percent <= 100)) {
    return report_error(
        {ErrorCode::invalid_argument, "must be above 0 and up to 100", "--half-width"});
  }
  arguments.request.folder = arguments.out;
  const Status ready = arguments.request.resume
                           ? take_from_campaign(arguments.request, *arguments.command)
                       : arguments.out.empty() ? Status()
                                               : refuse_foreign_model(arguments.out);
  if (!ready) return report_error(ready.error());
  if (arguments.dry_run) return dry_run(std::move(arguments));
  arguments.request.patch_binary = !arguments.unpatched;
  if (arguments.half_width_percent) {
    arguments.request.half_width = *arguments.half_width_percent / 100;
  }

  // This chooses a device, where none is named.
  const auto crossing = microbench::calibrates_crossings(arguments.request.device);
  if (!crossing) return report_error(crossing.error());
  const auto chiplets = microbench::calibrates_chiplets(arguments.request.device);
  if (!chiplets) return report_error(chiplets.error());
  if (arguments.out.empty()) {
    arguments.out = default_folder(arguments.request.device.name);
    arguments.request.folder = arguments.out;
  }
  if (*crossing || *chiplets) {
    const auto& request = arguments.request;
    const char* const foreign = arguments.unpatched             ? "--unpatched"
                                : !request.mirrored             ? "--no-mirror"
                                : request.nops                  ? "--nops"
                                : arguments.half_width_percent  ? "--half-width"
                                : !request.device.use_floorplan ? "--no-floorplan"
                                                                : nullptr;
    if (foreign != nullptr) {
      return report_error(
          {ErrorCode::invalid_argument,
           fmt::format("{} is for AMD's campaigns of one die; this device's {} "
                       "measured in another way",
                       foreign, *crossing ? "crossing of its L2 is" : "ways between dies are"),
           request.device.name});
    }
    if (*chiplets) {
      return calibrate_chiplet(
          {request.device, request.folder, request.quick, request.seed, request.resume},
          arguments.json);
    }
    CrossingArguments other;
    other.request = {request.device, request.folder, request.quick, request.seed, request.resume};
    other.json = arguments.json;
    return calibrate_crossing(other);
  }

  int exit_code = 0;
  const auto summary = record(
      "calibrating", "runs", resumed_calibration(arguments.out, not_in_campaign(arguments)),
      exit_code, [&](const microbench::ProgressFunction& progress) {
        return microbench::run_campaign(arguments.request, model::sensed_half_width, progress);
      });
  if (!summary) return exit_code;
  const fs::path folder = arguments.out;
  const auto campaign = CampaignStore::open_read_only(folder / "campaign.db");
  if (!campaign) return report_error(campaign.error());
  model::FitOptions options;
  options.seed = arguments.request.seed;
  const auto fit = model::fit_campaign(*campaign, options);
  if (!fit) return report_error(fit.error());
  if (const auto status = model::write_model(folder / "model.json", *fit); !status) {
    return report_error(status.error());
  }
  if (const auto status = report::write_report(folder, folder / "report.html"); !status) {
    return report_error(status.error());
  }
  const std::string traffic = traffic_note(*campaign);
  if (arguments.json) {
    auto json = fit_summary_json(*fit);
    json["elapsed_s"] = summary->elapsed_s;
    json["runs"] = summary->runs;
    json["rejected"] = summary->rejected;
    json["folder"] = arguments.out;
    if (!traffic.empty()) json["traffic"] = traffic;
    json["missed_half_width_percent"] = summary->missed_half_width
                                            ? nlohmann::json(100 * *summary->missed_half_width)
                                            : nlohmann::json();
    print_json(json);
  } else {
    print_fit_summary(*fit);
    if (!traffic.empty()) fmt::print("traffic      {}\n", traffic);
    if (summary->missed_half_width) {
      fmt::print(
          "noise        ±{:.2g}% after the last block, not the {:.2g}% of --half-width: this "
          "campaign has no more blocks{}\n",
          100 * *summary->missed_half_width, 100 * arguments.request.half_width,
          arguments.request.quick ? "; one without --quick has" : "");
    }
    fmt::print("took         {}\nreport       {}\n", human_duration(summary->elapsed_s),
               (folder / "report.html").string());
  }
  return fit_exit_code(*fit);
}

}  // namespace

void add_calibrate(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "calibrate", "Measure the wire energy of one device: campaign, fit and report");
  auto arguments = std::make_shared<CalibrateArguments>();
  arguments->command = command;
  auto& request = arguments->request;
  command->add_option("--device", request.device.name,
                      "Device as `wirewatt devices` names it, or virtual:FILE.toml; default: the "
                      "best real GPU, else virtual:w9100");
  as_output_folder(command->add_option(
      "--out", arguments->out,
      "Folder for campaign.db, model.json, report.html (default: named after device "
      "and time)"));
  command->add_flag("--quick", request.quick, "Do fewer and shorter runs");
  command->add_option("--seed", request.seed, "Seed of the run order")->capture_default_str();
  command->add_option(
      "--half-width", arguments->half_width_percent,
      "AMD: add blocks (quick: six at most, else 24) until noise leaves the energy so "
      "many percent or less (95%), and every check for a misfit is decided; default: "
      "1.5");
  command->add_flag("--resume", request.resume,
                    "Continue the campaign in --out, with its device, seed and mode");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Say which device would be measured and how, and measure nothing");
  add_random_chip_options(*command, request.device);
  command->add_flag("--nops", request.nops,
                    "AMD: slow streams down with NOPs, as the paper does, instead of s_sleep");
  command->add_flag(
      "--unpatched", arguments->unpatched,
      "Negative control: run the kernel without the patch; the campaign must be refused");
  command->add_flag_callback(
      "--no-mirror", [arguments] { arguments->request.mirrored = false; },
      "Control: repeat every block in the same order instead of mirrored; drift then stays in");
  command->add_flag_callback(
      "--no-clock-control", [arguments] { arguments->request.device.clock_control = false; },
      "Real GPUs: never touch the clocks");
  command->add_flag_callback(
      "--no-floorplan", [arguments] { arguments->request.device.use_floorplan = false; },
      "AMD: find where lines live and go by measured latency, in fJ per bit and ns of flight, as "
      "on "
      "chips without a known floorplan");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt calibrate --device virtual:w9100 --quick --out first-run\n"
      "  wirewatt calibrate --device virtual:random --chip-seed 7 --chip-class nested --quick\n"
      "  wirewatt calibrate --resume --out first-run");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
