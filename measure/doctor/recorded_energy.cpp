#include "ww/measure/recorded_energy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "quantile.hpp"
#include "ww/core/statistics.hpp"

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

// The longest time for which the register may hold a value that power has left [s]. Values change
// at refreshes alone, so that two changes have at least one period between them.
double longest_refresh_s(std::span<const PowerPoint> polls, const UpdatePeriod& period) {
  if (period.within_poll) {
    return std::max(period.refresh_s(),
                    std::min(period.steps_apart_s, energy::EnergyOptions{}.register_lag_s));
  }
  if (period.resolved || period.held_s > 0) return period.refresh_s();
  double shortest_s = energy::EnergyOptions{}.register_lag_s;
  std::optional<double> before_s;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    if (polls[i].power_w == polls[i - 1].power_w) continue;
    if (before_s) shortest_s = std::min(shortest_s, polls[i].time_s - *before_s);
    before_s = polls[i - 1].time_s;
  }
  return shortest_s;
}

// A step of power is seen late: by the time to the next refresh, and by what the readings from
// there on still lack of it. How much that spreads over where between two refreshes the step may
// fall: standard deviation [s]. None for a window that ends where the next one begins; period /
// sqrt(12) for a reading of an instant.
double edge_sd_s(ResponseKind kind, double time_s, double period_s) {
  constexpr int kPlaces = 100;
  constexpr double kSettled = 8;  // lags
  double sum = 0, square = 0;
  for (int place = 0; place < kPlaces; ++place) {
    const double to_refresh_s = (place + 0.5) / kPlaces * period_s;
    const double end_s = kind == ResponseKind::lag ? kSettled * time_s : time_s;
    double late_s = to_refresh_s;
    for (double since_s = to_refresh_s; since_s < end_s; since_s += period_s) {
      late_s += period_s *
                (kind == ResponseKind::lag ? std::exp(-since_s / time_s) : 1 - since_s / time_s);
    }
    sum += late_s / kPlaces;
    square += late_s * late_s / kPlaces;
  }
  return std::sqrt(std::max(0.0, square - sum * sum));
}

// How late a step of power appears in the readings, as if they were straight lines between polls.
struct Lateness {
  double low_s{}, usual_s{}, high_s{};
  double at_ends_s{};  // for which power around the first and the last reading is not seen
  double window_s{};   // of the readings
  double edge_sd_s{};
};

Lateness lateness(std::span<const PowerPoint> polls, const UpdatePeriod& period,
                  const SensorResponse& response) {
  const double refresh_s = longest_refresh_s(polls, period);
  // Readings that are refreshed within a poll are no older than that, and a fit has it in its
  // delay.
  const double held_s = period.within_poll ? 0 : refresh_s;
  // When a held value changes is known by the polls alone.
  const double change_sd_s = held_s > 0 ? period.poll_s / std::sqrt(12.0) : 0;
  const bool known = response.kind != ResponseKind::not_resolved;
  Lateness late;
  if (!known) {
    late.low_s = late.usual_s = period.resolved ? held_s / 2 : 0;
    late.high_s = latest_s(polls) + held_s;
    late.at_ends_s = late.high_s;
    late.edge_sd_s = std::hypot(edge_sd_s(ResponseKind::window, 0, refresh_s), change_sd_s);
    return late;
  }
  // A lag withholds its time times the rise of power, exactly; a window half of its own, if power
  // is steady at both ends; and a value that is held, half a period of its own.
  const bool lags = response.kind == ResponseKind::lag;
  const double part = lags ? 1.0 : 0.5;
  // A delay behind a switch may be the load's own: a kernel starts late. So may some of the rise; a
  // W7700's power rises within two polls, which are 5 ms.
  constexpr double kLoadsRise_s = 0.005;
  const double other_s = held_s / 2 + (response.of_the_load ? 0.0 : response.delay_s);
  late.window_s = lags ? 0.0 : response.time_s;
  late.low_s = part * response.low_s + other_s;
  late.usual_s = part * response.time_s + other_s;
  late.high_s = part * response.high_s + other_s;
  if (response.of_the_load) {
    late.low_s = std::max(0.0, late.low_s - kLoadsRise_s);
    late.high_s += std::max(0.0, response.delay_s);
  }
  late.at_ends_s = refresh_s + late.window_s / 2;
  late.edge_sd_s = std::hypot(
      edge_sd_s(response.kind, response.at_most ? 0 : response.time_s, refresh_s), change_sd_s);
  return late;
}

// Squares of the steps of power. A step that falls into a reading is split between two changes,
// whose squares are two thirds of its own on average.
double squared_steps(std::span<const PowerPoint> polls) {
  constexpr double kSplit = 1.5;
  double sum = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    const double change = polls[i].power_w - polls[i - 1].power_w;
    sum += change * change;
  }
  return kSplit * sum;
}

// 95% of what the readings' own noise leaves of the joules: the usual change from one to the next
// is sqrt(2) of it.
double noise_j(std::span<const PowerPoint> polls) {
  constexpr double kToSigma = 1.4826;
  if (polls.size() < 3) return 0;
  std::vector<double> changes;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    changes.push_back(std::abs(polls[i].power_w - polls[i - 1].power_w));
  }
  const double sigma_w = kToSigma * quantile(changes, 0.5) / std::numbers::sqrt2;
  const double seconds = polls.back().time_s - polls.front().time_s;
  return kNormal95 * sigma_w * seconds / std::sqrt(static_cast<double>(polls.size()));
}

// Times without polls that are far longer than the others. A clock that was set forward looks
// alike.
struct Gaps {
  std::size_t count{};
  double longest_s{}, together_s{};
  double energy_j{};  // on straight lines between the readings
};

Gaps gaps_of(std::span<const PowerPoint> polls, double poll_s) {
  constexpr double kPollsToAGap = 10;
  constexpr double kMinGap_s = 0.1;
  Gaps gaps;
  if (!(poll_s > 0)) return gaps;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    const double apart_s = polls[i].time_s - polls[i - 1].time_s;
    if (apart_s <= std::max(kMinGap_s, kPollsToAGap * poll_s)) continue;
    ++gaps.count;
    gaps.together_s += apart_s;
    gaps.longest_s = std::max(gaps.longest_s, apart_s);
    gaps.energy_j += apart_s * (polls[i].power_w + polls[i - 1].power_w) / 2;
  }
  return gaps;
}

// Remarks that a reader of the joules needs.
std::string remarks(const UpdatePeriod& period, const SensorResponse& response,
                    const Lateness& late, const Gaps& gaps) {
  std::vector<std::string> all;
  if (response.kind == ResponseKind::not_resolved) {
    all.push_back(
        fmt::format("how late its readings are is not known: up to {:.2g} s", late.high_s));
  } else if (const double unseen = 1 - response.seen(period); unseen > 0.05) {
    all.push_back(fmt::format(
        "{:.0f}% of the time is unseen: of a load that repeats in about the sensor's period, on "
        "and off may be seen in unequal shares",
        100 * unseen));
  }
  if (gaps.count > 0) {
    all.push_back(fmt::format(
        "{} of {:.3g} s at most ({:.3g} s together) without polls, or the clock was set",
        gaps.count == 1 ? "a gap" : fmt::format("{} gaps", gaps.count), gaps.longest_s,
        gaps.together_s));
  }
  return fmt::format("{}", fmt::join(all, "; "));
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
  const double gaps_j = std::max(found.high_j - found.energy_j, found.energy_j - found.low_j);
  const Lateness late = lateness(kept, period, response);
  const double seen_over_s = late.high_s + late.window_s / 2;
  found.energy_j += late.usual_s * rise_w;
  // Power around either end is not known any better than by the readings there.
  const double ends_j = late.at_ends_s * range_at_ends(kept, seen_over_s);
  const double edges_j = kNormal95 * late.edge_sd_s * std::sqrt(squared_steps(kept));
  const double known_j =
      std::hypot(std::hypot(step_of(kept) / 2 * seconds, ends_j), edges_j, noise_j(kept));
  const auto [less_j, more_j] =
      std::minmax({(late.low_s - late.usual_s) * rise_w, (late.high_s - late.usual_s) * rise_w});
  // If the clock was set, there is no energy in a gap.
  const Gaps gaps = gaps_of(kept, period.poll_s);
  found.reason = remarks(period, response, late, gaps);
  found.low_j =
      std::max(0.0, found.energy_j - std::hypot(known_j, std::max(gaps_j, gaps.energy_j), less_j));
  found.high_j = found.energy_j + std::hypot(known_j, gaps_j, more_j);
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
