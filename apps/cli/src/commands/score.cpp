// The only command that opens the virtual chip's seal, and only after a fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "command.hpp"
#include "commands/score_chiplet.hpp"
#include "commands/score_estimate.hpp"
#include "commands/score_segments.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/named_file.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/model/measured_paths.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::cli {
namespace {

constexpr double kScoreNormal95 = 1.959963984540054;  // standard deviations in a 95% half-width

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

// The folder of `wirewatt segments`, where there is no calibration beside it.
Result<nlohmann::json> score_segments_alone(const std::filesystem::path& recording) {
  WW_ASSIGN(campaign, CampaignStore::open_read_only(recording));
  WW_ASSIGN(facts, campaign.facts());
  WW_ASSIGN(request, chip_of(campaign, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  WW_ASSIGN(revealed, sim::gpu::reveal(chip));
  WW_ASSIGN(rows, score_segments(recording, revealed));
  return nlohmann::json{{"segments", std::move(rows)},
                        {"device", facts[std::string(campaign_keys::device)]},
                        {"chip_class", sim::gpu::to_string(revealed.chip_class)},
                        {"virtual", true}};
}

// The folder of `wirewatt attribute --record`: what of the chip's energy follows the data.
Result<nlohmann::json> score_classes(const std::filesystem::path& recording) {
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(facts, store.facts());
  WW_ASSIGN(request, chip_of(store, recording.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  const auto values = sim::gpu::reveal_values(chip);
  return nlohmann::json{
      {"values", {{"alu_share", values.alu_share}, {"sram_share", values.sram_share}}},
      {"device", facts[std::string(campaign_keys::device)]},
      {"chip_class", sim::gpu::to_string(request.chip_class)},
      {"virtual", true}};
}

// What the campaign's random streams at full rate counted on request and tag wires, per payload
// bit.
std::optional<double> control_toggles(const nlohmann::json& model) {
  const auto rows = model.find("variant_wires");
  if (rows == model.end() || !rows->is_array()) return std::nullopt;
  for (const auto& row : *rows) {
    if (!row.is_object() || row.value("pattern", "") != "random" ||
        row.value("throttle", -1) != 0) {
      continue;
    }
    const auto toggles = row.find("control_toggles_per_bit");
    if (toggles != row.end() && toggles->is_number()) return toggles->get<double>();
  }
  return std::nullopt;
}

// One of the tolerances that a model declares beside its own noise: relative, 95% half-width.
std::optional<double> declared_95(const nlohmann::json& model, std::string_view source) {
  const auto budget = model.find("budget");
  if (budget == model.end() || !budget->is_object() || !budget->contains("rows")) {
    return std::nullopt;
  }
  for (const auto& row : (*budget)["rows"]) {
    if (row.value("source", "") == source) {
      return kScoreNormal95 * row.value("standard_uncertainty", 0.0);
    }
  }
  return std::nullopt;
}

// What the sensor and the distances make of a truth, each beside what the model declares for it.
nlohmann::json score_parts(const nlohmann::json& model, const sim::gpu::RevealedConstant& constant,
                           double sensor_factor) {
  const bool by_flight = constant.unit == "fJ/bit/ns";
  const auto part = [](double error, const std::optional<double>& declared) {
    return nlohmann::json{
        {"error", error},
        {"declared_95", declared ? nlohmann::json(*declared) : nlohmann::json(nullptr)},
        {"covered",
         declared ? nlohmann::json(std::abs(error) <= *declared) : nlohmann::json(nullptr)}};
  };
  const auto gain = declared_95(model, "sensor's gain");
  const auto regulator = declared_95(model, "regulator's marginal efficiency");
  std::optional<double> sensor;
  if (gain && regulator) sensor = std::hypot(*gain, *regulator);
  return {{"sensor", part(sensor_factor - 1, sensor)},
          {"distance", part(constant.sensed / constant.truth / sensor_factor - 1,
                            declared_95(model, by_flight ? "measured latencies"
                                                         : "positions in the floorplan"))}};
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

Result<nlohmann::json> score(const std::filesystem::path& folder) {
  const auto segments = folder / "segments.db";
  std::error_code ec;
  if (std::filesystem::exists(segments, ec) &&
      !std::filesystem::exists(folder / "model.json", ec)) {
    return score_segments_alone(segments);
  }
  const auto classes = folder / "classes.db";
  if (std::filesystem::exists(classes, ec)) return score_classes(classes);
  WW_ASSIGN(model_file,
            named_file(folder, "model.json",
                       "give the folder that 'wirewatt calibrate --out FOLDER' filled"));
  WW_ASSIGN(model_text, read_file(model_file));
  WW_ASSIGN(model, parse_json(model_text, model_file.string()));
  if (!model.is_object()) {
    return fail(ErrorCode::parse_error, "not a model; fit the campaign again", model_file.string());
  }
  const auto campaign_file = folder / "campaign.db";
  WW_ASSIGN(campaign, CampaignStore::open_read_only(campaign_file));
  WW_ASSIGN(request, chip_of(campaign, campaign_file.string()));
  WW_ASSIGN(chip, sim::gpu::Chip::load(request));
  if (model.value("method", "") == "chiplet") return score_chiplet(model, chip);
  WW_ASSIGN(homes, score_homes(campaign, chip));
  WW_ASSIGN(revealed, sim::gpu::reveal(chip, homes.times));

  // Fitted constants by name; a constant that was not identified has a null value.
  std::map<std::string, nlohmann::json> fitted;
  for (const auto& row : model.value("constants", nlohmann::json::array())) {
    if (row.is_object()) fitted[row.value("name", std::string{})] = row;
  }
  const auto number = [](const nlohmann::json& row, const char* key) -> std::optional<double> {
    const auto it = row.find(key);
    if (it == row.end() || !it->is_number()) return std::nullopt;
    return it->get<double>();
  };
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };

  auto constants = nlohmann::json::array();
  nlohmann::json result{{"truth_fj_per_bit_mm", revealed.energy_fj_per_bit_mm},
                        {"truth_wire_fj_per_bit_mm", revealed.wire_fj_per_bit_mm},
                        {"sensed_truth_fj_per_bit_mm", revealed.sensed_fj_per_bit_mm},
                        {"sensed_truth_fj_per_bit_ns", revealed.sensed_fj_per_bit_ns},
                        {"error_percent", nullptr},
                        {"error_sensed_percent", nullptr},
                        {"covered", false},
                        {"covered_wire", nullptr}};
  for (const auto& constant : revealed.constants) {
    const auto row = fitted.find(constant.name);
    if (row == fitted.end()) continue;
    const auto value = number(row->second, "value");
    const auto low = number(row->second, "low");
    const auto high = number(row->second, "high");
    const bool covered = low && high && *low <= constant.truth && constant.truth <= *high;
    const auto own_low = number(row->second, "sensed_low");
    const auto own_high = number(row->second, "sensed_high");
    const auto own_covered = own_low && own_high ? nlohmann::json(*own_low <= constant.sensed &&
                                                                  constant.sensed <= *own_high)
                                                 : nlohmann::json(nullptr);
    constants.push_back({{"sensed_low", or_null(own_low)},
                         {"sensed_high", or_null(own_high)},
                         {"covered_sensed", own_covered},
                         {"reason", row->second.value("reason", std::string{})},
                         {"name", constant.name},
                         {"truth", constant.truth},
                         {"sensed_truth", constant.sensed},
                         {"fit", or_null(value)},
                         {"low", or_null(low)},
                         {"high", or_null(high)},
                         {"covered", covered},
                         {"unit", constant.unit},
                         {"status", row->second.value("status", std::string{})}});
    if (constant.name == "wire_energy_fj_per_bit_mm" && value) result["covered_wire"] = covered;
    // One of both has a value.
    if ((constant.name == "energy_fj_per_bit_mm" || constant.name == "energy_fj_per_bit_ns") &&
        value) {
      result["error_percent"] = 100.0 * (*value / constant.truth - 1.0);
      result["error_sensed_percent"] = 100.0 * (*value / constant.sensed - 1.0);
      result["covered"] = covered;
      result["parts"] = score_parts(model, constant, revealed.sensor_factor);
      if (own_low && own_high) {
        result["covered_sensed"] = own_covered;
        result["sensed_half_width_percent"] = 50.0 * (*own_high - *own_low) / std::abs(*value);
      }
    }
  }
  result["constants"] = std::move(constants);
  if (!homes.json.is_null()) result["homes"] = std::move(homes.json);
  result["control_toggles_per_bit"] = {{"sealed", revealed.control_toggles_per_bit},
                                       {"campaign", or_null(control_toggles(model))}};
  const auto misfit = model.value("misfit", nlohmann::json::object());
  result["misfit_flagged"] = misfit.is_object() && misfit.value("flagged", false);
  result["chip_class"] = sim::gpu::to_string(revealed.chip_class);
  result["virtual"] = true;
  result["device"] = model.value("device", std::string{});
  if (std::filesystem::exists(segments, ec)) {
    WW_ASSIGN(rows, score_segments(segments, revealed));
    result["segments"] = std::move(rows);
  }
  return result;
}

std::string score_text(const nlohmann::json& value) {
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : std::string("-");
}

// The folder, where one of its files is given.
std::string folder_of(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return path;
  return std::filesystem::absolute(path).parent_path().string();
}

int run(const std::string& folder, bool json) {
  const auto result = score(folder);
  if (!result) return report_error(result.error());
  if (const auto status = write_file_atomically(std::filesystem::path(folder) / "score.json",
                                                result->dump(2) + "\n");
      !status) {
    return report_error(status.error());
  }
  if (json) {
    print_json(*result);
    return 0;
  }
  fmt::print("{} (virtual): the sealed truth beside the fit\n",
             (*result)["device"].get<std::string>());
  if (result->contains("segments")) print_score_segments((*result)["segments"]);
  if (result->contains("ways")) print_score_chiplet(*result);
  if (result->contains("values")) {
    const auto& values = (*result)["values"];
    fmt::print("energy that follows the data: {:.1f}% of vector instructions, {:.1f}% of SRAM\n",
               100 * values["alu_share"].get<double>(), 100 * values["sram_share"].get<double>());
  }
  if (!result->contains("constants")) return 0;
  std::vector<std::vector<std::string>> rows{
      {"CONSTANT", "TRUTH", "FIT", "LOW", "HIGH", "COVERED", "UNIT"}};
  for (const auto& row : (*result)["constants"]) {
    rows.push_back({row["name"], score_text(row["truth"]), score_text(row["fit"]),
                    score_text(row["low"]), score_text(row["high"]),
                    row["fit"].is_null()         ? row["status"].get<std::string>()
                    : row["covered"].get<bool>() ? "yes"
                                                 : "no",
                    row["unit"]});
  }
  print_table(rows);
  fmt::print("error {}% of the truth, {}% of what any fit could sense; misfit {}\n",
             score_text((*result)["error_percent"]), score_text((*result)["error_sensed_percent"]),
             (*result)["misfit_flagged"].get<bool>() ? "flagged" : "not flagged");
  return 0;
}

int run_program(const std::string& folder, const std::vector<std::string>& command, bool json) {
  const auto scored = [&]() -> Result<nlohmann::json> {
    const auto campaign_file = std::filesystem::path(folder) / "campaign.db";
    WW_ASSIGN(campaign, CampaignStore::open_read_only(campaign_file));
    WW_ASSIGN(request, chip_of(campaign, campaign_file.string()));
    microbench::DeviceRequest device;
    device.name = virtual_device_name(request.chip);
    device.chip_seed = request.seed;
    device.chip_class = sim::gpu::to_string(request.chip_class);
    return score_estimate((std::filesystem::path(folder) / "model.json").string(), device, command);
  }();
  if (!scored) return report_error(scored.error());
  if (json) {
    print_json(*scored);
  } else {
    print_score_estimate(*scored);
  }
  return 0;
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
          "Folder that `wirewatt calibrate`, `wirewatt segments` or `wirewatt attribute --record` "
          "filled, or a file in it")
      ->required();
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command,
                      "A program, after --: its estimated wire energy beside the truth");
  command->footer(
      "Examples:\n  wirewatt score first-run --json\n"
      "  wirewatt score first-run -- wirewatt workloads run nn\n"
      "  wirewatt score segments");
  command->callback([arguments, &outcome] {
    const std::string folder = folder_of(arguments->folder);
    outcome.exit_code = arguments->command.empty()
                            ? run(folder, arguments->json)
                            : run_program(folder, arguments->command, arguments->json);
  });
}

}  // namespace ww::cli
