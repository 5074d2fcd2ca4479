// Launches as a host sees them, for devices whose driver reports neither their times nor counters
// of each: when they were queued, and when the queue was found empty.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct LoggedHost {
  std::unique_ptr<ComputeHost> host;  // as the one given; every launch is noted
  // Dispatches by number; sums are empty, because nothing is counted. The last 65,536 launches are
  // remembered: earlier ones are not_found.
  std::unique_ptr<measure::Counters> launches;
};
// `clock` gives the times and must outlive both.
[[nodiscard]] LoggedHost log_launches(std::unique_ptr<ComputeHost> host, measure::Sensor& clock);
// Gives a device its sensor and its host, whose log of launches becomes the device's counters.
void attach_logged(Device& device, std::unique_ptr<measure::Sensor> sensor,
                   std::unique_ptr<ComputeHost> host);

}  // namespace ww::microbench
