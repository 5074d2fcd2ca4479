// Somebody else's program as a load.
#pragma once

#include <memory>
#include <string>

#include "ww/measure/i_sensor.hpp"
#include "ww/measure/sensor_check.hpp"

namespace ww::measure {

// The shell command is started when the load goes on and ended (SIGTERM, after a second SIGKILL, to
// its process group) when it goes off. The sensor's clock must be the steady one; it must outlive
// the load. Errors of run_for: io_error (cannot be started, or it ended by itself).
[[nodiscard]] std::unique_ptr<Load> make_command_load(std::string command, Sensor& sensor);

}  // namespace ww::measure
