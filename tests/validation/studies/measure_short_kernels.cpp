// Measures kernels of 0.1, 0.3, 1 and 3 ms on a virtual chip, as `measure_short_kernels CHIP.toml`.
// The sensor is first examined as `wirewatt doctor` does it. Prints one JSON object: for each
// kernel its energy with interval, the naive figure, and which dispatches it had, so that
// studies/short_kernels can put the sealed energies beside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "ww/core/energy_tick.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/launch_energy.hpp"
#include "ww/measure/sensor_check.hpp"
#include "ww/microbench/compute_device.hpp"

namespace {

using nlohmann::json;
using ww::ErrorCode;
using ww::fail;
using ww::Result;
using ww::Status;
namespace measure = ww::measure;
namespace microbench = ww::microbench;

constexpr std::array kDurationsS = {1e-4, 3e-4, 1e-3, 3e-3};
constexpr std::size_t kGroupSize = 256;
constexpr std::size_t kGroups = 8;  // few waves: the chip executes the first launch in full
constexpr int kCycles = 5;
constexpr double kMaxLaunches = 1500;  // in a dense block

// The furnace, for any number of loops.
class Furnace {
 public:
  static Result<Furnace> open(microbench::ComputeDevice& device) {
    WW_ASSIGN(source, ww::kernels::find_source("furnace"));
    ww::kernels::Macros macros;
    macros.group_size = kGroupSize;
    WW_ASSIGN(text, ww::kernels::program_text(source, macros));
    WW_ASSIGN(binary, device.host->build(text, "furnace"));
    WW_ASSIGN(kernel, device.host->load(binary, "furnace"));
    WW_ASSIGN(output, device.host->create_buffer(64));
    WW_TRY(kernel->set(1, *output));
    return Furnace(device, std::move(kernel), std::move(output));
  }

  // Loops for a launch of this duration; the time is linear in the loops.
  Status last(double seconds) {
    constexpr std::uint32_t kFew = 64, kMany = 256;
    WW_ASSIGN(few, timed(kFew));
    WW_ASSIGN(many, timed(kMany));
    const double loop_s = (many - few) / (kMany - kFew);
    if (!(loop_s > 0)) return fail(ErrorCode::device_error, "more loops take no more time");
    const double loops = kFew + (seconds - few) / loop_s;
    return kernel_->set(0, static_cast<std::uint32_t>(std::max(1.0, std::round(loops))));
  }

  Status launch() {
    WW_TRY(kernel_->launch(kGroups, kGroupSize));
    return device_->host->finish();
  }

 private:
  Furnace(microbench::ComputeDevice& device, std::unique_ptr<microbench::LoadedKernel> kernel,
          std::unique_ptr<microbench::DeviceBuffer> output)
      : device_(&device), output_(std::move(output)), kernel_(std::move(kernel)) {}

  Result<double> timed(std::uint32_t loops) {
    WW_TRY(kernel_->set(0, loops));
    WW_TRY(launch());
    const auto& counters = *device_->counters;
    WW_ASSIGN(ran, counters.dispatch(counters.dispatch_count() - 1));
    return static_cast<double>(ran.end_ns - ran.start_ns) * 1e-9;
  }

  microbench::ComputeDevice* device_;
  std::unique_ptr<microbench::DeviceBuffer> output_;
  std::unique_ptr<microbench::LoadedKernel> kernel_;
};

// The furnace as a load for the step test.
class FurnaceLoad final : public measure::Load {
 public:
  FurnaceLoad(Furnace& furnace, measure::Sensor& sensor) : furnace_(furnace), sensor_(sensor) {}
  std::string name() const override { return "furnace"; }
  Result<measure::LoadStep> run_for(double seconds) override {
    measure::LoadStep step;
    step.on_ns = sensor_.now_ns();
    const std::int64_t end_ns = step.on_ns + std::llround(seconds * 1e9);
    while (sensor_.now_ns() < end_ns) WW_TRY(furnace_.launch());
    step.off_ns = sensor_.now_ns();
    return step;
  }

 private:
  Furnace& furnace_;
  measure::Sensor& sensor_;
};

// Blocks of dense and of sparse launches with idle blocks between them, in the order A B B A.
struct Blocks {
  std::int64_t zero_ns{};
  std::uint64_t first{}, end{};  // dispatches
  std::vector<measure::TimeSpan> awake;
  std::vector<ww::SensorReading> readings;
};

Result<Blocks> run_blocks(microbench::ComputeDevice& device, Furnace& furnace, double duration_s,
                          double block_s) {
  measure::Sensor& sensor = *device.sensor;
  Blocks blocks;
  const auto rest = [&] { sensor.sleep_until(sensor.now_ns() + std::llround(block_s * 1e9)); };
  WW_TRY(sensor.new_readings());  // what was read before belongs to other launches
  blocks.zero_ns = sensor.now_ns();
  blocks.first = device.counters->dispatch_count();
  const auto seconds = [&] { return static_cast<double>(sensor.now_ns() - blocks.zero_ns) * 1e-9; };
  rest();
  for (int block = 0; block < 2 * kCycles; ++block) {
    const bool dense = (block % 2 + block / 2) % 2 == 0;
    const double pitch_s = std::max(1.3 * duration_s, block_s / kMaxLaunches) * (dense ? 1 : 4);
    const double from_s = seconds();
    for (int i = 0; i * pitch_s < block_s; ++i) {
      sensor.sleep_until(blocks.zero_ns + std::llround((from_s + i * pitch_s) * 1e9));
      WW_TRY(furnace.launch());
    }
    blocks.awake.push_back({from_s, seconds()});
    rest();
  }
  blocks.end = device.counters->dispatch_count();
  WW_ASSIGN(readings, sensor.new_readings());
  blocks.readings = std::move(readings);
  return blocks;
}

// Power at each refresh; with `counted` between one reading of the energy counter and the next.
std::vector<measure::PowerPoint> points(const Blocks& blocks, bool counted) {
  std::vector<measure::PowerPoint> out;
  const ww::SensorReading* before = nullptr;
  for (const auto& reading : blocks.readings) {
    const double time_s = static_cast<double>(reading.time_ns - blocks.zero_ns) * 1e-9;
    if (!counted && reading.power_uw) {
      out.push_back({time_s, 1e-6 * static_cast<double>(*reading.power_uw)});
    }
    if (!counted || !reading.energy_ticks) continue;
    if (before != nullptr) {
      const auto ticks = static_cast<double>(*reading.energy_ticks - *before->energy_ticks);
      const double past_s = 1e-9 * static_cast<double>(reading.time_ns - before->time_ns);
      out.push_back({time_s, ticks * ww::kJoulesPerTick / past_s});
    }
    before = &reading;
  }
  return out;
}

// Integral over one launch of a telemetry's change, by the regression that finds the energy.
Result<double> change_of(const Blocks& blocks, std::span<const measure::KernelLaunch> launches,
                         double period_s, double per_unit,
                         std::optional<std::int32_t> ww::SensorReading::*field) {
  std::vector<measure::PowerPoint> series;
  for (const auto& reading : blocks.readings) {
    if (!(reading.*field)) continue;
    series.push_back({static_cast<double>(reading.time_ns - blocks.zero_ns) * 1e-9,
                      per_unit * static_cast<double>(*(reading.*field))});
  }
  measure::LaunchSensor sensor;
  sensor.time_s = period_s;
  WW_ASSIGN(found, measure::launch_energies(series, launches, {}, sensor));
  return found.kernels.front().energy_j;
}

// Mean over the time of the launches of (V / nominal V)^2, by the telemetry of the ticks that they
// ran in: what the load line makes of an energy at nominal voltage. A reading shows the mean
// voltage of the tick that it ends.
double voltage_square(const Blocks& blocks, std::span<const measure::KernelLaunch> launches,
                      double nominal_v) {
  double sum = 0, weight_s = 0;
  std::size_t tick = 1;
  const auto time_s = [&](std::size_t i) {
    return static_cast<double>(blocks.readings[i].time_ns - blocks.zero_ns) * 1e-9;
  };
  for (const auto& launch : launches) {
    while (tick < blocks.readings.size() && time_s(tick) <= launch.time.from_s) ++tick;
    for (std::size_t at = tick; at < blocks.readings.size(); ++at) {
      const double from_s = std::max(time_s(at - 1), launch.time.from_s);
      const double inside_s = std::min(time_s(at), launch.time.to_s) - from_s;
      if (inside_s <= 0) break;
      const auto& voltage_uv = blocks.readings[at].voltage_uv;
      if (!voltage_uv) continue;
      const double ratio = 1e-6 * static_cast<double>(*voltage_uv) / nominal_v;
      sum += inside_s * ratio * ratio;
      weight_s += inside_s;
    }
  }
  return weight_s > 0 ? sum / weight_s : 1;
}

// Energy by a reader of the log: the mean reading during launches, less that before them.
std::optional<double> naive_energy(std::span<const measure::PowerPoint> readings,
                                   std::span<const measure::KernelLaunch> launches,
                                   double duration_s) {
  const auto total_j = measure::naive_launch_energy(readings, launches, 0);
  double idle_w = 0;
  std::size_t count = 0;
  for (const auto& reading : readings) {
    if (reading.time_s >= launches.front().time.from_s) break;
    idle_w += reading.power_w;
    ++count;
  }
  if (!total_j || count == 0) return {};
  return *total_j - idle_w / static_cast<double>(count) * duration_s;
}

struct Judge {
  measure::LaunchSensor sensor;
  double period_s{};
};

// The sensor as the doctor found it; the energy counter, where there is one.
Result<Judge> examine(microbench::ComputeDevice& device, Furnace& furnace, double tolerance) {
  FurnaceLoad load(furnace, *device.sensor);
  WW_ASSIGN(report, measure::check_sensor(*device.sensor, load));
  const auto& power = report.columns.front();
  const auto& energy = report.columns.back();
  Judge judge;
  const bool counted = energy.status.status == measure::ReadingStatus::healthy;
  if (!counted && power.kind == measure::ResponseKind::not_resolved) {
    return fail(ErrorCode::bad_data, power.reason, "step test");
  }
  judge.sensor = measure::launch_sensor(power);
  judge.sensor.accumulator = counted;
  if (counted) judge.sensor.delay_s = judge.sensor.delay_error_s = 0;
  judge.sensor.gain_tolerance_95 = tolerance;
  judge.period_s = counted ? energy.period_s : power.period_s;
  return judge;
}

Result<json> measure_kernel(microbench::ComputeDevice& device, Furnace& furnace, const Judge& judge,
                            double duration_s) {
  WW_TRY(furnace.last(duration_s));
  WW_TRY(furnace.launch());
  const double response_s = judge.sensor.accumulator ? 0 : judge.sensor.time_s;
  const double block_s = std::max(0.4, 2.5 * (judge.period_s + response_s));
  WW_ASSIGN(blocks, run_blocks(device, furnace, duration_s, block_s));
  std::vector<measure::KernelLaunch> launches;
  for (std::uint64_t id = blocks.first; id < blocks.end; ++id) {
    WW_ASSIGN(ran, device.counters->dispatch(id));
    const auto at = [&](std::int64_t ns) {
      return static_cast<double>(ns - blocks.zero_ns) * 1e-9;
    };
    launches.push_back({0, {at(ran.start_ns), at(ran.end_ns)}});
  }
  const auto readings = points(blocks, judge.sensor.accumulator);
  WW_ASSIGN(found, measure::launch_energies(readings, launches, {}, judge.sensor));
  const auto& kernel = found.kernels.front();
  const auto nominal =
      device.sensor->dvfs_states()[static_cast<std::size_t>(device.sensor->dvfs_current())];
  WW_ASSIGN(volt_s,
            change_of(blocks, launches, judge.period_s, 1e-6, &ww::SensorReading::voltage_uv));
  WW_ASSIGN(kelvin_s,
            change_of(blocks, launches, judge.period_s, 1e-3, &ww::SensorReading::temperature_mc));
  const auto switched =
      measure::switched_energy(kernel, found.rest_w, {-volt_s / nominal.voltage_v, kelvin_s});
  const auto naive = naive_energy(readings, launches, kernel.duration_s);
  return json{{"wanted_s", duration_s},
              {"duration_s", kernel.duration_s},
              {"first_dispatch", blocks.first},
              {"end_dispatch", blocks.end},
              {"voltage_square", voltage_square(blocks, launches, nominal.voltage_v)},
              {"status", to_string(kernel.status)},
              {"reason", kernel.reason},
              {"energy_j", switched.energy_j},
              {"half_j", switched.half_j},
              {"above_rest_j", kernel.energy_j},
              {"above_rest_half_j", kernel.half_j},
              {"volt_s", volt_s},
              {"kelvin_s", kelvin_s},
              {"parts_j", {kernel.noise_j, kernel.response_j, kernel.quantum_j, kernel.gain_j}},
              {"readings", readings.size()},
              {"rest_w", found.rest_w},
              {"naive_j", naive ? json(*naive) : json()}};
}

Result<json> measure_chip(const std::string& chip, double tolerance) {
  microbench::DeviceRequest request;
  request.name = "virtual:" + chip;
  WW_ASSIGN(device, microbench::open_compute_device(request));
  if (device.sensor == nullptr) return fail(ErrorCode::not_found, device.no_sensor, chip);
  WW_ASSIGN(furnace, Furnace::open(device));
  WW_TRY(furnace.last(kDurationsS.back()));
  WW_ASSIGN(judge, examine(device, furnace, tolerance));
  json kernels = json::array();
  for (const double duration_s : kDurationsS) {
    WW_ASSIGN(kernel, measure_kernel(device, furnace, judge, duration_s));
    kernels.push_back(std::move(kernel));
  }
  return json{
      {"device", device.name},
      {"virtual", true},
      {"response",
       {{"kind", judge.sensor.accumulator ? "energy counter" : to_string(judge.sensor.kind)},
        {"time_s", judge.sensor.time_s},
        {"low_s", judge.sensor.low_s},
        {"high_s", judge.sensor.high_s},
        {"delay_s", judge.sensor.delay_s},
        {"period_s", judge.period_s}}},
      {"kernels", kernels}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: measure_short_kernels CHIP.toml GAIN_TOLERANCE\n", stderr);
    return 2;
  }
  const auto found = measure_chip(argv[1], std::atof(argv[2]));
  if (!found) {
    fmt::print(stderr, "{}\n", found.error().text());
    return 1;
  }
  fmt::print("{}\n", found->dump());
  return 0;
}
