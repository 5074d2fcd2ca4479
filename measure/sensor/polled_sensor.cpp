#include "ww/measure/polled_sensor.hpp"

#include <time.h>

#include <cerrno>

namespace ww::measure {

Result<std::unique_ptr<PolledSensor>> PolledSensor::start(std::unique_ptr<PowerSource> source,
                                                          std::unique_ptr<ClockControl> clocks,
                                                          std::string no_clocks,
                                                          const SamplerOptions& options) {
  std::unique_ptr<PolledSensor> sensor(new PolledSensor);
  sensor->source_ = std::move(source);
  sensor->clocks_ = std::move(clocks);
  sensor->no_clocks_ = std::move(no_clocks);
  WW_ASSIGN(sampler, Sampler::start(*sensor->source_, options));
  sensor->sampler_ = std::move(sampler);
  return sensor;
}

void PolledSensor::sleep_until(std::int64_t time_ns) {
  constexpr std::int64_t nap_ns = 1'000'000'000;  // the ring must not fill up meanwhile
  sampler_->drain(waiting_);
  for (std::int64_t now = steady_now_ns(); now < time_ns; now = steady_now_ns()) {
    const std::int64_t until_ns = std::min(time_ns, now + nap_ns);
    const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
    sampler_->drain(waiting_);
  }
}

std::vector<Sample> PolledSensor::new_samples() {
  sampler_->drain(waiting_);
  return std::exchange(waiting_, {});
}

Result<std::vector<SensorReading>> PolledSensor::new_readings() {
  std::vector<SensorReading> readings;
  throttle_bits_ = 0;
  for (const Sample& sample : new_samples()) {
    readings.push_back(stored(sample));
    throttle_bits_ |= sample.reading.throttle.value_or(0);
  }
  return readings;
}

std::vector<DvfsState> PolledSensor::dvfs_states() const {
  return clocks_ == nullptr ? std::vector<DvfsState>{} : clocks_->states();
}

int PolledSensor::dvfs_current() const {
  return clocks_ == nullptr ? -1 : clocks_->current();
}

Status PolledSensor::select_dvfs(int state) {
  if (clocks_ == nullptr) return fail(ErrorCode::unsupported, no_clocks_, facts().name);
  return clocks_->select(state);
}

SensorReading stored(const Sample& sample) {
  const RawReading& raw = sample.reading;
  SensorReading out;
  out.time_ns = out.poll_ns = sample.time_ns;
  out.power_uw = raw.power_uw;
  out.energy_ticks = raw.energy_ticks;
  out.temperature_mc = raw.edge_mc ? raw.edge_mc : raw.junction_mc;
  out.voltage_uv = raw.voltage_uv;
  out.clock_khz = raw.clock_khz;
  return out;
}

}  // namespace ww::measure
