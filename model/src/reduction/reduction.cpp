#include "reduction/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "reduction/trace.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"
#include "ww/energy/run_power.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::model {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// A range of samples, [from, to).
struct Range {
  std::size_t from{}, to{};
};

Window average(const Trace& trace, std::span<const Range> ranges, int dvfs_state, bool with_error) {
  Window window;
  window.session = trace.session;
  window.dvfs_state = dvfs_state;
  std::vector<double> power;
  std::size_t samples = 0;
  for (const Range& range : ranges) samples += range.to - range.from;
  power.reserve(samples);
  double time = 0;
  std::array<double, 3> sums{};
  std::array<std::size_t, 3> counts{};
  for (const Range& range : ranges) {
    for (std::size_t i = range.from; i < range.to; ++i) {
      const Sample& sample = trace.samples[i];
      time += trace.seconds(sample.time_ns);
      const std::array<float, 3> others{sample.temperature_c, sample.voltage_v, sample.clock_mhz};
      for (std::size_t k = 0; k < others.size(); ++k) {
        if (std::isfinite(others[k])) {
          sums[k] += others[k];
          ++counts[k];
        }
      }
      for (std::size_t j = 0; j < kHeatCount; ++j) window.heat[j] += sample.heat[j];
      if (!sample.glitch) power.push_back(sample.power_w);
    }
  }
  const auto n = static_cast<double>(samples);
  window.samples = samples;
  window.time_s = time / n;
  for (double& heat : window.heat) heat /= n;
  window.temperature_c = counts[0] > 0 ? sums[0] / static_cast<double>(counts[0]) : kNan;
  window.voltage_v = counts[1] > 0 ? sums[1] / static_cast<double>(counts[1]) : kNan;
  window.voltage_readings = static_cast<double>(counts[1]);
  window.clock_hz = counts[2] > 0 ? 1e6 * sums[2] / static_cast<double>(counts[2]) : kNan;
  const auto count = static_cast<double>(power.size());
  if (with_error) {
    const MeanAndError mean = correlated_mean(power);
    window.power_w = mean.mean;
    window.power_error_w = mean.error;
  } else {
    double sum = 0;
    for (const double value : power) sum += value;
    window.power_w = power.empty() ? kNan : sum / count;
  }
  double square = 0;
  for (const double value : power) square += (value - window.power_w) * (value - window.power_w);
  window.power_spread_w = power.size() < 2 ? 0 : std::sqrt(square / (count - 1));
  if (!with_error)
    window.power_error_w = power.size() < 2 ? 0 : std::sqrt(square / (count - 1) / count);
  return window;
}

Window average(const Trace& trace, std::size_t from, std::size_t to, int dvfs_state,
               bool with_error) {
  const Range range{from, to};
  return average(trace, std::span(&range, 1), dvfs_state, with_error);
}

// Why the samples [from, to) cannot be used, or nothing.
std::optional<std::string> fault(const Trace& trace, std::size_t from, std::size_t to) {
  if (to < from + kFewestSamples) {
    return "fewer than " + std::to_string(kFewestSamples) +
           " power readings are left after the sensor's delay and rise";
  }
  std::size_t not_positive = 0;
  std::size_t glitches = 0;
  for (std::size_t i = from; i < to; ++i) {
    not_positive += trace.samples[i].not_positive ? 1 : 0;
    glitches += trace.samples[i].glitch ? 1 : 0;
  }
  const auto n = static_cast<double>(to - from);
  if (static_cast<double>(not_positive) > kBadShare * n)
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
  if (run.kind == RunKind::lock_in) {
    if (run.slots.empty()) return "a lock-in run without turns";
    for (const StoredSlot& slot : run.slots) {
      if (slot.engine < 0 || slot.engine >= facts.engines() || slot.quadrant < 0 ||
          slot.quadrant >= facts.quadrants()) {
        return "a turn's engine or quadrant is not in the floorplan";
      }
      if (!(slot.end_ns > slot.start_ns)) return "a turn ends before it begins";
      if (!(std::isfinite(slot.payload_bits) && slot.payload_bits > 0)) {
        return "a turn without counted traffic";
      }
    }
  }
  for (const auto& [key, value] : run.counters) {
    if (key.starts_with(run_keys::busy_share) && !(value > 0 && value <= 1)) {
      return "the share of time in which launches ran is " + std::to_string(value);
    }
  }
  if (run.kind != RunKind::stream) return std::nullopt;
  if (!run.engine || !run.quadrant) return "a stream run without engine or quadrant";
  if (*run.engine < 0 || *run.engine >= facts.engines()) {
    return "engine " + std::to_string(*run.engine) + " is not in the floorplan";
  }
  if (*run.quadrant < 0 || *run.quadrant >= facts.quadrants()) {
    return "quadrant " + std::to_string(*run.quadrant) + " is not in the floorplan";
  }
  if (!(std::isfinite(run.payload_bits) && run.payload_bits > 0)) return "no traffic was counted";
  return std::nullopt;
}

// A recording without single launches' times has none; its launches count as without gaps.
double busy_share_of(const StoredRun& run, const std::string& key) {
  const auto found = run.counters.find(key);
  return found == run.counters.end() ? 1.0 : found->second;
}

// Noise of one reading [W], from differences of neighbours, which a decay hardly adds to.
double noise_of(const Trace& trace, std::size_t from, std::size_t to) {
  double square = 0;
  double count = 0;
  for (std::size_t i = from + 1; i < to; ++i) {
    if (trace.samples[i].glitch || trace.samples[i - 1].glitch) continue;
    const double step = trace.samples[i].power_w - trace.samples[i - 1].power_w;
    square += step * step;
    count += 1;
  }
  return count > 0 ? std::sqrt(square / count / 2) : 0;
}

// Short windows that grow with time since `from_ns`: an exponential decay needs them fine first.
// `load_end_ns`: when the idle run began.
void cut_idle(const Trace& trace, std::int64_t load_end_ns, std::int64_t from_ns,
              std::int64_t to_ns, int dvfs_state, double period_s, std::vector<Window>& windows) {
  double width_s = std::max(kFirstIdleWindowS, 2 * std::max(period_s, trace.tail_s));
  const double noise_w = noise_of(trace, trace.first_at(from_ns), trace.first_at(to_ns));
  std::int64_t begin = from_ns;
  while (begin < to_ns) {
    const std::int64_t end = std::min(to_ns, begin + static_cast<std::int64_t>(width_s * 1e9));
    const std::size_t from = trace.first_at(begin);
    const std::size_t to = trace.first_at(end);
    const bool positive = std::none_of(trace.samples.begin() + static_cast<std::ptrdiff_t>(from),
                                       trace.samples.begin() + static_cast<std::ptrdiff_t>(to),
                                       [](const Sample& sample) { return sample.not_positive; });
    if (to >= from + 2 && positive) {
      Window window = average(trace, from, to, dvfs_state, false);
      // Two or three readings do not show their own scatter.
      window.power_error_w =
          std::max(window.power_error_w, noise_w / std::sqrt(static_cast<double>(window.samples)));
      window.since_load_s = static_cast<double>(begin - load_end_ns) * 1e-9;
      // Without a power where every reading was a glitch.
      if (std::isfinite(window.power_w)) windows.push_back(window);
    }
    begin = end;
    width_s = std::min(width_s * kIdleWindowGrowth, 1.0);
  }
}

// Drops idle windows in which the clock stood elsewhere than in most of its state's: after a load
// that the power limit held down, clocks come back only after a while, and idle power with them.
void drop_odd_clocks(std::vector<Window>& windows) {
  std::map<int, std::vector<double>> clocks;
  for (const Window& window : windows) {
    if (std::isfinite(window.clock_hz)) clocks[window.dvfs_state].push_back(window.clock_hz);
  }
  std::map<int, double> usual;
  for (auto& [state, values] : clocks) usual[state] = median(std::move(values));
  std::erase_if(windows, [&](const Window& window) {
    return std::isfinite(window.clock_hz) &&
           std::abs(window.clock_hz / usual[window.dvfs_state] - 1) > kClockTolerance;
  });
}

struct Reduction {
  const std::vector<StoredRun>& runs;
  const Facts& facts;
  Reduced result;

  // One row for every pair and group of turns: turns of a group average over the same heat.
  void reduce_lock_in(const Trace& trace, const StoredRun& run, const Plateau& whole) {
    const auto cut_ns = static_cast<std::int64_t>(trace.settle_s * 1e9);
    const auto tail_ns = static_cast<std::int64_t>(trace.tail_s * 1e9);
    std::map<std::pair<int, int>, std::size_t> pairs;
    double turn_ns = 0;
    for (const StoredSlot& slot : run.slots) {
      ++pairs[{slot.engine, slot.quadrant}];
      turn_ns += static_cast<double>(slot.end_ns - slot.start_ns);
    }
    turn_ns /= static_cast<double>(run.slots.size());
    // Forward and mirrored make a cycle; a single cycle is split in its halves.
    const std::size_t half = pairs.size();
    const std::size_t cycles = run.slots.size() / (2 * half);
    const std::size_t groups = cycles < 2 ? 2 : std::min(kMaxTurnGroups, cycles);
    const std::size_t unit = cycles < 2 ? half : 2 * half;
    const std::size_t units = run.slots.size() / unit;
    for (std::size_t g = 0; g < groups && g < units; ++g) {
      std::map<std::pair<int, int>, std::vector<Range>> ranges;
      std::map<std::pair<int, int>, std::pair<double, double>> traffic;  // bits, seconds
      for (std::size_t i = units * g / groups * unit; i < units * (g + 1) / groups * unit; ++i) {
        const StoredSlot& slot = run.slots[i];
        const std::size_t from = trace.first_at(slot.start_ns + cut_ns);
        const std::size_t to = trace.first_at(slot.end_ns + 1 - tail_ns);
        if (to <= from) continue;
        ranges[{slot.engine, slot.quadrant}].push_back({from, to});
        auto& [bits, seconds] = traffic[{slot.engine, slot.quadrant}];
        bits += slot.payload_bits;
        seconds += static_cast<double>(slot.end_ns - slot.start_ns) * 1e-9;
      }
      for (const auto& [pair, list] : ranges) {
        Plateau plateau = whole;
        PlateauRow& row = plateau.row;
        row.engine = pair.first;
        row.quadrant = pair.second;
        row.turn_s = turn_ns * 1e-9;
        row.distance_mm = facts.distance(row.engine, row.quadrant);
        plateau.group = static_cast<int>(g);
        plateau.window = average(trace, list, run.dvfs_state, true);
        row.start_s = trace.seconds(trace.samples[list.front().from].time_ns);
        row.end_s = trace.seconds(trace.samples[list.back().to - 1].time_ns);
        row.power_w = plateau.window.power_w;
        row.power_error_w = plateau.window.power_error_w;
        row.temperature_c = plateau.window.temperature_c;
        row.voltage_v = plateau.window.voltage_v;
        row.bits_per_second = traffic[pair].first / traffic[pair].second;
        plateau.busy_share =
            busy_share_of(run, run_keys::busy_share_of_turns(row.engine, row.quadrant));
        if (plateau.window.samples < kFewestSamples) {
          row.used = false;
          row.reason = "fewer than " + std::to_string(kFewestSamples) +
                       " power readings are left of the turns after the sensor's delay and rise";
        }
        result.plateaus.push_back(std::move(plateau));
      }
    }
  }

  void reduce_run(const Trace& trace, const StoredRun& run) {
    const auto cut_ns = static_cast<std::int64_t>(trace.settle_s * 1e9);
    const std::int64_t last_ns = run.end_ns - static_cast<std::int64_t>(trace.tail_s * 1e9);
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
      from = trace.first_at(run.start_ns + cut_ns);
      to = trace.first_at(last_ns + 1);
      row.start_s = trace.seconds(run.start_ns + cut_ns);
      row.end_s = trace.seconds(last_ns);
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
      plateau.busy_share = busy_share_of(run, run_keys::busy_share);
      if (row.engine >= 0 && row.quadrant >= 0 && run.kind == RunKind::stream) {
        row.distance_mm = facts.distance(row.engine, row.quadrant);
      }
      const double nominal_hz = facts.dvfs[static_cast<std::size_t>(run.dvfs_state)].clock_hz;
      const bool streams = run.kind == RunKind::stream || run.kind == RunKind::lock_in;
      if (streams && std::isfinite(plateau.window.clock_hz) &&
          std::abs(plateau.window.clock_hz / nominal_hz - 1) > kClockTolerance) {
        reason = "the clock was " + std::to_string(std::lround(plateau.window.clock_hz * 1e-6)) +
                 " MHz, not " + std::to_string(std::lround(nominal_hz * 1e-6)) + " MHz";
      }
    }
    row.used = !reason;
    row.reason = reason.value_or("");
    const bool needed = run.kind == RunKind::stream || run.kind == RunKind::idle ||
                        run.kind == RunKind::cooldown || run.kind == RunKind::lock_in;
    if (reason && run.status == RunStatus::ok && !needed) {
      row.reason.clear();  // a short check of counters has no plateau and needs none
    } else if (reason) {
      ++result.rejected;
    } else if (run.kind == RunKind::idle || run.kind == RunKind::cooldown) {
      const auto idle_cut_ns = static_cast<std::int64_t>(trace.idle_settle_s * 1e9);
      cut_idle(trace, run.start_ns, run.start_ns + idle_cut_ns, last_ns, run.dvfs_state,
               facts.sensor.period_s, result.idle);
    } else if (run.kind == RunKind::lock_in) {
      reduce_lock_in(trace, run, plateau);
      return;
    }
    result.plateaus.push_back(std::move(plateau));
  }

  void reduce_session(std::size_t first, std::size_t last) {
    const Trace trace = build_trace(std::span(runs).subspan(first, last - first), facts.sensor);
    result.sessions.push_back(trace.session);
    result.session_length_s.push_back(
        trace.samples.empty() ? 0 : trace.seconds(trace.samples.back().time_ns));
    for (std::size_t r = first; r < last; ++r) reduce_run(trace, runs[r]);
    // Windows for the temperature sensor: at most about four a second.
    const double step_s = std::max(result.temperature_window_s, 2 * facts.sensor.period_s);
    result.temperature_window_s = step_s;
    std::size_t from = 0;
    while (from < trace.samples.size()) {
      const std::size_t to = std::max(
          from + 1,
          trace.first_at(trace.samples[from].time_ns + static_cast<std::int64_t>(step_s * 1e9)));
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
    for (const SensorReading& sample : run.samples) {
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
  drop_odd_clocks(reduction.result.idle);
  reduction.result.temperature_step_c = std::max(1.0, facts.sensor.temperature_resolution_c);
  reduction.result.voltage_step_v = energy::voltage_step_of(runs);
  return std::move(reduction.result);
}

}  // namespace ww::model
