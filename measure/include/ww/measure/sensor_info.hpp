// A campaign's record of its sensor: documented facts, and the results of the step test.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ww/measure/i_sensor.hpp"
#include "ww/measure/step_test.hpp"

namespace ww::measure {

// Stored as JSON under campaign_keys::sensor, keys as the members.
struct SensorInfo {
  std::string name;
  double period_s{};
  double delay_s{};
  double rise_s{};
  bool resolved{};  // false: delay and rise are stated defaults, not found
  double power_resolution_w{};
  double temperature_resolution_c{};
  double gain_tolerance_95{};
  double regulator_slope_tolerance_95{};
};

// Combines facts and response. If the step test did not resolve the response, delay and rise are
// one period each and `resolved` is false. Tolerances that the sensor's documentation does not
// state are assumed: 5% for the gain (today's board sensors), 5% for the regulator's slope. How far
// distances may be off, the floorplan says itself.
[[nodiscard]] SensorInfo combine(const SensorFacts& facts, const StepResponse& response);
[[nodiscard]] nlohmann::json to_json(const SensorInfo& info);

}  // namespace ww::measure
