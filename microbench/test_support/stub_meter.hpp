// A sensor for tests in one process with the stub libcuda: its meter, read every 10 ms of its time.
#pragma once

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "stub_cuda.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::microbench::testing {

// A sensor with an energy counter, or with power readings alone.
class StubMeter final : public measure::Sensor {
 public:
  explicit StubMeter(bool has_energy) : has_energy_(has_energy) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    state_ = reinterpret_cast<stub_cuda::State (*)()>(dlsym(library, "ww_stub_cuda_state"));
    sleep_ = reinterpret_cast<void (*)(double)>(dlsym(library, "ww_stub_cuda_sleep"));
    facts_.name = "stub meter";
  }
  [[nodiscard]] bool usable() const { return state_ != nullptr && sleep_ != nullptr; }
  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override {
    poll();
    return std::llround(state_().seconds * 1e9);
  }
  void sleep_until(std::int64_t time_ns) override {
    while (now_ns() < time_ns) sleep_(0.01);
  }
  Result<std::vector<SensorReading>> new_readings() override {
    poll();
    return std::exchange(waiting_, {});
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return fail(ErrorCode::unsupported, "no states"); }

 private:
  void poll() {
    const stub_cuda::State now = state_();
    if (now.seconds - last_.seconds < 0.01) return;
    SensorReading sample;
    sample.time_ns = sample.poll_ns = std::llround(now.seconds * 1e9);
    // A little noise, so that intervals are not of length zero.
    noise_ = noise_ * 1664525u + 1013904223u;
    const double watts = (now.joules - last_.joules) / (now.seconds - last_.seconds) +
                         0.02 * (static_cast<double>(noise_ >> 8) / (1 << 24) - 0.5);
    sample.power_uw = std::llround(watts * 1e6);
    if (has_energy_) sample.energy_ticks = std::llround(now.joules * 65536);
    sample.changed = true;
    waiting_.push_back(sample);
    last_ = now;
  }
  bool has_energy_;
  measure::SensorFacts facts_;
  stub_cuda::State (*state_)(){};
  void (*sleep_)(double){};
  stub_cuda::State last_{};
  std::uint32_t noise_{1};
  std::vector<SensorReading> waiting_;
};

}  // namespace ww::microbench::testing
