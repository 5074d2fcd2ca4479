// The chip's power, heat and sensor over chip time. Launches are appended in order; between them
// the chip idles. What stands behind it is the chip's sealed side (PowerSide in chip.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "ww/core/vgpu_abi.h"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu {

class PowerTimeline {
 public:
  virtual ~PowerTimeline() = default;

  [[nodiscard]] virtual std::int64_t now_ns() const = 0;
  // The chip idles for a while, or runs a launch (its cycles at the present clock).
  virtual void idle_until(std::int64_t time_ns) = 0;
  virtual void run(const LaunchActivity& activity) = 0;
  // `count` identical launches with the launch overhead between them, at the cost of few.
  virtual void run_repeated(const LaunchActivity& activity, std::int64_t count) = 0;

  virtual void select_dvfs(int state) = 0;
  [[nodiscard]] virtual int dvfs_state() const = 0;

  [[nodiscard]] virtual std::uint64_t sample_count() const = 0;
  virtual std::uint64_t samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const = 0;
  [[nodiscard]] virtual ww_vgpu_sensor_info sensor_info() const = 0;

  // Names of the rails that are metered apart; empty where none is.
  [[nodiscard]] virtual std::span<const char* const> rail_names() const = 0;
  virtual std::uint64_t rails_since(std::uint64_t first,
                                    std::span<ww_vgpu_rail_sample> out) const = 0;
};

}  // namespace ww::sim::gpu
