// The joules of virtual chips while a program runs on them, from the feed of its processes.
#pragma once

#include <map>
#include <string>

#include "ww/energy/running_energy.hpp"
#include "ww/session/device_meter.hpp"
#include "ww/session/live.hpp"

namespace ww::session {

class LiveMeter {
 public:
  void take(const LiveNews& news);
  // Sum over all processes, each from its first reading to its newest one, by its chip's clock.
  [[nodiscard]] MeterReading so_far() const;

 private:
  struct Chip {
    energy::RunningEnergy energy;
    std::int64_t first_ns{}, newest_ns{};
  };
  std::map<std::string, Chip> chips_;  // by process
};

}  // namespace ww::session
