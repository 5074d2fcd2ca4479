// Power over chip time as the truth has it. Leakage follows each zone's temperature, the thermal
// network follows power, the regulator and the sensor distort what is read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/power_timeline.hpp"

namespace ww::sim::gpu {

class ChipTimeline final : public PowerTimeline {
 public:
  // `seed` draws sensor noise and drift; the same seed and calls give the same samples. The chip
  // outlives it.
  ChipTimeline(const Chip& chip, std::uint64_t seed);
  ~ChipTimeline() override;
  ChipTimeline(const ChipTimeline&) = delete;
  ChipTimeline& operator=(const ChipTimeline&) = delete;

  [[nodiscard]] std::int64_t now_ns() const override;
  void idle_until(std::int64_t time_ns) override;
  void run(const LaunchActivity& activity) override;
  void run_repeated(const LaunchActivity& activity, std::int64_t count) override;
  void select_dvfs(int state) override;
  [[nodiscard]] int dvfs_state() const override;
  [[nodiscard]] std::uint64_t sample_count() const override;
  std::uint64_t samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const override;
  [[nodiscard]] ww_vgpu_sensor_info sensor_info() const override;
  [[nodiscard]] std::span<const char* const> rail_names() const override;
  std::uint64_t rails_since(std::uint64_t first, std::span<ww_vgpu_rail_sample> out) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::gpu
