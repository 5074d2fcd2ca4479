#include "reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "stats.hpp"

namespace ww::model {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t fewest_samples = 8;
// A reading this many robust scales away from the median of its neighbourhood is a glitch.
constexpr double glitch_scales = 8;
// Share of readings that may be zero or negative before the run is not to be trusted.
constexpr double bad_share = 0.01;
constexpr double clock_tolerance = 0.01;
// A sensor that averages needs about three 10-90% rise times to settle to 0.1% of a step.
constexpr double rises_to_settle = 3;

struct Sample {
  std::int64_t time_ns{};
  float power_w{};
  float temperature_c{};
  float voltage_v{};
  float clock_mhz{};
  bool glitch{};
  bool not_positive{};
  std::array<float, heat_count> heat{};
};

struct Trace {
  std::int64_t session{};
  std::vector<Sample> samples;  // in time order
  double seconds(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - samples.front().time_ns) * 1e-9;
  }
};

Trace collect(const std::vector<StoredRun>& runs, std::size_t first, std::size_t last) {
  Trace trace;
  trace.session = runs[first].session;
  std::size_t count = 0;
  for (std::size_t r = first; r < last; ++r) count += runs[r].samples.size();
  trace.samples.reserve(count);
  for (std::size_t r = first; r < last; ++r) {
    for (const StoredSample& stored : runs[r].samples) {
      if (!stored.power_uw) continue;
      Sample sample;
      sample.time_ns = stored.time_ns;
      sample.power_w = static_cast<float>(static_cast<double>(*stored.power_uw) * 1e-6);
      sample.not_positive = *stored.power_uw <= 0;
      sample.temperature_c = stored.temperature_mc
                                 ? static_cast<float>(*stored.temperature_mc) * 1e-3F
                                 : std::numeric_limits<float>::quiet_NaN();
      sample.voltage_v = stored.voltage_uv ? static_cast<float>(*stored.voltage_uv) * 1e-6F
                                           : std::numeric_limits<float>::quiet_NaN();
      sample.clock_mhz = stored.clock_khz ? static_cast<float>(*stored.clock_khz) * 1e-3F
                                          : std::numeric_limits<float>::quiet_NaN();
      trace.samples.push_back(sample);
    }
  }
  const auto earlier = [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; };
  if (!std::is_sorted(trace.samples.begin(), trace.samples.end(), earlier)) {
    std::stable_sort(trace.samples.begin(), trace.samples.end(), earlier);
  }
  const auto same = [](const Sample& a, const Sample& b) { return a.time_ns == b.time_ns; };
  trace.samples.erase(std::unique(trace.samples.begin(), trace.samples.end(), same),
                      trace.samples.end());
  return trace;
}

float median_of_5(std::array<float, 5> v) {
  std::nth_element(v.begin(), v.begin() + 2, v.end());
  return v[2];
}

// Replaces glitches by the median of their neighbourhood, which keeps the edges of a step.
void repair_glitches(Trace& trace, double resolution_w) {
  auto& samples = trace.samples;
  if (samples.size() < 5) return;
  std::vector<float> middle(samples.size());
  std::vector<double> differences;
  const std::size_t stride = std::max<std::size_t>(1, samples.size() / 20000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t at = std::clamp<std::size_t>(i, 2, samples.size() - 3);
    middle[i] = median_of_5({samples[at - 2].power_w, samples[at - 1].power_w, samples[at].power_w,
                             samples[at + 1].power_w, samples[at + 2].power_w});
    if (i % stride == 0) differences.push_back(samples[i].power_w - middle[i]);
  }
  // Half of the samples are their own neighbourhood's median or near it; the mean of the absolute
  // differences that are left after trimming the top tenth serves as scale.
  for (double& difference : differences) difference = std::abs(difference);
  std::sort(differences.begin(), differences.end());
  double sum = 0;
  const std::size_t kept = differences.size() * 9 / 10;
  for (std::size_t i = 0; i < kept; ++i) sum += differences[i];
  const double scale = 2 * sum / static_cast<double>(std::max<std::size_t>(kept, 1));
  const double limit = glitch_scales * scale + 2 * resolution_w;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].not_positive || std::abs(samples[i].power_w - middle[i]) > limit) {
      samples[i].glitch = true;
      samples[i].power_w = middle[i];
    }
  }
}

// First-order filters of power, exact for a power that is constant between samples.
void run_filters(Trace& trace) {
  auto& samples = trace.samples;
  if (samples.empty()) return;
  std::vector<double> head;
  for (std::size_t i = 0; i < std::min<std::size_t>(samples.size(), 11); ++i) {
    head.push_back(samples[i].power_w);
  }
  HeatState state;
  state.fill(median(std::move(head)));
  HeatState gain{};
  std::int64_t gain_for_ns = -1;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) {
      const std::int64_t step_ns = samples[i].time_ns - samples[i - 1].time_ns;
      if (step_ns != gain_for_ns) {
        gain_for_ns = step_ns;
        for (std::size_t j = 0; j < heat_count; ++j) {
          gain[j] = -std::expm1(-static_cast<double>(step_ns) * 1e-9 / heat_taus_s[j]);
        }
      }
    }
    for (std::size_t j = 0; j < heat_count; ++j) {
      state[j] += gain[j] * (samples[i].power_w - state[j]);
      samples[i].heat[j] = static_cast<float>(state[j]);
    }
  }
}

std::size_t first_at(const Trace& trace, std::int64_t time_ns) {
  const auto found =
      std::lower_bound(trace.samples.begin(), trace.samples.end(), time_ns,
                       [](const Sample& s, std::int64_t time) { return s.time_ns < time; });
  return static_cast<std::size_t>(found - trace.samples.begin());
}

Window average(const Trace& trace, std::size_t from, std::size_t to, int dvfs_state,
               bool with_error) {
  Window window;
  window.session = trace.session;
  window.dvfs_state = dvfs_state;
  std::vector<double> power;
  power.reserve(to - from);
  double time = 0;
  std::array<double, 3> sums{};
  std::array<std::size_t, 3> counts{};
  for (std::size_t i = from; i < to; ++i) {
    const Sample& sample = trace.samples[i];
    time += trace.seconds(sample.time_ns);
    const std::array<float, 3> others{sample.temperature_c, sample.voltage_v, sample.clock_mhz};
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (std::isfinite(others[k])) {
        sums[k] += others[k];
        ++counts[k];
      }
    }
    for (std::size_t j = 0; j < heat_count; ++j) window.heat[j] += sample.heat[j];
    if (!sample.glitch) power.push_back(sample.power_w);
  }
  const auto n = static_cast<double>(to - from);
  window.samples = to - from;
  window.time_s = time / n;
  for (double& heat : window.heat) heat /= n;
  window.temperature_c = counts[0] > 0 ? sums[0] / static_cast<double>(counts[0]) : nan;
  window.voltage_v = counts[1] > 0 ? sums[1] / static_cast<double>(counts[1]) : nan;
  window.clock_hz = counts[2] > 0 ? 1e6 * sums[2] / static_cast<double>(counts[2]) : nan;
  if (with_error) {
    const MeanAndError mean = correlated_mean(power);
    window.power_w = mean.mean;
    window.power_error_w = mean.error;
  } else {
    double sum = 0;
    for (const double value : power) sum += value;
    window.power_w = power.empty() ? nan : sum / static_cast<double>(power.size());
  }
  return window;
}

// Why the samples [from, to) cannot be used, or nothing.
std::optional<std::string> fault(const Trace& trace, std::size_t from, std::size_t to) {
  if (to < from + fewest_samples) {
    return "fewer than " + std::to_string(fewest_samples) +
           " power readings are left after the sensor's delay and rise";
  }
  std::size_t not_positive = 0;
  std::size_t glitches = 0;
  for (std::size_t i = from; i < to; ++i) {
    not_positive += trace.samples[i].not_positive ? 1 : 0;
    glitches += trace.samples[i].glitch ? 1 : 0;
  }
  const auto n = static_cast<double>(to - from);
  if (static_cast<double>(not_positive) > bad_share * n)
    return "power readings are zero or negative";
  if (static_cast<double>(glitches) > 0.2 * n) return "a fifth of the power readings are glitches";
  return std::nullopt;
}

std::optional<std::string> fault_of_run(const StoredRun& run, const Facts& facts) {
  if (run.status != RunStatus::ok) {
    return run.reason.empty() ? std::string(to_string(run.status)) : run.reason;
  }
  if (run.end_ns <= run.start_ns) return "ends before it begins";
  if (run.dvfs_state < 0 || run.dvfs_state >= static_cast<int>(facts.dvfs.size())) {
    return "ran in a voltage state that the campaign does not list";
  }
  if (run.kind != RunKind::stream) return std::nullopt;
  if (!run.engine || !run.quadrant) return "a stream run without engine or quadrant";
  if (*run.engine < 0 || *run.engine >= static_cast<int>(facts.floorplan.compute_units.size())) {
    return "engine " + std::to_string(*run.engine) + " is not in the floorplan";
  }
  if (*run.quadrant < 0 || *run.quadrant >= static_cast<int>(facts.floorplan.quadrants.size())) {
    return "quadrant " + std::to_string(*run.quadrant) + " is not in the floorplan";
  }
  if (!(std::isfinite(run.payload_bits) && run.payload_bits > 0)) return "no traffic was counted";
  return std::nullopt;
}

// Short windows that grow with time since `from_ns`: an exponential decay needs them fine first.
void cut_idle(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns, int dvfs_state,
              double period_s, std::vector<Window>& windows) {
  double width_s = std::max(0.05, 5 * period_s);
  std::int64_t begin = from_ns;
  while (begin < to_ns) {
    const std::int64_t end = std::min(to_ns, begin + static_cast<std::int64_t>(width_s * 1e9));
    const std::size_t from = first_at(trace, begin);
    const std::size_t to = first_at(trace, end);
    const bool positive = std::none_of(trace.samples.begin() + static_cast<std::ptrdiff_t>(from),
                                       trace.samples.begin() + static_cast<std::ptrdiff_t>(to),
                                       [](const Sample& sample) { return sample.not_positive; });
    if (to >= from + 4 && positive) {
      windows.push_back(average(trace, from, to, dvfs_state, false));
    }
    begin = end;
    width_s = std::min(width_s * 1.1, 1.0);
  }
}

struct Reduction {
  const std::vector<StoredRun>& runs;
  const Facts& facts;
  Reduced result;

  void reduce_run(const Trace& trace, const StoredRun& run) {
    const auto cut_ns = static_cast<std::int64_t>(
        (facts.sensor.delay_s + rises_to_settle * facts.sensor.rise_s) * 1e9);
    Plateau plateau;
    PlateauRow& row = plateau.row;
    row.session = run.session;
    row.block = run.block;
    row.position = run.position;
    row.kind = run.kind;
    row.engine = run.engine.value_or(-1);
    row.quadrant = run.quadrant.value_or(-1);
    row.pattern = run.pattern;
    row.throttle = run.throttle;
    plateau.dvfs_state = run.dvfs_state;
    auto reason = fault_of_run(run, facts);
    std::size_t from = 0;
    std::size_t to = 0;
    if (!reason && trace.samples.empty()) reason = "the power sensor returned nothing";
    if (!reason) {
      from = first_at(trace, run.start_ns + cut_ns);
      to = first_at(trace, run.end_ns + 1);
      row.start_s = trace.seconds(run.start_ns + cut_ns);
      row.end_s = trace.seconds(run.end_ns);
      reason = fault(trace, from, to);
    }
    if (!reason) {
      plateau.window = average(trace, from, to, run.dvfs_state, true);
      row.power_w = plateau.window.power_w;
      row.power_error_w = plateau.window.power_error_w;
      row.temperature_c = plateau.window.temperature_c;
      row.voltage_v = plateau.window.voltage_v;
      row.bits_per_second =
          run.payload_bits / (static_cast<double>(run.end_ns - run.start_ns) * 1e-9);
      if (row.engine >= 0 && row.quadrant >= 0 && run.kind == RunKind::stream) {
        row.distance_mm = facts.floorplan.distance(row.engine, row.quadrant).value();
      }
      const double nominal_hz = facts.dvfs[static_cast<std::size_t>(run.dvfs_state)].clock_hz;
      if (run.kind == RunKind::stream && std::isfinite(plateau.window.clock_hz) &&
          std::abs(plateau.window.clock_hz / nominal_hz - 1) > clock_tolerance) {
        reason = "the clock was " + std::to_string(std::lround(plateau.window.clock_hz * 1e-6)) +
                 " MHz, not " + std::to_string(std::lround(nominal_hz * 1e-6)) + " MHz";
      }
    }
    row.used = !reason;
    row.reason = reason.value_or("");
    if (reason) {
      ++result.rejected;
    } else if (run.kind == RunKind::idle || run.kind == RunKind::cooldown) {
      cut_idle(trace, run.start_ns + cut_ns, run.end_ns, run.dvfs_state, facts.sensor.period_s,
               result.idle);
    }
    result.plateaus.push_back(std::move(plateau));
  }

  void reduce_session(std::size_t first, std::size_t last) {
    Trace trace = collect(runs, first, last);
    repair_glitches(trace, facts.sensor.power_resolution_w);
    run_filters(trace);
    result.sessions.push_back(trace.session);
    result.session_length_s.push_back(
        trace.samples.empty() ? 0 : trace.seconds(trace.samples.back().time_ns));
    for (std::size_t r = first; r < last; ++r) reduce_run(trace, runs[r]);
    // Windows for the temperature sensor: at most about four a second.
    const double step_s = std::max(0.25, 2 * facts.sensor.period_s);
    std::size_t from = 0;
    while (from < trace.samples.size()) {
      const std::size_t to = std::max(
          from + 1,
          first_at(trace, trace.samples[from].time_ns + static_cast<std::int64_t>(step_s * 1e9)));
      Window window = average(trace, from, to, 0, false);
      if (std::isfinite(window.temperature_c)) result.temperature.push_back(window);
      from = to;
    }
  }
};

Status check_sensor(const std::vector<StoredRun>& runs) {
  std::size_t readings = 0;
  std::size_t positive = 0;
  std::optional<std::int64_t> first;
  bool varies = false;
  for (const StoredRun& run : runs) {
    for (const StoredSample& sample : run.samples) {
      if (!sample.power_uw) continue;
      ++readings;
      positive += *sample.power_uw > 0 ? 1 : 0;
      if (!first) first = sample.power_uw;
      varies = varies || *first != *sample.power_uw;
    }
  }
  if (readings == 0) return fail(ErrorCode::bad_data, "the power sensor returned nothing");
  if (positive == 0) {
    return fail(ErrorCode::bad_data,
                "every power reading is zero or negative; the sensor is broken");
  }
  if (!varies) {
    return fail(ErrorCode::bad_data, "the power sensor is frozen: every reading is the same");
  }
  return {};
}

}  // namespace

Result<Reduced> reduce(const std::vector<StoredRun>& runs, const Facts& facts) {
  if (runs.empty()) return fail(ErrorCode::bad_data, "the campaign is empty: it has no runs");
  WW_TRY(check_sensor(runs));
  Reduction reduction{runs, facts, {}};
  std::size_t first = 0;
  while (first < runs.size()) {
    std::size_t last = first;
    while (last < runs.size() && runs[last].session == runs[first].session) ++last;
    reduction.reduce_session(first, last);
    first = last;
  }
  return std::move(reduction.result);
}

}  // namespace ww::model
