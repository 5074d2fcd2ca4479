// A calibration with round figures, and traffic of one kernel, for tests of estimates.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/model/estimate.hpp"

namespace ww::model {

// 100 fJ/bit/mm +- 5% at 1 V; 1, 10 and 20 mm.
inline nlohmann::json model_json() {
  return nlohmann::json::parse(R"({
    "format": "wirewatt-model/1", "device": "virtual:test", "virtual": true,
    "energy_fj_per_bit_mm": {"status": "ok", "value": 100, "low": 95, "high": 105,
                             "sensed_low": 99, "sensed_high": 101},
    "constants": [{"name": "toggle_slope_fj_per_transition_mm", "status": "ok", "value": 180,
                   "low": 170, "high": 190, "sensed_low": 178, "sensed_high": 182}],
    "reference": {"voltage_v": 1.0, "clock_hz": 1e9},
    "distances": {"floorplan": "test", "engine_to_quadrant_mm": [[5, 15], [15, 5]],
                  "registers_to_l1_mm": 1, "l2_to_memory_mm": 20}})");
}

inline WireModel wire_model() {
  auto model = parse_wire_model(model_json(), "test");
  EXPECT_TRUE(model) << model.error().text();
  return *model;
}

inline KernelTraffic kernel(double l1_l2_bytes) {
  KernelTraffic traffic;
  traffic.kernel = "k";
  traffic.dispatches = 2;
  traffic.time_s = 0.5;
  traffic.segments[0].bytes = 4 * l1_l2_bytes;
  traffic.segments[1].bytes = l1_l2_bytes;
  traffic.segments[2].bytes = l1_l2_bytes / 2;
  return traffic;
}

inline const SegmentEstimate& l1_l2(const KernelEstimate& kernel) {
  return kernel.segments[1];
}

}  // namespace ww::model
