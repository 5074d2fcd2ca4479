#include "ww/measure/recorded_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantile.hpp"

namespace ww::measure {
namespace {

std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

// The smallest difference of two values that are not equal.
double step_of(std::span<const PowerPoint> polls) {
  std::vector<double> values;
  for (const PowerPoint& poll : polls) values.push_back(poll.power_w);
  std::ranges::sort(values);
  constexpr double kSame_w = 1e-6;
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] > kSame_w) step = std::min(step, values[i] - values[i - 1]);
  }
  return std::isfinite(step) ? step : 0;
}

// Widest range of the powers within `seconds` of either end.
double range_at_ends(std::span<const PowerPoint> polls, double seconds) {
  double widest = 0;
  for (const bool end : {false, true}) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const PowerPoint& poll : polls) {
      const double off = end ? polls.back().time_s - poll.time_s : poll.time_s - polls[0].time_s;
      if (off > seconds) continue;
      low = std::min(low, poll.power_w);
      high = std::max(high, poll.power_w);
    }
    widest = std::max(widest, high - low);
  }
  return widest;
}

// A time for which readings stay near the lowest or the highest of all.
struct Stay {
  bool high{};
  double from_s{}, to_s{};
};

std::vector<Stay> stays_of(std::span<const PowerPoint> polls) {
  constexpr double kNear = 0.1;  // of the span
  constexpr double kMinSteps = 20;
  std::vector<double> values;
  for (const PowerPoint& poll : polls) values.push_back(poll.power_w);
  const double low_w = quantile(values, 0.05), high_w = quantile(values, 0.95);
  const double span_w = high_w - low_w;
  if (!(span_w > kMinSteps * step_of(polls))) return {};
  std::vector<Stay> stays;
  bool between = true;
  for (const PowerPoint& poll : polls) {
    const bool high = poll.power_w >= high_w - kNear * span_w;
    if (!high && poll.power_w > low_w + kNear * span_w) {
      between = true;
      continue;
    }
    if (between || stays.empty() || stays.back().high != high) {
      stays.push_back({high, poll.time_s, poll.time_s});
    }
    stays.back().to_s = poll.time_s;
    between = false;
  }
  return stays;
}

// How late readings may be, at most [s]. A sensor that averages, or follows with a lag, passes from
// one steady level to another no faster than it can, whatever the load does: a lag takes 2.2 of its
// times from 10% to 90%, a window 0.8 of its own, and is late by one of its times or by half of it.
// A level that lasts for several times as long as the passage is steady. Of a mere delay nothing is
// seen; known ones are below 0.2 s.
double latest_s(std::span<const PowerPoint> polls) {
  constexpr double kMaxDelay_s = 0.3;
  constexpr double kMinStay = 2;  // times the passage: a lag is then below it, too
  double latest = energy::EnergyOptions{}.register_lag_s;
  const std::vector<Stay> stays = stays_of(polls);
  for (std::size_t i = 1; i < stays.size(); ++i) {
    const Stay& before = stays[i - 1];
    const Stay& after = stays[i];
    const double passage_s = after.from_s - before.to_s;
    const double shorter_s = std::min(before.to_s - before.from_s, after.to_s - after.from_s);
    if (before.high == after.high || shorter_s < kMinStay * passage_s) continue;
    latest = std::min(latest, passage_s + kMaxDelay_s);
  }
  return latest;
}

}  // namespace

Spikes find_spikes(std::span<const PowerPoint> polls, const UpdatePeriod& period) {
  constexpr std::size_t kAround = 15;
  constexpr double kOfTheLevel = 0.25;
  constexpr double kScatters = 4;
  constexpr double kMaxPoll_s = 0.020;  // a load may last for as long as a slower poll
  Spikes spikes;
  if (!period.within_poll || period.poll_s > kMaxPoll_s) return spikes;
  const double least_scatter_w = step_of(polls) / 4;
  for (std::size_t i = 1; i + 1 < polls.size(); ++i) {
    const double before = polls[i].power_w - polls[i - 1].power_w;
    const double behind = polls[i].power_w - polls[i + 1].power_w;
    if (before * behind <= 0) continue;
    const double out = std::min(std::abs(before), std::abs(behind));
    std::vector<double> around;
    const std::size_t end = std::min(polls.size(), i + kAround + 1);
    for (std::size_t j = i - std::min(i, kAround); j < end; ++j) {
      if (j != i) around.push_back(polls[j].power_w);
    }
    if (around.size() < kAround) continue;
    const double scatter = std::max(quantile(around, 0.9) - quantile(around, 0.1), least_scatter_w);
    if (out <= kOfTheLevel * std::abs(quantile(around, 0.5)) || out <= kScatters * scatter)
      continue;
    spikes.at.push_back(i);
    spikes.largest_w = std::max(spikes.largest_w, out);
  }
  return spikes;
}

energy::Energy register_energy(std::span<const PowerPoint> polls, const UpdatePeriod& period,
                               const SensorResponse& response, const Spikes& spikes) {
  energy::EnergySeries series;
  std::vector<PowerPoint> kept;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (std::ranges::binary_search(spikes.at, i)) continue;
    kept.push_back(polls[i]);
    series.readings.push_back(
        {nanoseconds(polls[i].time_s), energy::kAbsent, std::llround(polls[i].power_w * 1e6)});
  }
  if (kept.empty()) return {};
  energy::Energy found = energy::energy_between(series, series.readings.front().time_ns,
                                                series.readings.back().time_ns,
                                                {.only = energy::EnergySource::power_register});
  if (!found.ok()) return found;
  const double seconds = kept.back().time_s - kept.front().time_s;
  const double rise_w = kept.back().power_w - kept.front().power_w;
  const double refresh_s = period.refresh_s();
  double half_j = std::max(found.high_j - found.energy_j, found.energy_j - found.low_j);
  half_j = std::hypot(half_j, step_of(kept) / 2 * seconds);
  if (response.kind == ResponseKind::not_resolved) {
    const double late_s = latest_s(kept);
    half_j = std::hypot(half_j, late_s * range_at_ends(kept, late_s));
    found.reason = fmt::format("how late its readings are is not known: up to {:.2g} s", late_s);
  } else {
    // A lag withholds its time times the rise of power, exactly; a window half of its own, if power
    // is steady at both ends.
    const bool lags = response.kind == ResponseKind::lag;
    const double late_s = (lags ? response.time_s : response.time_s / 2) + response.delay_s;
    const double error_s =
        std::max(response.high_s - response.time_s, response.time_s - response.low_s);
    const double unseen_s = refresh_s + (lags ? 0.0 : response.time_s / 2);
    found.energy_j += late_s * rise_w;
    half_j = std::hypot(half_j, error_s * rise_w,
                        unseen_s * range_at_ends(kept, response.time_s + refresh_s));
    found.reason.clear();
  }
  found.low_j = std::max(0.0, found.energy_j - half_j);
  found.high_j = found.energy_j + half_j;
  found.power_w = seconds > 0 ? found.energy_j / seconds : 0;
  return found;
}

energy::Energy counter_energy(const EnergyColumn& counter) {
  energy::EnergySeries series;
  for (const EnergyPoint& poll : counter.polls) {
    // Energy counts from its first reading on, which may be far from 0.
    const double joules = poll.energy_j - counter.polls.front().energy_j;
    series.readings.push_back({nanoseconds(poll.time_s),
                               std::llround(joules * static_cast<double>(kTicksPerJoule)),
                               energy::kAbsent});
  }
  if (series.readings.empty()) return {};
  return energy::energy_between(series, series.readings.front().time_ns,
                                series.readings.back().time_ns,
                                {.only = energy::EnergySource::accumulator});
}

}  // namespace ww::measure
