// The chip's power, heat and sensor over chip time. Launches are appended in order; between them
// the chip idles. Leakage follows each zone's temperature, the thermal network follows power, the
// regulator and the sensor distort what is read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ww/core/vgpu_abi.h"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

class PowerTimeline {
 public:
  // seed draws sensor noise and drift; the same seed and calls give the same samples.
  PowerTimeline(const Chip& chip, std::uint64_t seed);
  ~PowerTimeline();
  PowerTimeline(const PowerTimeline&) = delete;
  PowerTimeline& operator=(const PowerTimeline&) = delete;

  [[nodiscard]] std::int64_t now_ns() const;
  // The chip idles for a while, or runs a launch (its cycles at the present clock).
  void idle_until(std::int64_t time_ns);
  void run(const LaunchActivity& activity);
  // `count` identical launches with the launch overhead between them, at the cost of few.
  void run_repeated(const LaunchActivity& activity, std::int64_t count);

  void select_dvfs(int state);
  [[nodiscard]] int dvfs_state() const;

  [[nodiscard]] std::uint64_t sample_count() const;
  std::uint64_t samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const;
  [[nodiscard]] ww_vgpu_sensor_info sensor_info() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::gpu
