#include "commands/resume.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/microbench/campaign_facts.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::cli {
namespace {

// The word as a POSIX shell reads it.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=@%+-,").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Status read_number(const std::string& text, std::string_view key, const std::string& file,
                   std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::parse_error, fmt::format("damaged campaign: its {} is '{}'", key, text),
                file);
  }
  return {};
}

}  // namespace

Result<nlohmann::json> take_recorded(const std::filesystem::path& file, const CLI::App& command,
                                     microbench::DeviceRequest& request, std::uint64_t& seed) {
  if (std::error_code ec; !std::filesystem::exists(file, ec)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("nothing to resume in {}: there is no {}", file.parent_path().string(),
                            file.filename().string()),
                "--resume");
  }
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  WW_ASSIGN(facts, store.facts());
  const auto given = [&](const char* option) { return command.count(option) > 0; };
  const auto fact = [&](std::string_view key) -> const std::string* {
    const auto found = facts.find(std::string(key));
    return found == facts.end() ? nullptr : &found->second;
  };
  const auto* device = fact(campaign_keys::device);
  if (device == nullptr && !given("--device")) {
    return fail(ErrorCode::invalid_argument,
                "nothing to resume: the campaign ended before it named its device; give --device "
                "and the other options again",
                file.string());
  }
  if (device != nullptr && !given("--device")) request.name = *device;
  if (const auto* recorded = fact(campaign_keys::seed); recorded != nullptr && !given("--seed")) {
    WW_TRY(read_number(*recorded, campaign_keys::seed, file.string(), seed));
  }
  if (const auto* chip = fact(campaign_keys::chip_seed); chip != nullptr && !given("--chip-seed")) {
    WW_TRY(read_number(*chip, campaign_keys::chip_seed, file.string(), request.chip_seed));
  }
  if (const auto* chip = fact(campaign_keys::chip_class);
      chip != nullptr && !given("--chip-class")) {
    request.chip_class = *chip;
  }
  if (const auto* text = fact(model::kPathsFact)) {
    WW_ASSIGN(json, parse_json(*text, model::kPathsFact));
    WW_ASSIGN(paths, model::measured_paths_from_json(json));
    request.use_floorplan = request.use_floorplan && paths.by_floorplan;
  }
  const auto* plan = fact(campaign_keys::plan);
  if (plan == nullptr) plan = fact(microbench::kAskedFact);
  return plan == nullptr ? nlohmann::json() : parse_json(*plan, file.string());
}

Status take_from_campaign(microbench::CampaignRequest& request, const CLI::App& command) {
  WW_ASSIGN(plan,
            take_recorded(request.folder / "campaign.db", command, request.device, request.seed));
  const auto is = [&](const char* key, bool otherwise) {
    const auto found = plan.find(key);
    return found != plan.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  };
  request.quick = request.quick || is("quick", false);
  request.nops = request.nops || is("nops", false);
  request.mirrored = request.mirrored && is("mirrored", true);
  return {};
}

Status refuse_other_recording(const CampaignStore& store, const CLI::App& command) {
  const std::pair<const char*, std::string_view> asked[] = {
      {"--device", campaign_keys::device},
      {"--seed", campaign_keys::seed},
      {"--chip-seed", campaign_keys::chip_seed},
      {"--chip-class", campaign_keys::chip_class}};
  for (const auto& [option, key] : asked) {
    if (command.count(option) == 0) continue;
    const std::string& given = command.get_option(option)->results().front();
    if (DeviceName(given).is_chip_file()) continue;  // stored by another spelling of its path
    WW_ASSIGN(recorded, store.get(key));
    if (!recorded || *recorded == given) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("the recording in this folder has {} '{}', not '{}'; leave {} out or "
                            "choose another folder",
                            key, *recorded, given, option),
                store.file().string());
  }
  return {};
}

std::string resumed_by(const std::string& command, const std::filesystem::path& folder,
                       const std::vector<std::string>& more) {
  std::string text =
      fmt::format("go on with: wirewatt {} --resume --out {}", command, quoted(folder.string()));
  for (const std::string& word : more) text += " " + quoted(word);
  return text;
}

}  // namespace ww::cli
