// A sensor of given shape and a load, in a time of their own: minutes of switching cost
// milliseconds.
#pragma once

#include <cmath>
#include <optional>

#include "simulated_power.hpp"
#include "ww/core/energy_tick.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/sensor_check.hpp"

namespace ww::measure::testing {

struct SimulatedGpu {
  SensorShape shape;
  double idle_w{60}, load_w{130};
  double poll_s{0.001};
  double poll_jitter_s{0};
  bool frozen{}, frozen_energy{}, energy{true};
  double energy_period_s{0.001};
  double now_s{100};
  SteppedPower power{60};
};

class SimulatedSensor final : public Sensor {
 public:
  explicit SimulatedSensor(SimulatedGpu& gpu) : gpu_(gpu), polled_s_(gpu.now_s) {
    facts_.name = "simulated";
  }
  const SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return std::llround(gpu_.now_s * 1e9); }
  void sleep_until(std::int64_t time_ns) override {
    gpu_.now_s = std::max(gpu_.now_s, static_cast<double>(time_ns) * 1e-9);
  }
  Result<std::vector<SensorReading>> new_readings() override {
    std::vector<SensorReading> readings;
    for (; polled_s_ < gpu_.now_s; polled_s_ += gpu_.poll_s) {
      const double at =
          polled_s_ + gpu_.poll_jitter_s * (noise_of(polls_++ * 2654435761U) / 6 + 0.5);
      SensorReading reading;
      reading.time_ns = reading.poll_ns = std::llround(at * 1e9);
      reading.power_uw =
          gpu_.frozen ? 90'000'000 : std::llround(shown_power(gpu_.power, gpu_.shape, at) * 1e6);
      if (gpu_.energy) {
        const double refresh = std::floor(at / gpu_.energy_period_s) * gpu_.energy_period_s;
        reading.energy_ticks = gpu_.frozen_energy
                                   ? 123456789
                                   : std::llround(gpu_.power.energy(0, refresh) * kTicksPerJoule);
      }
      reading.temperature_mc = 45'000;
      readings.push_back(reading);
    }
    return readings;
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return fail(ErrorCode::unsupported, "simulated"); }

 private:
  SimulatedGpu& gpu_;
  SensorFacts facts_;
  double polled_s_;
  std::uint64_t polls_{};
};

class SimulatedLoad final : public Load {
 public:
  explicit SimulatedLoad(SimulatedGpu& gpu) : gpu_(gpu) {}
  std::string name() const override { return "simulated load"; }
  Result<LoadStep> run_for(double seconds) override {
    LoadStep step;
    step.on_ns = std::llround(gpu_.now_s * 1e9);
    gpu_.power.step(gpu_.now_s, gpu_.load_w);
    gpu_.now_s += seconds;
    gpu_.power.step(gpu_.now_s, gpu_.idle_w);
    step.off_ns = std::llround(gpu_.now_s * 1e9);
    return step;
  }

 private:
  SimulatedGpu& gpu_;
};

}  // namespace ww::measure::testing
