#include "ww/score/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "homes_match.hpp"
#include "ladder_truth.hpp"
#include "segments_table.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/microbench/ladder.hpp"
#include "ww/microbench/segments.hpp"
#include "ww/model/measured_paths.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::score {
namespace {

namespace fs = std::filesystem;

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

Result<Table> segments_rows(const fs::path& recording, const calibration::Revealed& truth) {
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(fit, microbench::fit_segments(store));
  return segments_table(fit, truth);
}

// The folder of `wirewatt segments`, where there is no calibration beside it.
Result<calibration::Answer> score_segments_alone(const fs::path& recording) {
  WW_ASSIGN(campaign, CampaignStore::open_read_only(recording));
  WW_ASSIGN(facts, campaign.facts());
  WW_ASSIGN(request, chip_of(campaign, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  WW_ASSIGN(truth, truth_of(chip, {}));
  WW_ASSIGN(rows, segments_rows(recording, truth));
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
Result<calibration::Answer> score_classes(const fs::path& recording) {
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
Result<calibration::Answer> score_ladder(const fs::path& recording) {
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
  HomesMatch match;
  for (std::uint64_t offset = 0; offset < homes.page_channel.size() * microbench::kHomePage;
       offset += step) {
    match.add(homes.home_of(offset), truth.home_of(address + offset));
  }
  const bool exact = match.exact();
  HomesScore result;
  result.json = {{"found", match.found()},         {"true", match.real()},
                 {"mixed", match.mixed()},         {"exact", exact},
                 {"confidence", homes.confidence}, {"separation", homes.separation},
                 {"margin", homes.margin}};
  if (const auto fact = facts.find(model::kPathsFact); exact && fact != facts.end()) {
    WW_ASSIGN(json, parse_json(fact->second, model::kPathsFact));
    WW_ASSIGN(paths, model::measured_paths_from_json(json));
    for (const auto& row : paths.flight_ns) {
      auto& times = result.times.emplace_back();
      for (const auto& [quadrant, found] : match.found_of()) {
        times.push_back(row.at(static_cast<std::size_t>(*found.begin())));
      }
    }
  }
  return result;
}

}  // namespace

Result<calibration::Answer> score_folder(const fs::path& folder) {
  const auto segments = folder / "segments.db";
  std::error_code ec;
  if (fs::exists(segments, ec) && !fs::exists(folder / "model.json", ec)) {
    return score_segments_alone(segments);
  }
  const auto classes = folder / "classes.db";
  if (fs::exists(classes, ec)) return score_classes(classes);
  const auto campaign_file = folder / "campaign.db";
  const auto ladder = folder / microbench::kLadderFile;
  if (fs::exists(ladder, ec) && !fs::exists(campaign_file, ec)) {
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
  if (fs::exists(segments, ec)) {
    WW_ASSIGN(rows, segments_rows(segments, truth));
    answer.json["segments"] = table_json(rows);
    answer.text.emplace(answer.text.begin() + 1, std::move(rows));
  }
  return answer;
}

Result<microbench::DeviceRequest> chip_of_campaign(const fs::path& folder) {
  const auto file = folder / "campaign.db";
  WW_ASSIGN(campaign, CampaignStore::open_read_only(file));
  WW_ASSIGN(request, chip_of(campaign, file.string()));
  return device_of(request);
}

}  // namespace ww::score
