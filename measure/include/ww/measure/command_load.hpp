// Uses another program as a load.
#pragma once

#include <memory>
#include <string>

#include "ww/measure/i_sensor.hpp"
#include "ww/measure/sensor_check.hpp"

namespace ww::measure {

// A load that starts a shell command when it is switched on. When it is switched off, it ends the
// command's process group (SIGTERM, and SIGKILL after a second). The sensor's clock must be the
// steady one, and the sensor must outlive the load. Errors of run_for: io_error (the command cannot
// be started, or it ended by itself).
[[nodiscard]] std::unique_ptr<Load> make_command_load(std::string command, Sensor& sensor);

}  // namespace ww::measure
