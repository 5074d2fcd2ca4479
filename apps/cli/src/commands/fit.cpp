#include <filesystem>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/log.hpp"

namespace ww::cli {

namespace {

struct FitArguments {
  std::string campaign;
  std::string out;
  bool json{};
  bool no_temperature{};
  bool swap_paths{};
  std::vector<std::string> without;
  std::uint64_t seed{1};
  std::vector<CLI::Option*> of_fit;  // options that change the fit
};

model::FitOptions options_of(const FitArguments& arguments) {
  model::FitOptions options;
  options.temperature_correction = !arguments.no_temperature;
  options.swap_paths = arguments.swap_paths;
  options.seed = arguments.seed;
  for (const std::string& part : arguments.without) {
    if (part == "temperature") options.temperature_correction = false;
    if (part == "robust") options.robust = false;
    if (part == "crossing") options.crossing = false;
    if (part == "bytes") options.bytes_covariate = false;
    if (part == "mirror") options.mirrored = false;
    if (part == "lock-in") options.lock_in = false;
  }
  return options;
}

int run(const FitArguments& arguments) {
  const auto campaign = CampaignStore::open_read_only(arguments.campaign);
  if (!campaign) return report_error(campaign.error());
  std::vector<std::string> given;
  for (const CLI::Option* option : arguments.of_fit) {
    if (option->count() > 0) given.push_back(option->get_name());
  }
  const auto folder = std::filesystem::absolute(campaign->file()).parent_path();
  const auto fitted = calibration::fit(*campaign, {options_of(arguments), given, folder});
  if (!fitted) return report_error(fitted.error());
  if (!arguments.out.empty()) {
    if (const auto status = write_file_atomically(arguments.out, fitted->contents); !status) {
      return report_error(status.error());
    }
    log::info("model written to {}", arguments.out);
  }
  show(fitted->answer, arguments.json);
  return fitted->identified ? 0 : 1;
}

}  // namespace

void add_fit(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("fit", "Fit again from a recorded campaign");
  auto arguments = std::make_shared<FitArguments>();
  command
      ->add_option("campaign", arguments->campaign, "The campaign file (campaign.db) or its folder")
      ->required();
  command
      ->add_option("-o,--out", arguments->out,
                   "Write the model here (model.json; of crossings: crossing.json)")
      ->type_name(kOutputModel);
  arguments->of_fit = {
      command->add_option("--seed", arguments->seed, "Seed of the bootstrap")
          ->capture_default_str(),
      command->add_flag("--no-temperature-correction", arguments->no_temperature,
                        "Negative control: leave idle power as it was at one temperature"),
      command->add_flag(
          "--swap-paths", arguments->swap_paths,
          "Negative control: exchange the short and the long path; the sign must change"),
      command
          ->add_option("--without", arguments->without,
                       "Ablation: leave parts of the method out (default: none)")
          ->check(
              CLI::IsMember({"temperature", "robust", "crossing", "bytes", "mirror", "lock-in"}))};
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt fit first-run --out first-run/model.json");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
