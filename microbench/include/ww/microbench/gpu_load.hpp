// A load for step tests: the furnace kernel on a compute host.
#pragma once

#include <memory>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/sensor_check.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// Heats every compute unit in launches of some milliseconds of the sensor's time. Host and sensor
// must outlive it. Errors: those of building and launching.
[[nodiscard]] Result<std::unique_ptr<measure::Load>> make_gpu_load(ComputeHost& host,
                                                                   measure::Sensor& sensor);

}  // namespace ww::microbench
