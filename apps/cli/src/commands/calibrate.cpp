#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/progress.hpp"
#include "ww/microbench/calibrate.hpp"
#include "ww/model/stop_rule.hpp"
#include "ww/report/campaign_notes.hpp"
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

// How the bytes of a real device's streams are known, in a line; empty where each run's counters
// give them.
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

// Options of an interrupted calibration that its campaign does not have.
std::vector<std::string> not_in_campaign(const CalibrateArguments& arguments) {
  std::vector<std::string> words;
  if (arguments.half_width_percent) {
    words = {"--half-width", fmt::format("{}", *arguments.half_width_percent)};
  }
  if (!arguments.request.device.clock_control) words.emplace_back("--no-clock-control");
  return words;
}

// Reports what would be measured and where; measures and writes nothing. A device that the campaign
// would refuse by what can be seen from outside is refused here as well.
int dry_run(CalibrateArguments arguments) {
  auto& device = arguments.request.device;
  const auto kind = DeviceName(device.name).kind();
  const bool is_card = kind == DeviceName::Kind::sensor || kind == DeviceName::Kind::pci;
  if (device.name.empty() || is_card) {
    auto chosen =
        is_card ? microbench::choose_on_card(device.name) : microbench::choose_device(device.need);
    if (!chosen) return report_error(chosen.error());
    device.name = std::move(chosen->name);
  }
  const auto listings = microbench::list_devices();
  // A virtual chip of the user's own is not listed, and neither is a name that no device has.
  microbench::DeviceListing listing{device.name, "a virtual GPU", true, true, ""};
  if (const auto found = std::ranges::find(listings, device.name, &microbench::DeviceListing::name);
      found != listings.end()) {
    listing = *found;
  }
  if (!listing.usable) {
    return report_error({ErrorCode::unsupported, "no campaign can be run on it: " + listing.reason,
                         fmt::format("{} ({})", listing.name, listing.description)});
  }
  const auto suited = microbench::campaign_for(device);
  if (!suited) return report_error(suited.error());
  const std::string_view campaign = (*suited)->measures;
  const std::string folder = arguments.out.empty() ? new_folder("", device.name) : arguments.out;
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

// Refuses options that only AMD's campaigns of one die's wires read.
Status refuse_foreign(const CalibrateArguments& arguments,
                      const microbench::CalibrationCampaign& campaign) {
  if (campaign.other_way.empty()) return {};
  const auto& request = arguments.request;
  const char* const foreign = arguments.unpatched             ? "--unpatched"
                              : !request.mirrored             ? "--no-mirror"
                              : request.nops                  ? "--nops"
                              : arguments.half_width_percent  ? "--half-width"
                              : !request.device.use_floorplan ? "--no-floorplan"
                                                              : nullptr;
  if (foreign == nullptr) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} is for AMD's campaigns of one die; this device's {} "
                          "measured in another way",
                          foreign, campaign.other_way),
              request.device.name);
}

// Adds the facts that only the campaign knows.
void add_campaign(calibration::Answer& answer, const CalibrateArguments& arguments,
                  const microbench::CampaignSummary& summary, const CampaignStore& campaign) {
  const std::string traffic = traffic_note(campaign);
  auto& json = answer.json;
  json["elapsed_s"] = summary.elapsed_s;
  json["runs"] = summary.runs;
  json["rejected"] = summary.rejected;
  json["folder"] = arguments.out;
  json["missed_half_width_percent"] = summary.missed_half_width
                                          ? nlohmann::json(100 * *summary.missed_half_width)
                                          : nlohmann::json();
  if (!traffic.empty()) {
    json["traffic"] = traffic;
    answer.text.emplace_back(fmt::format("traffic      {}", traffic));
  }
  if (const std::string caches = report::array_cache_note(campaign); !caches.empty()) {
    json["array_caches"] = caches;
    answer.text.emplace_back(fmt::format("GL1          {}", caches));
  }
  if (summary.missed_half_width) {
    answer.text.emplace_back(fmt::format(
        "noise        ±{:.2g}% after the last block, not the {:.2g}% of --half-width: this "
        "campaign has no more blocks{}",
        100 * *summary.missed_half_width, 100 * arguments.request.half_width,
        arguments.request.quick ? "; one without --quick has" : ""));
  }
  answer.text.emplace_back(
      fmt::format("took         {}\nreport       {}", human_duration(summary.elapsed_s),
                  (std::filesystem::path(arguments.out) / "report.html").string()));
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
                                               : refuse_foreign_model(arguments.out, "campaign.db");
  if (!ready) return report_error(ready.error());
  if (arguments.dry_run) return dry_run(std::move(arguments));
  arguments.request.patch_binary = !arguments.unpatched;
  if (arguments.half_width_percent) {
    arguments.request.half_width = *arguments.half_width_percent / 100;
  }

  // This chooses a device, where none is named.
  const auto suited = microbench::campaign_for(arguments.request.device);
  if (!suited) return report_error(suited.error());
  const microbench::CalibrationCampaign& campaign = **suited;
  if (arguments.out.empty()) {
    arguments.out = new_folder("", arguments.request.device.name);
    arguments.request.folder = arguments.out;
  }
  if (const auto status = refuse_foreign(arguments, campaign); !status) {
    return report_error(status.error());
  }
  int exit_code = 0;
  const auto summary = record(
      "calibrating", "runs", resumed_by("calibrate", arguments.out, not_in_campaign(arguments)),
      exit_code, [&](const microbench::ProgressFunction& progress) {
        return campaign.run(arguments.request, model::sensed_half_width, progress);
      });
  if (!summary) return exit_code;
  const fs::path folder = arguments.out;
  const auto store = CampaignStore::open_read_only(folder / "campaign.db");
  if (!store) return report_error(store.error());
  model::FitOptions options;
  options.seed = arguments.request.seed;
  auto fitted = calibration::fit(*store, {options, {}, folder});
  if (!fitted) return report_error(fitted.error());
  if (const auto status = write_file_atomically(folder / fitted->file, fitted->contents); !status) {
    return report_error(status.error());
  }
  if (const auto status = report::write_report(folder, folder / "report.html"); !status) {
    return report_error(status.error());
  }
  add_campaign(fitted->answer, arguments, *summary, *store);
  show(fitted->answer, arguments.json);
  return fitted->identified ? 0 : 1;
}

}  // namespace

void add_calibrate(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "calibrate", "Measure the wire energy of one device: campaign, fit and report");
  auto arguments = std::make_shared<CalibrateArguments>();
  arguments->command = command;
  auto& request = arguments->request;
  request.device.need = need_of("calibrate");
  command->add_option("--device", request.device.name,
                      "Device as `wirewatt devices` names it, or virtual:FILE.toml; default: the "
                      "best real GPU, else virtual:w9100");
  as_output_folder(command->add_option(
      "-o,--out", arguments->out,
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
