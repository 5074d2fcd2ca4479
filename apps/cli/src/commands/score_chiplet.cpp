#include "commands/score_chiplet.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "output.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

std::optional<double> number(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? std::optional(found->get<double>())
                                                  : std::nullopt;
}

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json within(const std::optional<double>& low, double value, const std::optional<double>& high) {
  return low && high ? json(*low <= value && value <= *high) : json(nullptr);
}

}  // namespace

json score_chiplet(const json& model, const sim::gpu::Chip& chip) {
  auto ways = json::array();
  const auto fitted = model.value("hop_classes", json::array());
  for (const sim::gpu::RevealedWay& way : sim::gpu::reveal_ways(chip)) {
    for (const json& row : fitted) {
      if (!row.is_object() || row.value("name", "") != way.name) continue;
      const auto value = number(row, "value");
      const auto low = number(row, "low");
      const auto high = number(row, "high");
      ways.push_back({{"name", way.name},
                      {"truth", way.truth_pj},
                      {"sensed_truth", way.sensed_pj},
                      {"fit", or_null(value)},
                      {"low", or_null(low)},
                      {"high", or_null(high)},
                      {"covered", within(low, way.truth_pj, high)},
                      {"covered_sensed", within(number(row, "sensed_low"), way.sensed_pj,
                                                number(row, "sensed_high"))},
                      {"error_sensed_percent",
                       value ? json(100 * (*value / way.sensed_pj - 1)) : json(nullptr)},
                      {"unit", row.value("unit", "")},
                      {"status", row.value("status", "")}});
    }
  }
  return {{"ways", std::move(ways)},
          {"controls", model.value("controls", json::array())},
          {"closure", model.value("closure", json::object())},
          {"chip_class", sim::gpu::to_string(chip.request().chip_class)},
          {"virtual", true},
          {"device", model.value("device", "")}};
}

void print_score_chiplet(const json& score) {
  const auto text = [](const json& value) {
    return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : std::string("-");
  };
  const auto yes = [](const json& value) {
    return value.is_boolean() ? (value.get<bool>() ? "yes" : "no") : "-";
  };
  std::vector<std::vector<std::string>> rows{
      {"WAY", "TRUTH", "SENSED", "FIT", "LOW", "HIGH", "COVERED", "ERROR", "UNIT", "STATUS"}};
  for (const json& way : score["ways"]) {
    const json& error = way["error_sensed_percent"];
    rows.push_back({way["name"], text(way["truth"]), text(way["sensed_truth"]), text(way["fit"]),
                    text(way["low"]), text(way["high"]), yes(way["covered"]),
                    error.is_number() ? fmt::format("{:+.2f}%", error.get<double>()) : "-",
                    way["unit"], way["status"]});
  }
  print_table(rows);
  fmt::print("ERROR is of what the rail's gain lets any fit sense.\n");
}

}  // namespace ww::cli
