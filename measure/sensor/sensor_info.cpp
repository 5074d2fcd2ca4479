#include "ww/measure/sensor_info.hpp"

#include <nlohmann/json.hpp>

#include "ww/core/sensor_tolerances.hpp"

namespace ww::measure {

SensorInfo combine(const SensorFacts& facts, const StepResponse& response) {
  SensorInfo info;
  info.name = facts.name;
  info.period_s = response.period_s > 0 ? response.period_s : facts.stated_period_s.value_or(0.0);
  info.resolved = response.resolved;
  info.delay_s = response.resolved ? response.delay_s : info.period_s;
  info.rise_s = response.resolved ? response.rise_s : info.period_s;
  info.power_resolution_w = facts.power_resolution_w.value_or(0.0);
  info.temperature_resolution_c = facts.temperature_resolution_c.value_or(1.0);
  info.gain_tolerance_95 = facts.gain_tolerance_95.value_or(kBoardGainTolerance95);
  info.regulator_slope_tolerance_95 =
      facts.regulator_slope_tolerance_95.value_or(kRegulatorSlopeTolerance95);
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
          {"regulator_slope_tolerance_95", info.regulator_slope_tolerance_95}};
}

}  // namespace ww::measure
