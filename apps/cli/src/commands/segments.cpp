// wirewatt segments: what the ways to registers, within an engine and behind the L2 cost.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/microbench/segments.hpp"

namespace ww::cli {
namespace {

// Whether a recording is there and whole. Recordings of earlier versions do not say when they were
// started; they were deleted where they were not whole.
Result<bool> is_whole(const std::filesystem::path& file, const CLI::App& command) {
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  WW_TRY(refuse_other_recording(store, command));
  WW_ASSIGN(started, store.get(campaign_keys::started));
  WW_ASSIGN(finished, store.get(campaign_keys::finished));
  return !started || finished == "true";
}

int run(microbench::SegmentsRequest request, const CLI::App& command, bool json) {
  const auto file = request.folder / "segments.db";
  std::error_code ec;
  bool whole = false;
  if (std::filesystem::exists(file, ec)) {
    const auto found = is_whole(file, command);
    if (!found) return report_error(found.error());
    whole = *found;
    request.resume = true;
  }
  if (!whole) {
    int exit_code = 0;
    const auto summary = record("measuring segments", "", "the same command goes on", exit_code,
                                [&](const microbench::ProgressFunction& progress) {
                                  return microbench::run_segments(request, progress);
                                });
    if (!summary) return exit_code;
  }
  const auto store = CampaignStore::open_read_only(file);
  if (!store) return report_error(store.error());
  const auto fit = microbench::fit_segments(*store);
  if (!fit) return report_error(fit.error());
  if (json) {
    print_json(model::to_json(*fit));
    return 0;
  }
  fmt::print("{}{}: energy of single segments, random bits\n", fit->device,
             fit->is_virtual ? " (virtual)" : "");
  std::vector<std::vector<std::string>> rows{
      {"SEGMENT", "ENERGY", "LOW", "HIGH", "UNIT", "STATUS"}};
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : std::string("-");
  };
  for (const auto* row :
       {&fit->legs, &fit->l2_memory, &fit->registers_l1, &fit->registers_l1_per_bit}) {
    rows.push_back(
        {row->name, text(row->value), text(row->low), text(row->high), row->unit,
         std::string(to_string(row->status)) + (row->reason.empty() ? "" : ": " + row->reason)});
  }
  print_table(rows);
  if (!fit->no_voltage_reason.empty()) {
    fmt::print("A load line is assumed, whose prior the intervals have: {}.\n",
               fit->no_voltage_reason);
  }
  fmt::print(
      "The intervals are of the noise and heat of these runs alone. The sensor's gain ({:.0f}%) "
      "and "
      "regulator ({:.0f}%) shift all rows alike; estimate --segments adds them.\n",
      100 * fit->gain_tolerance_95, 100 * fit->regulator_slope_tolerance_95);
  return 0;
}

}  // namespace

void add_segments(CLI::App& app, Outcome& outcome) {
  struct Arguments {
    microbench::SegmentsRequest request;
    std::string out;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  auto& request = arguments->request;
  auto* command =
      app.add_subcommand("segments", "Measure the other segments (virtual devices only)");
  request.device.name = "virtual:w9100";
  command->add_option("--device", request.device.name, "Device as `wirewatt devices` names it")
      ->capture_default_str();
  command->add_option("--chip-seed", request.device.chip_seed, "virtual:random: which chip")
      ->capture_default_str();
  command
      ->add_option("--chip-class", request.device.chip_class,
                   "virtual:random: how far the chip departs from the model that is fitted")
      ->check(CLI::IsMember({"nested", "mild", "strong"}))
      ->capture_default_str();
  as_output_folder(
      command->add_option("-o,--out", arguments->out,
                          "Folder for segments.db. A finished campaign there is fitted again, an "
                          "unfinished one is continued"))
      ->required();
  command
      ->add_option("--blocks", request.blocks,
                   "How many times each point is measured; each time takes two runs")
      ->capture_default_str();
  command->add_option("--only", request.only, "Measure one segment only (default: all)")
      ->check(CLI::IsMember({"legs", "l2_memory", "registers_l1"}));
  command->add_option("--seed", request.seed, "Seed of the run order")->capture_default_str();
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt segments --device virtual:w9100 --out segments");
  command->callback([arguments, command, &outcome] {
    arguments->request.folder = arguments->out;
    outcome.exit_code = run(arguments->request, *command, arguments->json);
  });
}

}  // namespace ww::cli
