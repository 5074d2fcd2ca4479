#include "ww/measure/sensor_info.hpp"

#include <nlohmann/json.hpp>

namespace ww::measure {
namespace {

constexpr double default_gain_tolerance = 0.05;
constexpr double default_regulator_tolerance = 0.05;
constexpr double default_floorplan_tolerance = 0.10;

}  // namespace

SensorInfo combine(const SensorFacts& facts, const StepResponse& response) {
  SensorInfo info;
  info.name = facts.name;
  info.period_s = response.period_s > 0 ? response.period_s : facts.stated_period_s.value_or(0.0);
  info.resolved = response.resolved;
  info.delay_s = response.resolved ? response.delay_s : info.period_s;
  info.rise_s = response.resolved ? response.rise_s : info.period_s;
  info.power_resolution_w = facts.power_resolution_w.value_or(0.0);
  info.temperature_resolution_c = facts.temperature_resolution_c.value_or(1.0);
  info.gain_tolerance_95 = facts.gain_tolerance_95.value_or(default_gain_tolerance);
  info.regulator_slope_tolerance_95 =
      facts.regulator_slope_tolerance_95.value_or(default_regulator_tolerance);
  info.floorplan_tolerance_95 = facts.floorplan_tolerance_95.value_or(default_floorplan_tolerance);
  return info;
}

nlohmann::json to_json(const SensorInfo& info) {
  return {{"name", info.name},
          {"period_s", info.period_s},
          {"delay_s", info.delay_s},
          {"rise_s", info.rise_s},
          {"resolved", info.resolved},
          {"power_resolution_w", info.power_resolution_w},
          {"temperature_resolution_c", info.temperature_resolution_c},
          {"gain_tolerance_95", info.gain_tolerance_95},
          {"regulator_slope_tolerance_95", info.regulator_slope_tolerance_95},
          {"floorplan_tolerance_95", info.floorplan_tolerance_95}};
}

Result<SensorInfo> sensor_info_from_json(const nlohmann::json& json) {
  SensorInfo info;
  const char* key = "";
  const auto number = [&](const char* name) {
    key = name;
    return json.at(name).get<double>();
  };
  try {
    key = "name";
    info.name = json.at("name").get<std::string>();
    info.period_s = number("period_s");
    info.delay_s = number("delay_s");
    info.rise_s = number("rise_s");
    key = "resolved";
    info.resolved = json.at("resolved").get<bool>();
    info.power_resolution_w = number("power_resolution_w");
    info.temperature_resolution_c = number("temperature_resolution_c");
    info.gain_tolerance_95 = number("gain_tolerance_95");
    info.regulator_slope_tolerance_95 = number("regulator_slope_tolerance_95");
    info.floorplan_tolerance_95 = number("floorplan_tolerance_95");
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::parse_error, std::string("missing or malformed '") + key + "'",
                "sensor facts");
  }
  return info;
}

}  // namespace ww::measure
