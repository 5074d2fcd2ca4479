// The only command that opens the virtual chip's seal, and only after a fit.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "command.hpp"
#include "commands/score_estimate.hpp"
#include "commands/score_ladder.hpp"
#include "commands/score_segments.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/microbench/ladder.hpp"
#include "ww/model/measured_paths.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::cli {
namespace {

Result<sim::gpu::ChipRequest> chip_of(const CampaignStore& campaign, const std::string& file) {
  WW_ASSIGN(facts, campaign.facts());
  const DeviceName device(facts[std::string(campaign_keys::device)]);
  if (!device.is_virtual()) {
    return fail(
        ErrorCode::unsupported,
        "only virtual devices have a known truth; this campaign ran on '" + device.text() + "'",
        file);
  }
  sim::gpu::ChipRequest request;
  request.chip = device.chip();
  if (device.is_random_chip()) {
    try {
      request.seed = std::stoull(facts[std::string(campaign_keys::chip_seed)]);
    } catch (const std::exception&) {
      return fail(ErrorCode::parse_error, "the campaign does not name its chip's seed", file);
    }
    WW_ASSIGN(chip_class,
              sim::gpu::chip_class_from_string(facts[std::string(campaign_keys::chip_class)]));
    request.chip_class = chip_class;
  }
  return request;
}

// The truth of the chip, by the names of the calibration's figures.
Result<calibration::Revealed> truth_of(const sim::gpu::Chip& chip,
                                       const sim::gpu::FlightTable& measured_ns) {
  calibration::Revealed truth;
  truth.chip_class = sim::gpu::to_string(chip.request().chip_class);
  for (const sim::gpu::RevealedWay& way : sim::gpu::reveal_ways(chip)) {
    truth.figures.push_back({way.name, way.truth_pj, way.sensed_pj, ""});
  }
  if (!truth.figures.empty()) return truth;
  WW_ASSIGN(revealed, sim::gpu::reveal(chip, measured_ns));
  for (const sim::gpu::RevealedConstant& constant : revealed.constants) {
    truth.figures.push_back({constant.name, constant.truth, constant.sensed, constant.unit});
  }
  truth.sensor_factor = revealed.sensor_factor;
  truth.control_toggles_per_bit = revealed.control_toggles_per_bit;
  return truth;
}

// The folder of `wirewatt segments`, where there is no calibration beside it.
Result<calibration::Answer> score_segments_alone(const std::filesystem::path& recording) {
  WW_ASSIGN(campaign, CampaignStore::open_read_only(recording));
  WW_ASSIGN(facts, campaign.facts());
  WW_ASSIGN(request, chip_of(campaign, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  WW_ASSIGN(truth, truth_of(chip, {}));
  WW_ASSIGN(rows, score_segments(recording, truth));
  const std::string device = facts[std::string(campaign_keys::device)];
  calibration::Answer answer;
  answer.json = {{"segments", table_json(rows)},
                 {"device", device},
                 {"chip_class", truth.chip_class},
                 {"virtual", true}};
  answer.text.emplace_back(fmt::format("{} (virtual): the sealed truth beside the fit", device));
  answer.text.emplace_back(std::move(rows));
  return answer;
}

// The folder of `wirewatt attribute --record`: what of the chip's energy follows the data.
Result<calibration::Answer> score_classes(const std::filesystem::path& recording) {
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(facts, store.facts());
  WW_ASSIGN(request, chip_of(store, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  const auto values = sim::gpu::reveal_values(chip);
  const std::string device = facts[std::string(campaign_keys::device)];
  calibration::Answer answer;
  answer.json = {{"values", {{"alu_share", values.alu_share}, {"sram_share", values.sram_share}}},
                 {"device", device},
                 {"chip_class", sim::gpu::to_string(request.chip_class)},
                 {"virtual", true}};
  answer.text.emplace_back(fmt::format("{} (virtual): the sealed truth beside the fit", device));
  answer.text.emplace_back(
      fmt::format("energy that follows the data: {:.1f}% of vector instructions, {:.1f}% of SRAM",
                  100 * values.alu_share, 100 * values.sram_share));
  return answer;
}

microbench::DeviceRequest device_of(const sim::gpu::ChipRequest& request) {
  microbench::DeviceRequest device;
  device.name = virtual_device_name(request.chip);
  device.chip_seed = request.seed;
  device.chip_class = sim::gpu::to_string(request.chip_class);
  return device;
}

// The folder of `wirewatt ladder`.
Result<calibration::Answer> score_ladder(const std::filesystem::path& recording) {
  WW_ASSIGN(ladder, calibration::load(recording.parent_path(), calibration::Admission::any));
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(request, chip_of(store, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  WW_ASSIGN(truth, ladder_truth(recording, ladder->document(), device_of(request), chip));
  WW_ASSIGN(answer, ladder->score(truth.revealed));
  answer.json["voltage_v"] = truth.voltage_v;
  answer.text.emplace(
      answer.text.begin(),
      fmt::format("{} (virtual): the sealed truth beside the fit", ladder->provenance().device));
  return answer;
}

struct HomesScore {
  nlohmann::json json;          // null where the campaign found no homes itself
  sim::gpu::FlightTable times;  // what it measured, by true quadrant; empty where homes are mixed
};

// The homes that a campaign found beside the true ones, run by run of every page.
Result<HomesScore> score_homes(const CampaignStore& campaign, const sim::gpu::Chip& chip) {
  WW_ASSIGN(facts, campaign.facts());
  const auto opening = facts.find(std::string(campaign_keys::opening));
  if (opening == facts.end()) return HomesScore{};
  const auto notes = nlohmann::json::parse(opening->second, nullptr, false);
  if (!notes.is_object() || !notes.contains("homes")) return HomesScore{};
  WW_ASSIGN(homes, microbench::homes_from_json(notes["homes"]));
  const auto address = notes["homes"].value("address", std::uint64_t{0});
  const auto step = static_cast<std::uint64_t>(homes.address.interleave_bytes);
  const sim::gpu::TrueHomes truth(chip);
  std::map<int, std::set<int>> true_of, found_of;
  for (std::uint64_t offset = 0; offset < homes.page_channel.size() * microbench::kHomePage;
       offset += step) {
    const int found = homes.home_of(offset);
    const int real = truth.home_of(address + offset);
    true_of[found].insert(real);
    found_of[real].insert(found);
  }
  const auto mixed = [](const auto& sets) {
    return std::ranges::count_if(sets, [](const auto& entry) { return entry.second.size() > 1; });
  };
  const bool exact = mixed(true_of) == 0 && mixed(found_of) == 0;
  HomesScore result;
  result.json = {{"found", true_of.size()},        {"true", found_of.size()},
                 {"mixed", mixed(true_of)},        {"exact", exact},
                 {"confidence", homes.confidence}, {"separation", homes.separation},
                 {"margin", homes.margin}};
  if (const auto fact = facts.find(model::kPathsFact); exact && fact != facts.end()) {
    WW_ASSIGN(json, parse_json(fact->second, model::kPathsFact));
    WW_ASSIGN(paths, model::measured_paths_from_json(json));
    for (const auto& row : paths.flight_ns) {
      auto& times = result.times.emplace_back();
      for (const auto& [quadrant, found] : found_of) {
        times.push_back(row.at(static_cast<std::size_t>(*found.begin())));
      }
    }
  }
  return result;
}

Result<calibration::Answer> score(const std::filesystem::path& folder) {
  const auto segments = folder / "segments.db";
  std::error_code ec;
  if (std::filesystem::exists(segments, ec) &&
      !std::filesystem::exists(folder / "model.json", ec)) {
    return score_segments_alone(segments);
  }
  const auto classes = folder / "classes.db";
  if (std::filesystem::exists(classes, ec)) return score_classes(classes);
  const auto campaign_file = folder / "campaign.db";
  const auto ladder = folder / microbench::kLadderFile;
  if (std::filesystem::exists(ladder, ec) && !std::filesystem::exists(campaign_file, ec)) {
    return score_ladder(ladder);
  }
  WW_ASSIGN(model, calibration::load(folder, calibration::Admission::any));
  WW_ASSIGN(campaign, CampaignStore::open_read_only(campaign_file));
  WW_ASSIGN(request, chip_of(campaign, campaign_file.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  WW_ASSIGN(homes, score_homes(campaign, chip));
  WW_ASSIGN(truth, truth_of(chip, homes.times));
  WW_ASSIGN(answer, model->score(truth));
  if (!homes.json.is_null()) answer.json["homes"] = std::move(homes.json);
  answer.text.emplace(
      answer.text.begin(),
      fmt::format("{} (virtual): the sealed truth beside the fit", model->provenance().device));
  if (std::filesystem::exists(segments, ec)) {
    WW_ASSIGN(rows, score_segments(segments, truth));
    answer.json["segments"] = table_json(rows);
    answer.text.emplace(answer.text.begin() + 1, std::move(rows));
  }
  return answer;
}

// The folder, where one of its files is given.
std::string folder_of(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return path;
  return std::filesystem::absolute(path).parent_path().string();
}

int run(const std::string& folder, bool json) {
  const auto answer = score(folder);
  if (!answer) return report_error(answer.error());
  const auto kept = write_file_atomically(std::filesystem::path(folder) / "score.json",
                                          answer->json.dump(2) + "\n");
  const int code = show(*answer, json);
  if (kept) return code;
  if (kept.error().code != ErrorCode::permission_denied) return report_error(kept.error());
  // A calibration that many share is often read alone.
  log::warn("score.json is not kept: {}", kept.error().text());
  return code;
}

int run_program(const std::string& folder, const std::vector<std::string>& command, bool json) {
  const auto scored = [&]() -> Result<calibration::Answer> {
    const auto campaign_file = std::filesystem::path(folder) / "campaign.db";
    WW_ASSIGN(campaign, CampaignStore::open_read_only(campaign_file));
    WW_ASSIGN(request, chip_of(campaign, campaign_file.string()));
    return score_estimate((std::filesystem::path(folder) / "model.json").string(),
                          device_of(request), command);
  }();
  return scored ? show(*scored, json) : report_error(scored.error());
}

}  // namespace

void add_score(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("score", "Compare a fit with the sealed truth (virtual devices only)");
  struct Arguments {
    std::string folder;
    std::vector<std::string> command;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option(
          "folder", arguments->folder,
          "Folder that `wirewatt calibrate`, `wirewatt ladder`, `wirewatt segments` or `wirewatt "
          "attribute --record` filled, or a file in it")
      ->required();
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command,
                      "A program, after --: its estimated wire energy beside the truth");
  command->footer(
      "Examples:\n  wirewatt score first-run --json\n"
      "  wirewatt score first-run -- wirewatt workloads run nn\n"
      "  wirewatt score ladder\n"
      "  wirewatt score segments");
  command->callback([arguments, &outcome] {
    const std::string folder = folder_of(arguments->folder);
    outcome.exit_code = arguments->command.empty()
                            ? run(folder, arguments->json)
                            : run_program(folder, arguments->command, arguments->json);
  });
}

}  // namespace ww::cli
