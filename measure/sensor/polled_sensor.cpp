#include "ww/measure/polled_sensor.hpp"

#include <time.h>

#include <cerrno>

#include "sensor/sysfs/no_reading.hpp"

namespace ww::measure {
namespace {

// The states of the source's fields, those missing whose answer held no reading. Clocks are left
// out: they read 0 while the device rests.
std::vector<FieldState> answered_fields(PowerSource& source) {
  RawReading reading;
  source.read_fast(reading);
  source.read_slow(reading);
  drop_empty(reading);
  std::vector<FieldState> fields = source.fields();
  const auto settle = [&fields](std::string_view name, bool answered) {
    for (FieldState& field : fields) {
      if (field.name != name || field.status != FieldStatus::ok || answered) continue;
      field.status = FieldStatus::missing;
      field.reason += field.reason.empty() ? "" : ": ";
      field.reason += "it answers 0, which is no reading";
    }
  };
  settle("energy", reading.energy_ticks.has_value());
  settle("temperature_edge", reading.edge_mc.has_value());
  settle("temperature_junction", reading.junction_mc.has_value());
  settle("temperature_memory", reading.memory_mc.has_value());
  settle("voltage", reading.voltage_uv.has_value());
  return fields;
}

}  // namespace

Result<std::unique_ptr<PolledSensor>> PolledSensor::start(std::unique_ptr<PowerSource> source,
                                                          std::unique_ptr<ClockControl> clocks,
                                                          std::string no_clocks,
                                                          const SamplerOptions& options) {
  std::unique_ptr<PolledSensor> sensor(new PolledSensor);
  sensor->source_ = std::move(source);
  sensor->clocks_ = std::move(clocks);
  sensor->no_clocks_ = std::move(no_clocks);
  sensor->fields_ = answered_fields(*sensor->source_);
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
