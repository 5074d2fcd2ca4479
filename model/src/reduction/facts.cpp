#include "reduction/facts.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "ww/core/campaign_store.hpp"

namespace ww::model {
namespace {

using nlohmann::json;

Result<json> parse(const std::map<std::string, std::string>& facts, std::string_view key) {
  const auto found = facts.find(std::string(key));
  if (found == facts.end()) {
    return fail(ErrorCode::bad_data,
                "the campaign lacks this fact; it was interrupted before it began, so run it again",
                std::string(key));
  }
  json value = json::parse(found->second, nullptr, false);
  if (value.is_discarded()) {
    return fail(ErrorCode::parse_error, "is not JSON", std::string(key));
  }
  return value;
}

// Reads a number of a JSON object, between low and high; `absent` where the key may be missing.
Result<double> number(const json& object, std::string_view fact, const char* key, double low,
                      double high, std::optional<double> absent = {}) {
  const std::string where = std::string(fact) + "." + key;
  if (!object.is_object() || !object.contains(key)) {
    if (absent) return *absent;
    return fail(ErrorCode::bad_data, "missing", where);
  }
  const json& value = object.at(key);
  if (!value.is_number()) return fail(ErrorCode::parse_error, "must be a number", where);
  const double result = value.get<double>();
  if (!(result >= low && result <= high)) {
    return fail(ErrorCode::out_of_range, "absurd value " + value.dump(), where);
  }
  return result;
}

std::string text_or_empty(const std::map<std::string, std::string>& facts, std::string_view key) {
  const auto found = facts.find(std::string(key));
  return found == facts.end() ? std::string{} : found->second;
}

Result<SensorFact> read_sensor(const json& object) {
  SensorFact sensor;
  constexpr auto key = campaign_keys::sensor;
  WW_ASSIGN(period, number(object, key, "period_s", 1e-6, 10));
  WW_ASSIGN(delay, number(object, key, "delay_s", 0, 60));
  WW_ASSIGN(rise, number(object, key, "rise_s", 0, 60));
  WW_ASSIGN(power, number(object, key, "power_resolution_w", 0, 50, 0.0));
  WW_ASSIGN(temperature, number(object, key, "temperature_resolution_c", 0, 20, 1.0));
  WW_ASSIGN(gain, number(object, key, "gain_tolerance_95", 0, 1));
  WW_ASSIGN(slope, number(object, key, "regulator_slope_tolerance_95", 0, 1, 0.0));
  sensor.period_s = period;
  sensor.delay_s = delay;
  sensor.rise_s = rise;
  sensor.power_resolution_w = power;
  sensor.temperature_resolution_c = temperature;
  sensor.gain_tolerance_95 = gain;
  sensor.regulator_slope_tolerance_95 = slope;
  return sensor;
}

}  // namespace

Result<Facts> read_facts(const std::map<std::string, std::string>& facts) {
  Facts result;
  result.device = text_or_empty(facts, campaign_keys::device);
  result.is_virtual = text_or_empty(facts, campaign_keys::is_virtual) == "true";
  result.version = text_or_empty(facts, campaign_keys::version);
  result.seed = text_or_empty(facts, campaign_keys::seed);

  WW_ASSIGN(sensor_json, parse(facts, campaign_keys::sensor));
  WW_ASSIGN(sensor, read_sensor(sensor_json));
  result.sensor = sensor;

  if (facts.contains(std::string(campaign_keys::chip))) {
    WW_ASSIGN(chip, parse(facts, campaign_keys::chip));
    WW_ASSIGN(bytes,
              number(chip, campaign_keys::chip, "bytes_per_clock_per_channel", 0, 4096, 0.0));
    result.bytes_per_clock_per_channel = bytes;
  }

  WW_ASSIGN(dvfs, parse(facts, campaign_keys::dvfs));
  if (!dvfs.is_array() || dvfs.empty()) {
    return fail(ErrorCode::parse_error, "must be a non-empty list of states",
                std::string(campaign_keys::dvfs));
  }
  for (const json& entry : dvfs) {
    WW_ASSIGN(voltage, number(entry, campaign_keys::dvfs, "voltage_v", 0.1, 3));
    WW_ASSIGN(clock, number(entry, campaign_keys::dvfs, "clock_hz", 1e6, 1e11));
    result.dvfs.push_back({voltage, clock});
  }

  if (facts.contains(std::string(campaign_keys::plan))) {
    WW_ASSIGN(plan, parse(facts, campaign_keys::plan));
    WW_ASSIGN(state, number(plan, campaign_keys::plan, "reference_state", 0,
                            static_cast<double>(result.dvfs.size()) - 1, 0.0));
    result.reference_state = static_cast<int>(state);
  }

  result.floorplan_text = text_or_empty(facts, campaign_keys::floorplan);
  if (result.floorplan_text.empty()) {
    return fail(ErrorCode::bad_data, "the campaign holds no floorplan, so distances are unknown",
                std::string(campaign_keys::floorplan));
  }
  WW_ASSIGN(floorplan, parse_floorplan(result.floorplan_text, "floorplan of the campaign"));
  result.floorplan = std::move(floorplan);
  return result;
}

}  // namespace ww::model
