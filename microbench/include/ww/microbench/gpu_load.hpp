// A load for step tests: the furnace kernel on a compute host.
#pragma once

#include <memory>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/sensor_check.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// Heats every compute unit in launches of about `launch_s` of the sensor's time, eight at once. A
// step therefore ends within eight launches of the requested time. A simulated chip executes the
// first launch, which takes long if the launch is long. Host and sensor must outlive the load.
// Errors: those of building and launching.
[[nodiscard]] Result<std::unique_ptr<measure::Load>> make_gpu_load(ComputeHost& host,
                                                                   measure::Sensor& sensor,
                                                                   double launch_s = 0.0003);

}  // namespace ww::microbench
