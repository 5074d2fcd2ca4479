#include "ww/session/priced.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "ww/model/segment_names.hpp"

namespace ww::session {
namespace {

using nlohmann::json;

constexpr const char* kTogether = "together";
constexpr const char* kCrossing = "crossing";

// The kinds of calibration by what their estimate's document has (docs/files.md).
constexpr std::string_view kCrossingsKind = "crossings";
constexpr std::string_view kPackageKind = "package";

std::optional<Interval> interval_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return std::nullopt;
  return Interval{found->at("value").get<double>(), found->at("low").get<double>(),
                  found->at("high").get<double>()};
}

PricedRow row_of(std::string name, const json& object) {
  return {std::move(name), object.value("status", ""), object.value("reason", ""),
          interval_of(object, "energy_j"), interval_of(object, "power_w")};
}

const char* partly(const std::string& left_out) {
  return left_out.empty() ? "" : "partly";
}

Priced priced_wires(const json& total) {
  Priced priced;
  const auto& segments = total.at("segments");
  for (std::size_t s = 0; s < segments.size(); ++s) {
    priced.rows.push_back(row_of(model::kSegmentNames.at(s), segments.at(s)));
  }
  priced.together = row_of(kTogether, total);
  priced.together.status = partly(total.value("left_out", ""));
  return priced;
}

Priced priced_ways(const json& total) {
  Priced priced;
  for (const json& way : total.at("hop_classes")) {
    priced.rows.push_back(row_of(way.at("class").get<std::string>(), way));
  }
  priced.together = row_of(kTogether, total.at("together"));
  return priced;
}

Priced priced_crossings(const json& total) {
  return {{row_of(kCrossing, total)}, row_of(kTogether, total)};
}

}  // namespace

Priced unpriced_segments(const std::string& status, const std::string& reason) {
  Priced priced;
  for (const char* name : model::kSegmentNames)
    priced.rows.push_back({name, status, reason, {}, {}});
  priced.together = {kTogether, status, reason, {}, {}};
  return priced;
}

Priced unpriced(const calibration::Calibration& calibration, const std::string& status,
                const std::string& reason) {
  if (calibration.kind() == kCrossingsKind) {
    return {{{kCrossing, status, reason, {}, {}}}, {kTogether, status, reason, {}, {}}};
  }
  if (calibration.kind() == kPackageKind) {
    return {{{"ways", status, reason, {}, {}}}, {kTogether, status, reason, {}, {}}};
  }
  return unpriced_segments(status, reason);
}

Result<Priced> price(const calibration::Calibration& calibration,
                     const calibration::Traffic& traffic,
                     const calibration::EstimateRequest& request) {
  WW_ASSIGN(answer, calibration.estimate(traffic, request));
  const json& document = answer.json;
  if (calibration.kind() == kPackageKind) return priced_ways(document.at("ways").at("total"));
  if (calibration.kind() == kCrossingsKind) return priced_crossings(document.at("total"));
  return priced_wires(document.at("total"));
}

Priced priced(const model::KernelEstimate& estimate) {
  Priced priced;
  for (std::size_t s = 0; s < estimate.segments.size(); ++s) {
    const model::SegmentEstimate& segment = estimate.segments[s];
    priced.rows.push_back({model::kSegmentNames[s], std::string(to_string(segment.status)),
                           segment.reason, segment.energy_j, segment.power_w});
  }
  priced.together = {kTogether, partly(estimate.left_out), "", estimate.energy_j, estimate.power_w};
  return priced;
}

Priced at_share(Priced priced, double share) {
  for (PricedRow& row : priced.rows) {
    if (row.power_w) row.power_w = row.power_w->times(share);
  }
  if (priced.together.power_w) priced.together.power_w = priced.together.power_w->times(share);
  return priced;
}

}  // namespace ww::session
