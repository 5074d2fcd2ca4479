#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "commands/calibrate_chiplet.hpp"
#include "commands/calibrate_crossing.hpp"
#include "commands/fit_output.hpp"
#include "commands/recording.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/log.hpp"
#include "ww/report/report.hpp"

namespace ww::cli {

nlohmann::json fit_summary_json(const model::FitResult& fit) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  const auto energy_json = [&](const model::FittedConstant& energy) -> nlohmann::json {
    const bool identified = energy.row.value.has_value();
    const auto sensed = [&](double bound) {
      return identified ? nlohmann::json(bound) : nlohmann::json(nullptr);
    };
    return {{"value", optional(energy.row.value)},
            {"low", optional(energy.row.low)},
            {"high", optional(energy.row.high)},
            {"sensed_low", sensed(energy.sensed_low)},
            {"sensed_high", sensed(energy.sensed_high)},
            {"convention", model::to_string(energy.convention)},
            {"status", to_string(energy.row.status)},
            {"reason", energy.row.reason}};
  };
  auto constants = nlohmann::json::array();
  for (const auto& constant : fit.constants) {
    nlohmann::json row = constant.row;
    row["convention"] = model::to_string(constant.convention);
    constants.push_back(std::move(row));
  }
  nlohmann::json result{{"energy_fj_per_bit_mm", energy_json(fit.energy_per_bit_mm)},
                        {"uncorrected_fj_per_bit_mm", fit.uncorrected_fj_per_bit_mm},
                        {"long_over_short_percent", fit.long_over_short_percent},
                        {"l1_l2_bandwidth_fraction", fit.l1_l2_bandwidth_fraction},
                        {"misfit_flagged", fit.misfit.flagged},
                        {"misfit_reason", fit.misfit.reason},
                        {"misfit_undecided", fit.misfit.undecided},
                        {"latency_rank_correlation",
                         fit.latency.recorded ? nlohmann::json(fit.latency.rank_correlation)
                                              : nlohmann::json(nullptr)},
                        {"constants", constants},
                        {"runs", fit.runs},
                        {"rejected", fit.rejected},
                        {"control", fit.control},
                        {"unfinished", fit.unfinished},
                        {"virtual", fit.is_virtual},
                        {"device", fit.device}};
  if (fit.energy_per_bit_ns) {
    result["energy_fj_per_bit_ns"] = energy_json(*fit.energy_per_bit_ns);
    result["uncorrected_fj_per_bit_ns"] = result["uncorrected_fj_per_bit_mm"];
    result["uncorrected_fj_per_bit_mm"] = nullptr;
  }
  return result;
}

void print_fit_summary(const model::FitResult& fit) {
  const char* kind = fit.is_virtual ? " (virtual, not a measurement)" : "";
  const auto& energy = fit.energy();
  const char* const unit = fit.energy_per_bit_ns ? "ns" : "mm";
  if (energy.row.value && energy.row.low && energy.row.high) {
    fmt::print("{}{}\n", fit.device, kind);
    fmt::print("energy       {:.1f} fJ/bit/{}, 95% interval {:.1f} to {:.1f} ({})\n",
               *energy.row.value, unit, *energy.row.low, *energy.row.high,
               model::to_string(energy.convention));
    if (fit.energy_per_bit_ns) {
      fmt::print("             per mm: {}: {}\n", to_string(fit.energy_per_bit_mm.row.status),
                 fit.energy_per_bit_mm.row.reason);
    }
    fmt::print("             by this campaign's own noise alone {:.1f} to {:.1f}\n",
               energy.sensed_low, energy.sensed_high);
  } else {
    fmt::print("{}{}\nenergy       {}: {}\n", fit.device, kind, to_string(energy.row.status),
               energy.row.reason);
  }
  fmt::print("long / short {:+.2f}% of dynamic power over {:.1f} {}\n", fit.long_over_short_percent,
             fit.far_mm - fit.near_mm, unit);
  fmt::print("bandwidth    {:.1f}% of the L2 channels' peak\n",
             100.0 * fit.l1_l2_bandwidth_fraction);
  if (fit.latency.recorded) {
    fmt::print(
        "latency      {:.2f} rank correlation with the floorplan's distances, {:.2f} ticks/mm, "
        "residual {:.2f} ticks (p = {:.2g})\n",
        fit.latency.rank_correlation, fit.latency.ticks_per_mm, fit.latency.residual_ticks,
        fit.latency.p_value);
  }
  fmt::print("runs         {}, {} rejected\n", fit.runs, fit.rejected);
  if (fit.unfinished) {
    fmt::print("unfinished   the campaign was interrupted; go on with it by calibrate --resume\n");
  }
  if (!fit.control.empty()) {
    fmt::print(
        "CONTROL      fitted {}\n"
        "             no calibration: estimate, simulate, project and top refuse this model\n",
        fit.control);
  }
  if (fit.misfit.flagged) {
    fmt::print(
        "MISFIT       {}\n"
        "             rely on none of these figures; estimate, simulate, project and top refuse "
        "this model\n",
        fit.misfit.reason);
  }
  if (!fit.misfit.undecided.empty()) {
    fmt::print(
        "undecided    {}\n"
        "             a longer campaign may decide it: calibrate without --quick\n",
        fit.misfit.undecided);
  }
}

int fit_exit_code(const model::FitResult& fit) {
  return fit.energy().row.status == RowStatus::ok ? 0 : 1;
}

namespace {

struct FitArguments {
  std::string campaign;
  std::string out;
  bool json{};
  bool no_temperature{};
  bool swap_paths{};
  std::vector<std::string> without;
  std::uint64_t seed{1};
  std::vector<CLI::Option*> of_wires;  // what campaigns of another kind have no use for
};

int run(const FitArguments& arguments) {
  const auto campaign = CampaignStore::open_read_only(arguments.campaign);
  if (!campaign) return report_error(campaign.error());
  const auto folder = std::filesystem::absolute(campaign->file()).parent_path();
  RecordedFit other{arguments.out, "", arguments.json};
  for (const CLI::Option* option : arguments.of_wires) {
    if (option->count() > 0 && other.of_wires.empty()) other.of_wires = option->get_name();
  }
  if (const auto code = fit_recorded_crossing(*campaign, folder, other)) return *code;
  if (const auto code = fit_recorded_chiplet(*campaign, other)) return *code;
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
  const auto fit = model::fit_campaign(*campaign, options);
  if (!fit) return report_error(fit.error());
  if (!arguments.out.empty()) {
    if (const auto status = model::write_model(arguments.out, *fit); !status) {
      return report_error(status.error());
    }
    spdlog::info("model written to {}", arguments.out);
  }
  if (arguments.json) {
    print_json(fit_summary_json(*fit));
  } else {
    print_fit_summary(*fit);
  }
  return fit_exit_code(*fit);
}

}  // namespace

void add_fit(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("fit", "Fit again from a recorded campaign");
  auto arguments = std::make_shared<FitArguments>();
  command
      ->add_option("campaign", arguments->campaign, "The campaign file (campaign.db) or its folder")
      ->required();
  command
      ->add_option("--out", arguments->out,
                   "Write the model here (model.json; of crossings: crossing.json)")
      ->type_name(kOutputModel);
  arguments->of_wires = {
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
