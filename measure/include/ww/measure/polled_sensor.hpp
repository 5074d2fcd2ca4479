// Makes a sensor of a source that a sampler polls, together with the control of its clocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ww/measure/clock_control.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/power_source.hpp"
#include "ww/measure/sampler.hpp"

namespace ww::measure {

// Times are those of the steady clock. The time_ns of a reading is the time of its poll, because
// real sensors do not report when they refreshed.
class PolledSensor final : public Sensor {
 public:
  // `clocks` may be null. There are then no clock states, and `no_clocks` says why. Errors: those
  // of Sampler::start.
  static Result<std::unique_ptr<PolledSensor>> start(std::unique_ptr<PowerSource> source,
                                                     std::unique_ptr<ClockControl> clocks,
                                                     std::string no_clocks,
                                                     const SamplerOptions& options = {});

  [[nodiscard]] const SensorFacts& facts() const override { return source_->facts(); }
  [[nodiscard]] std::vector<FieldState> fields() const override { return fields_; }
  [[nodiscard]] std::int64_t now_ns() override { return steady_now_ns(); }
  void sleep_until(std::int64_t time_ns) override;
  Result<std::vector<SensorReading>> new_readings() override;
  [[nodiscard]] std::vector<RailReading> new_rails() override { return source_->take_rails(); }
  [[nodiscard]] std::string throttling() const override {
    return source_->throttle_text(throttle_bits_);
  }
  [[nodiscard]] std::vector<DvfsState> dvfs_states() const override;
  // -1 while the driver chooses.
  [[nodiscard]] int dvfs_current() const override;
  Status select_dvfs(int state) override;

  // Reads the sensor now, between the polls that are due, and returns after that.
  void poll_now() { sampler_->poll_now(); }
  // The readings as they were polled. Call it instead of new_readings().
  std::vector<Sample> new_samples();
  [[nodiscard]] const PowerSource& source() const { return *source_; }
  [[nodiscard]] SamplerStats stats() const { return sampler_->stats(); }
  // Why clocks cannot be fixed; empty if they can.
  [[nodiscard]] const std::string& no_clocks() const { return no_clocks_; }

 private:
  PolledSensor() = default;
  std::unique_ptr<PowerSource> source_;
  std::vector<FieldState> fields_;
  std::unique_ptr<ClockControl> clocks_;
  std::string no_clocks_;
  std::unique_ptr<Sampler> sampler_;  // after the source: it stops first
  std::vector<Sample> waiting_;
  std::uint64_t throttle_bits_{};  // of all readings that new_readings() gave last
};

// Converts a sample to the form of campaigns. The temperature is the edge's, or the junction's if
// there is no other.
[[nodiscard]] SensorReading stored(const Sample& sample);

}  // namespace ww::measure
