#include <fmt/format.h>

#include <algorithm>

#include "kinds/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/named_file.hpp"

namespace ww::calibration {
namespace {

constexpr const char* kModelFile = "model.json";

const Kind& kind_of(const nlohmann::json& document, std::span<const Kind> table) {
  const auto has = [&](const Kind& kind) {
    return kind.key.empty() || (document.is_object() && document.contains(kind.key));
  };
  return *std::ranges::find_if(table, has);
}

const Kind& kind_of_plan(const nlohmann::json& plan, std::span<const Kind> table) {
  const auto method = plan.is_object() ? plan.value("method", nlohmann::json()) : nlohmann::json();
  return *std::ranges::find_if(
      table, [&](const Kind& kind) { return kind.method.empty() || method == kind.method; });
}

}  // namespace

Result<std::filesystem::path> calibration_file(const std::filesystem::path& path,
                                               std::span<const Kind> table) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec) && !std::filesystem::exists(path / kModelFile, ec)) {
    for (const Kind& kind : table) {
      if (std::filesystem::exists(path / kind.file, ec)) return path / kind.file;
    }
  }
  return named_file(path, kModelFile,
                    "'wirewatt calibrate --out FOLDER' writes one into FOLDER, 'wirewatt fit "
                    "CAMPAIGN --out FILE' fits one again");
}

Result<std::unique_ptr<Calibration>> parse(nlohmann::json document, const std::string& origin,
                                           Admission admission, std::span<const Kind> table) {
  const Kind& kind = kind_of(document, table);
  return kind.parse(std::move(document), origin, admission);
}

Result<std::unique_ptr<Calibration>> load(const std::filesystem::path& path, Admission admission,
                                          std::span<const Kind> table) {
  WW_ASSIGN(file, calibration_file(path, table));
  WW_ASSIGN(text, read_file(file));
  if (text.starts_with("SQLite format 3")) {
    return fail(ErrorCode::parse_error,
                "is a database, not a calibration; name the folder of the campaign, or fit it with "
                "'wirewatt fit'",
                file.string());
  }
  WW_ASSIGN(document, parse_json(text, file.string()));
  return parse(std::move(document), file.string(), admission, table);
}

Result<model::WireModel> load_wires(const std::filesystem::path& path, Admission admission) {
  WW_ASSIGN(calibration, load(path, admission));
  if (calibration->wires() != nullptr) return *calibration->wires();
  return fail(
      ErrorCode::unsupported,
      fmt::format("is {}, which has no energy per bit and millimetre of a die's wires. This "
                  "command needs one. 'wirewatt report' shows what it has; 'wirewatt "
                  "estimate --constant literature' works without a model",
                  calibration->title()),
      path.string());
}

Result<Fitted> fit(const CampaignStore& campaign, const FitRequest& request,
                   std::span<const Kind> table) {
  const auto plan = nlohmann::json::parse(fact(campaign, campaign_keys::plan), nullptr, false);
  const Kind& kind = kind_of_plan(plan, table);
  for (const std::string& option : request.given) {
    if (std::ranges::find(kind.fit_options, option) != kind.fit_options.end()) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} does not go with a campaign of {}, which is fitted in another way",
                            option, kind.measures),
                campaign.file().string());
  }
  return kind.fit(campaign, request);
}

std::string fact(const CampaignStore& campaign, std::string_view key) {
  const auto value = campaign.get(key);
  return value && *value ? **value : std::string();
}

std::string device_line(const std::string& device, bool is_virtual) {
  return device + (is_virtual ? " (virtual, not a measurement)" : "");
}

}  // namespace ww::calibration
