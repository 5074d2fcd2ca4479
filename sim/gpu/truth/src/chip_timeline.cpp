#include "chip_timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>

#include "rails.hpp"
#include "sensor.hpp"
#include "thermal.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

constexpr std::int64_t kLongestStepNs = 4'000'000;
// Steps of the governor that keeps the power cap, in a tick of the sensor: at most a tenth down, a
// hundredth up, and up only below 98% of the cap, so that it settles.
constexpr double kMaxDown = 0.9;
constexpr double kUp = 1.01;
constexpr double kUpBelow = 0.98;

template <class Sample>
std::uint64_t copy_since(const std::deque<Sample>& all, std::uint64_t first,
                         std::span<Sample> out) {
  if (first >= all.size()) return 0;
  const std::uint64_t count = std::min<std::uint64_t>(out.size(), all.size() - first);
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), count, out.begin());
  return count;
}

}  // namespace

// Growth of leakage with temperature, 1 at the reference, tabulated: a linear interpolation over
// 1/8 K is good to 1e-6 of the exponential.
class LeakageTable {
 public:
  explicit LeakageTable(const LeakageTruth& truth) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double celsius = kLowC + static_cast<double>(i) / kPerKelvin;
      values_[i] = truth.flat_share + (1.0 - truth.flat_share) *
                                          std::exp((celsius - truth.reference_c) / truth.efold_c);
    }
  }
  [[nodiscard]] double at(double celsius) const {
    const double place = std::clamp((celsius - kLowC) * kPerKelvin, 0.0, kEntries - 1.001);
    const auto index = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(index);
    return values_[index] + share * (values_[index + 1] - values_[index]);
  }

 private:
  static constexpr double kLowC = -60.0;
  static constexpr double kPerKelvin = 8.0;
  static constexpr double kEntries = 260 * kPerKelvin;  // up to 200 C
  std::array<double, static_cast<std::size_t>(kEntries)> values_{};
};

// Chip time is cut into steps of at most 4 ms, a whole number of them to a sensor tick. Within a
// step, launches and idle time add up energy at nominal voltage; at its end, voltage, leakage, heat
// and sensor follow.
struct ChipTimeline::Impl {
  Impl(const Chip& made_of, std::uint64_t seed)
      : chip(made_of),
        truth(chip.truth()),
        zones(static_cast<std::size_t>(truth.zones())),
        steps_per_tick((truth.sensor.period_ns + kLongestStepNs - 1) / kLongestStepNs),
        step_ns(truth.sensor.period_ns / steps_per_tick),
        step_s(static_cast<double>(step_ns) * 1e-9),
        thermal(truth.thermal, truth.zones(), step_s),
        table(truth.leakage),
        sensor(truth, seed * 2 + 1),
        rails(truth, ~seed),
        wander_draw(seed * 2 + 2),
        launch_energy_j(zones, 0.0),
        zone_power_w(zones, 0.0),
        per_launch_j(zones, 0.0) {
    // Ticks that do not divide into whole nanoseconds keep their length in their last step.
    last_step_ns = truth.sensor.period_ns - step_ns * (steps_per_tick - 1);
    const auto window = std::min(truth.sensor.window_ns, truth.sensor.period_ns);
    window_steps = std::clamp<std::int64_t>((window + step_ns / 2) / step_ns, 1, steps_per_tick);
    sensor_follow = 1.0 - std::exp(-step_s / truth.thermal.sensor_tau_s);
    ambient_pull = std::exp(-static_cast<double>(truth.sensor.period_ns) * 1e-9 /
                            truth.thermal.ambient_wander_tau_s);
    ambient_kick = truth.thermal.ambient_wander_c * std::sqrt(1.0 - ambient_pull * ambient_pull);
    ambient_wander_c = truth.thermal.ambient_wander_c * wander_draw.normal();
    select(chip.architecture().reference_state);
    step_end_ns = current_step_ns();
    settle_idle();
  }

  [[nodiscard]] std::int64_t current_step_ns() const {
    return step_in_tick + 1 == steps_per_tick ? last_step_ns : step_ns;
  }

  void select(int index) {
    state = index;
    clock_scale = 1;
    run_at(chip.architecture().dvfs[static_cast<std::size_t>(index)]);
  }

  void run_at(const DvfsState& wanted) {
    const auto& dvfs = chip.architecture().dvfs;
    const DvfsState& reference =
        dvfs[static_cast<std::size_t>(chip.architecture().reference_state)];
    nominal = wanted;
    leakage_scale = truth.leakage.reference_w * std::pow(nominal.voltage_v / reference.voltage_v,
                                                         truth.leakage.voltage_exponent);
    idle_power_w = (truth.events.idle_cycle * nominal.clock_hz +
                    truth.fabric.cycle_f * truth.fabric.clock_hz) *
                   nominal.voltage_v * nominal.voltage_v;
  }

  // Lowers the clock of the chosen state while the chip draws more than its cap, and raises it
  // again below. The voltage follows along the chip's states.
  void hold_cap(double power_w) {
    const double cap_w = truth.regulator.power_cap_w;
    if (cap_w == 0) return;
    const auto& dvfs = chip.architecture().dvfs;
    const DvfsState& chosen = dvfs[static_cast<std::size_t>(state)];
    const double least = dvfs.front().clock_hz / chosen.clock_hz;
    double scale = clock_scale;
    if (power_w > cap_w) {
      scale *= std::max(kMaxDown, std::sqrt(cap_w / power_w));
    } else if (power_w < kUpBelow * cap_w) {
      scale *= kUp;
    }
    scale = std::clamp(scale, least, 1.0);
    if (scale == clock_scale) return;
    clock_scale = scale;
    DvfsState lowered = chosen;
    lowered.clock_hz = scale * chosen.clock_hz;
    for (std::size_t i = 1; i < dvfs.size(); ++i) {
      if (lowered.clock_hz > dvfs[i].clock_hz) continue;
      const double share =
          (lowered.clock_hz - dvfs[i - 1].clock_hz) / (dvfs[i].clock_hz - dvfs[i - 1].clock_hz);
      lowered.voltage_v = std::lerp(dvfs[i - 1].voltage_v, dvfs[i].voltage_v, share);
      break;
    }
    run_at(lowered);
  }

  [[nodiscard]] double ambient_c() const {
    return truth.thermal.ambient_c + ambient_wander_c +
           truth.thermal.ambient_drift_c_per_hour * static_cast<double>(now_ns) / 3.6e12;
  }

  // The chip has been idle for long when the session begins.
  void settle_idle() {
    for (int iteration = 0; iteration < 60; ++iteration) {
      for (std::size_t zone = 0; zone < zones; ++zone) {
        zone_power_w[zone] =
            leakage_scale * truth.leakage.zone_share[zone] * table.at(thermal.zones_c()[zone]) +
            (idle_power_w + rails_idle_w()) / static_cast<double>(zones);
      }
      thermal.settle(zone_power_w, ambient_c());
    }
    sensor_c = at_sensor();
  }

  [[nodiscard]] double at_sensor() const {
    const double weight = truth.thermal.sensor_zone_weight;
    return weight * thermal.zones_c()[zones - 1] + (1.0 - weight) * thermal.spreader_c();
  }

  // I/O dies, memory stacks and links between dies, at voltages of their own.
  [[nodiscard]] double rails_idle_w() const {
    return truth.io_dies.idle_w + truth.io_dies.memory_idle_w + truth.xgmi.idle_w;
  }

  // Passes time up to `until`, at most the end of the step, with `launches` launches of `activity`.
  void pass(std::int64_t until, double launches) {
    const double seconds = static_cast<double>(until - now_ns) * 1e-9;
    nominal_voltage_s += nominal.voltage_v * seconds;
    leakage_scale_s += leakage_scale * seconds;
    idle_energy_j += idle_power_w * seconds;
    if (launches != 0.0) {
      for (std::size_t zone = 0; zone < zones; ++zone) {
        launch_energy_j[zone] += launches * per_launch_j[zone];
      }
      aid_energy_j += launches * rails_per_launch.aid_j;
      hbm_energy_j += launches * rails_per_launch.hbm_j;
    }
    now_ns = until;
    if (now_ns == step_end_ns) {
      finish_step();
    }
  }

  void finish_step() {
    const double seconds = static_cast<double>(current_step_ns()) * 1e-9;
    const double nominal_v = nominal_voltage_s / seconds;
    const double leak_w = leakage_scale_s / seconds;
    const double even_w = idle_energy_j / seconds / static_cast<double>(zones);
    double dynamic_w = 0;
    double leakage_w = 0;
    const std::span<const double> temperatures = thermal.zones_c();
    for (std::size_t zone = 0; zone < zones; ++zone) {
      const double warmer =
          1.0 + truth.thermal.dynamic_per_k * (temperatures[zone] - truth.leakage.reference_c);
      launch_energy_j[zone] = launch_energy_j[zone] / seconds * warmer + even_w;  // now a power
      zone_power_w[zone] = leak_w * truth.leakage.zone_share[zone] * table.at(temperatures[zone]);
      dynamic_w += launch_energy_j[zone];
      leakage_w += zone_power_w[zone];
    }
    // Load line: V = nominal - R P(V) / V. The map contracts by R dI/dV, some percent.
    const double exponent = truth.leakage.voltage_exponent;
    double ratio = last_ratio;
    double leakage_ratio = 1.0;
    const auto power_at = [&](double x) {
      // (1 + e)^k to third order: e is below 5%.
      const double e = x - 1.0;
      leakage_ratio =
          1.0 + exponent * e * (1.0 + (exponent - 1.0) / 2 * e * (1.0 + (exponent - 2.0) / 3 * e));
      return dynamic_w * x * x + leakage_w * leakage_ratio;
    };
    for (int iteration = 0; iteration < 3; ++iteration) {
      const double droop = truth.regulator.load_line_ohm * power_at(ratio) / (ratio * nominal_v);
      ratio = std::clamp(1.0 - droop / nominal_v, 0.5, 1.0);
    }
    last_ratio = ratio;
    const double aid_w = truth.io_dies.idle_w + truth.xgmi.idle_w + aid_energy_j / seconds;
    const double hbm_w = truth.io_dies.memory_idle_w + hbm_energy_j / seconds;
    const double rails_w = aid_w + hbm_w;
    const double cores_w = power_at(ratio);
    const double power_w = cores_w + rails_w;
    rails.add({cores_w * seconds, aid_w * seconds, hbm_w * seconds});
    for (std::size_t zone = 0; zone < zones; ++zone) {
      zone_power_w[zone] = launch_energy_j[zone] * ratio * ratio +
                           zone_power_w[zone] * leakage_ratio +
                           rails_w / static_cast<double>(zones);
      launch_energy_j[zone] = 0;
    }
    thermal.step(zone_power_w, ambient_c());
    sensor_c += sensor_follow * (at_sensor() - sensor_c);

    tick_energy_j += power_w * seconds;
    tick_voltage_s += (truth.sensor.voltage_requested ? 1.0 : ratio) * nominal_v * seconds;
    if (step_in_tick >= steps_per_tick - window_steps) {
      window_energy_j += power_w * seconds;
      window_s += seconds;
    }
    nominal_voltage_s = leakage_scale_s = idle_energy_j = aid_energy_j = hbm_energy_j = 0;
    if (++step_in_tick == steps_per_tick) {
      finish_tick();
    }
    step_end_ns = now_ns + current_step_ns();
  }

  void finish_tick() {
    step_in_tick = 0;
    const double period_s = static_cast<double>(truth.sensor.period_ns) * 1e-9;
    samples.push_back(sensor.read({now_ns, tick_energy_j / period_s, window_energy_j / window_s,
                                   tick_voltage_s / period_s, sensor_c, nominal.clock_hz}));
    rails.tick(now_ns, samples.back().energy_ticks);
    hold_cap(tick_energy_j / period_s);
    tick_energy_j = tick_voltage_s = window_energy_j = window_s = 0;
    ambient_wander_c = ambient_wander_c * ambient_pull + ambient_kick * wander_draw.normal();
  }

  void set_activity(const LaunchActivity& activity) {
    const double square = nominal.voltage_v * nominal.voltage_v;
    for (std::size_t zone = 0; zone < zones; ++zone) {
      per_launch_j[zone] =
          zone < activity.capacitance_f.size() ? activity.capacitance_f[zone] * square : 0.0;
    }
    rails_per_launch = activity.rails;
    const LaunchActivity::Ways& ways = activity.ways_j;
    if (ways.row_hop + ways.column_hop + ways.across > 0) {
      rails_per_launch.aid_j +=
          truth.io_dies.link_wake_w * 1e-9 * static_cast<double>(duration_ns(activity));
    }
    if (ways.xgmi > 0) {
      rails_per_launch.aid_j +=
          truth.xgmi.training_j +
          truth.xgmi.wake_w * 1e-9 * static_cast<double>(duration_ns(activity));
    }
  }

  [[nodiscard]] std::int64_t duration_ns(const LaunchActivity& activity) const {
    return std::max<std::int64_t>(
        1, std::llround(static_cast<double>(activity.cycles) / nominal.clock_hz * 1e9));
  }

  Chip chip;
  const Truth& truth;
  std::size_t zones;
  std::int64_t steps_per_tick;
  std::int64_t step_ns;
  std::int64_t last_step_ns{};
  double step_s;
  ThermalNetwork thermal;
  LeakageTable table;
  Sensor sensor;
  Rails rails;
  Draw wander_draw;
  std::vector<double> launch_energy_j;  // of this step, at nominal voltage, by zone
  std::vector<double> zone_power_w;
  std::vector<double> per_launch_j;  // one whole launch at nominal voltage, by zone
  std::int64_t window_steps{1};
  double sensor_follow{};
  double ambient_pull{};
  double ambient_kick{};
  double ambient_wander_c{};

  int state{};
  double clock_scale{1};   // by the power cap
  DvfsState nominal;       // of the state, so scaled
  double leakage_scale{};  // [W] at reference temperature and nominal voltage
  double idle_power_w{};

  std::int64_t now_ns{};
  std::int64_t step_end_ns{};
  std::int64_t step_in_tick{};
  double nominal_voltage_s{}, leakage_scale_s{}, idle_energy_j{};  // integrals over this step
  double aid_energy_j{}, hbm_energy_j{};                           // of launches in this step
  LaunchActivity::Rails rails_per_launch;
  double tick_energy_j{}, tick_voltage_s{}, window_energy_j{}, window_s{};
  double last_ratio{1.0};
  double sensor_c{};
  std::deque<ww_vgpu_sample> samples;  // of all its time, without copies as it grows
};

ChipTimeline::ChipTimeline(const Chip& chip, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(chip, seed)) {}
ChipTimeline::~ChipTimeline() = default;

std::int64_t ChipTimeline::now_ns() const {
  return impl_->now_ns;
}

void ChipTimeline::idle_until(std::int64_t time_ns) {
  while (impl_->now_ns < time_ns) {
    impl_->pass(std::min(time_ns, impl_->step_end_ns), 0.0);
  }
}

void ChipTimeline::run(const LaunchActivity& activity) {
  run_repeated(activity, 1);
}

void ChipTimeline::run_repeated(const LaunchActivity& activity, std::int64_t count) {
  if (count <= 0) {
    return;
  }
  Impl& impl = *impl_;
  const std::int64_t overhead = impl.chip.architecture().launch_overhead_ns;
  std::int64_t start = impl.now_ns;  // of the first of the launches that are left
  double part_done = 0;              // of that launch
  while (count > 0) {
    idle_until(start);
    impl.set_activity(activity);
    const double clock_hz = impl.nominal.clock_hz;
    const std::int64_t duration = impl.duration_ns(activity);
    const std::int64_t pitch = duration + overhead;
    if (part_done > 0 && part_done < 1) {
      start = impl.now_ns - std::llround(part_done * static_cast<double>(duration));
    }
    const std::int64_t end = start + pitch * (count - 1) + duration;
    // Launches done by a moment, the running one in part: whole and fraction apart, for precision.
    const auto done = [&](std::int64_t moment) {
      const std::int64_t whole = (moment - start) / pitch;
      const std::int64_t into = (moment - start) % pitch;
      const double part =
          static_cast<double>(std::min(into, duration)) / static_cast<double>(duration);
      return std::pair{whole, part};
    };
    auto before = std::pair{std::int64_t{0}, part_done};
    while (impl.now_ns < end && impl.nominal.clock_hz == clock_hz) {
      const std::int64_t until = std::min(end, impl.step_end_ns);
      const auto after = done(until);
      impl.pass(until,
                static_cast<double>(after.first - before.first) + after.second - before.second);
      before = after;
    }
    if (impl.now_ns >= end) return;
    // The clock has changed. What is left goes on at the new one; a launch that is over keeps the
    // rest of the time until the next.
    count -= before.first;
    part_done = before.second;
    if (part_done < 1) {
      start = impl.now_ns;
    } else {
      --count;
      start += pitch * (before.first + 1);
      part_done = 0;
    }
  }
}

void ChipTimeline::select_dvfs(int state) {
  const auto states = static_cast<int>(impl_->chip.architecture().dvfs.size());
  impl_->select(std::clamp(state, 0, states - 1));
}

int ChipTimeline::dvfs_state() const {
  return impl_->state;
}

std::uint64_t ChipTimeline::sample_count() const {
  return impl_->samples.size();
}

std::uint64_t ChipTimeline::samples_since(std::uint64_t first,
                                          std::span<ww_vgpu_sample> out) const {
  return copy_since(impl_->samples, first, out);
}

std::span<const char* const> ChipTimeline::rail_names() const {
  return impl_->rails.names();
}

std::uint64_t ChipTimeline::rails_since(std::uint64_t first,
                                        std::span<ww_vgpu_rail_sample> out) const {
  return copy_since(impl_->rails.samples(), first, out);
}

ww_vgpu_sensor_info ChipTimeline::sensor_info() const {
  const Truth& truth = impl_->truth;
  ww_vgpu_sensor_info info{};
  info.period_ns = truth.sensor.period_ns;
  info.power_resolution_uw = std::llround(truth.sensor.resolution_w * 1e6);
  info.temperature_resolution_mc =
      static_cast<std::int32_t>(std::lround(truth.thermal.sensor_resolution_c * 1e3));
  return info;
}

}  // namespace ww::sim::gpu
