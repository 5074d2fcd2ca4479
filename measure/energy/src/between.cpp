#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "moves.hpp"
#include "refreshes.hpp"
#include "ww/core/sensor_tolerances.hpp"

namespace ww::energy {
namespace {

constexpr std::size_t kFewestReadings = 3;
constexpr double kWattsPerMicrowatt = 1e-6;
// A register that usually answers every few milliseconds leaves a gap if it is silent for longer.
constexpr std::int64_t kLongestSilenceNs = 500'000'000;
constexpr std::int64_t kSilencesOfUsual = 10;

using Window = std::span<const EnergyReading>;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * kSecondsPerNs;
}

void add_remark(std::string& remarks, const std::string& more) {
  if (!remarks.empty() && !more.empty()) remarks += "; ";
  remarks += more;
}

bool is_possible(double watts) {
  return watts >= 0 && watts <= kMaxDeviceWatts;
}

// Mean power over the part of a window that one column covers.
struct Covered {
  RowStatus status{RowStatus::unavailable};
  std::string reason;  // why it has no figure; if it has one, what to know of it
  std::int64_t from_ns{}, to_ns{};
  double power_w{};
  double first_w{}, last_w{};  // at the ends of the part
  double later_j{};            // at least so much was drawn behind it
  double lowest_w{}, highest_w{};
  double unseen_s{};  // within: late stamps, gaps
  bool stood_still{};
};

// How late a move may be: the refresh lies behind the poll before it.
std::int64_t lateness_ns(Window window, const Moves& moves, std::size_t at) {
  if (moves.exact) return 0;
  return at == 0 ? moves.poll_ns : window[at].time_ns - window[at - 1].time_ns;
}

// Two moves this far apart bound the power between them to 20%.
std::int64_t least_between_ns(Window window, const Moves& moves, std::size_t a, std::size_t b) {
  return kPollsPerStep * std::max({moves.exact ? 0 : moves.poll_ns, lateness_ns(window, moves, a),
                                   lateness_ns(window, moves, b)});
}

std::vector<std::size_t> far_apart(Window window, const Moves& moves) {
  std::vector<std::size_t> kept;
  for (const std::size_t at : moves.at) {
    if (kept.empty() || window[at].time_ns - window[kept.back()].time_ns >=
                            least_between_ns(window, moves, kept.back(), at)) {
      kept.push_back(at);
    }
  }
  return kept;
}

// The first move from one end (ascending or descending) whose moment is known about as well as that
// of any beside it.
template <class Iterator>
std::size_t well_known(Window window, const Moves& moves, Iterator begin, Iterator end) {
  constexpr std::ptrdiff_t kBeside = 8;
  constexpr std::int64_t kAboutAsWell = 2;
  const std::vector<std::size_t> beside(begin, begin + std::min(kBeside, end - begin));
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t at : beside) {
    least_ns = std::min(least_ns, lateness_ns(window, moves, at));
  }
  for (const std::size_t at : beside) {
    if (lateness_ns(window, moves, at) <= kAboutAsWell * least_ns) return at;
  }
  return *begin;
}

// Power of the step that begins or ends at a move; `others` begins with the nearest one. The mean
// of all where no other is far enough from it.
template <class Iterator>
double power_beside(Window window, const Moves& moves, std::size_t at, Iterator others,
                    Iterator others_end, double mean_w) {
  for (; others != others_end; ++others) {
    const auto [before, after] = std::minmax(at, *others);
    const std::int64_t apart_ns = window[after].time_ns - window[before].time_ns;
    if (apart_ns <= 0 || apart_ns < least_between_ns(window, moves, before, after)) continue;
    return power_between(window[before], window[after]);
  }
  return mean_w;
}

struct KnownEdge {
  std::size_t at{};
  double time_ns{};
};

// The first of the moves, from one end, whose refresh is known, and the power from there to the
// next one that is.
template <class Iterator>
std::optional<std::pair<KnownEdge, double>> known_end(Window window, const Refreshes& refreshes,
                                                      Iterator move, Iterator moves_end) {
  std::optional<KnownEdge> edge;
  for (; move != moves_end; ++move) {
    const auto time_ns = refreshes.of_move(window, *move);
    if (!time_ns) continue;
    if (!edge) {
      edge = KnownEdge{*move, *time_ns};
      continue;
    }
    const double seconds = std::abs(*time_ns - edge->time_ns) * kSecondsPerNs;
    if (seconds <= 0) continue;
    const auto [before, after] = std::minmax(*move, edge->at);
    const auto ticks = ticks_between(window[before].ticks, window[after].ticks);
    return std::pair(*edge, static_cast<double>(ticks.value_or(0)) * kJoulesPerTick / seconds);
  }
  return std::nullopt;
}

// The covered part from refresh to refresh, where those come at equal distances.
bool hold_refreshes(Covered& covered, Window window, const Moves& moves) {
  const auto refreshes = find_refreshes(window, moves);
  if (!refreshes) return false;
  const auto first = known_end(window, *refreshes, moves.at.begin(), moves.at.end());
  const auto last = known_end(window, *refreshes, moves.at.rbegin(), moves.at.rend());
  if (!first || !last || first->first.time_ns >= last->first.time_ns) return false;
  const auto ticks = ticks_between(window[first->first.at].ticks, window[last->first.at].ticks);
  const double seconds = (last->first.time_ns - first->first.time_ns) * kSecondsPerNs;
  covered.from_ns = std::llround(first->first.time_ns);
  covered.to_ns = std::llround(last->first.time_ns);
  covered.power_w = static_cast<double>(ticks.value_or(0)) * kJoulesPerTick / seconds;
  covered.first_w = first->second;
  covered.last_w = last->second;
  const auto later = ticks_between(window[last->first.at].ticks, window[moves.at.back()].ticks);
  covered.later_j = static_cast<double>(later.value_or(0)) * kJoulesPerTick;
  covered.unseen_s = refreshes->error_ns * kSecondsPerNs;
  return true;
}

// Narrows the covered part to moves whose moments are known well, with the power at its ends.
void hold_ends(Covered& covered, Window window, const Moves& moves) {
  if (hold_refreshes(covered, window, moves)) return;
  const std::size_t first = well_known(window, moves, moves.at.begin(), moves.at.end());
  const std::size_t last = well_known(window, moves, moves.at.rbegin(), moves.at.rend());
  if (window[last].time_ns - window[first].time_ns < least_between_ns(window, moves, first, last) ||
      first >= last) {
    return;
  }
  covered.from_ns = window[first].time_ns;
  covered.to_ns = window[last].time_ns;
  covered.power_w = power_between(window[first], window[last]);
  const auto behind_first = std::ranges::upper_bound(moves.at, first);
  const auto at_last = std::ranges::lower_bound(moves.at, last);
  covered.first_w =
      power_beside(window, moves, first, behind_first, moves.at.end(), covered.power_w);
  covered.last_w = power_beside(window, moves, last, std::make_reverse_iterator(at_last),
                                moves.at.rend(), covered.power_w);
  const auto later = ticks_between(window[last].ticks, window[moves.at.back()].ticks);
  covered.later_j = static_cast<double>(later.value_or(0)) * kJoulesPerTick;
  covered.unseen_s = static_cast<double>(std::max(lateness_ns(window, moves, first),
                                                  lateness_ns(window, moves, last))) *
                     kSecondsPerNs;
}

Covered by_accumulator(Window window, bool stamped, bool holds_ends) {
  Covered covered;
  const Moves moves = find_moves(window, stamped);
  covered.status = moves.status;
  covered.reason = moves.reason;
  covered.stood_still = moves.stood_still;
  if (!moves.ok()) return covered;
  const EnergyReading& first = window[moves.at.front()];
  const EnergyReading& last = window[moves.at.back()];
  covered.from_ns = first.time_ns;
  covered.to_ns = last.time_ns;
  const std::int64_t least_ns = kPollsPerStep * moves.poll_ns;
  if (last.time_ns - first.time_ns < std::max<std::int64_t>(least_ns, 1)) {
    covered.status = RowStatus::unavailable;
    covered.reason = "the energy accumulator's moves lie within five polls";
    return covered;
  }
  covered.power_w = power_between(first, last);
  covered.lowest_w = covered.highest_w = covered.power_w;
  const auto steps = far_apart(window, moves);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const EnergyReading& from = window[steps[i - 1]];
    const EnergyReading& to = window[steps[i]];
    if (to.time_ns == from.time_ns) continue;
    covered.lowest_w = std::min(covered.lowest_w, power_between(from, to));
    covered.highest_w = std::max(covered.highest_w, power_between(from, to));
  }
  covered.unseen_s = static_cast<double>(moves.poll_ns) * kSecondsPerNs;
  covered.first_w = covered.last_w = covered.power_w;
  if (holds_ends) hold_ends(covered, window, moves);
  if (!is_possible(covered.highest_w)) {
    covered.status = RowStatus::rejected;
    covered.reason = fmt::format("the energy accumulator rose by {:.3g} W, which no device draws",
                                 covered.highest_w);
  } else if (moves.strays > 0) {
    covered.reason = fmt::format(
        "{} readings of the energy accumulator are left out, which lie below those before them or "
        "above by more than any device draws",
        moves.strays);
  }
  return covered;
}

// Readings that are no power would be in the mean of all. A few are left out; a sensor that shows
// more of them is broken.
struct ImpossiblePower {
  std::size_t readings{}, of{};
  double watts{};  // the first of them
  [[nodiscard]] bool broken() const {
    constexpr std::size_t kOneIn = 100;
    return readings > std::max<std::size_t>(1, of / kOneIn);
  }
};

ImpossiblePower impossible_power(Window window) {
  ImpossiblePower found;
  for (const EnergyReading& reading : window) {
    if (reading.power_uw == kAbsent) continue;
    ++found.of;
    const double watts = static_cast<double>(reading.power_uw) * kWattsPerMicrowatt;
    if (!is_possible(watts) && found.readings++ == 0) found.watts = watts;
  }
  return found;
}

Covered by_register(Window window) {
  Covered covered;
  const ImpossiblePower impossible = impossible_power(window);
  if (impossible.broken()) {
    covered.status = RowStatus::rejected;
    covered.reason = fmt::format("{} of {} power readings are like {:.6g} W, which no device draws",
                                 impossible.readings, impossible.of, impossible.watts);
    return covered;
  }
  std::vector<std::int64_t> between;
  const EnergyReading* before = nullptr;
  double energy_j = 0;
  std::size_t count = 0;
  bool moved = false;
  for (const EnergyReading& reading : window) {
    if (reading.power_uw == kAbsent) continue;
    const double watts = static_cast<double>(reading.power_uw) * kWattsPerMicrowatt;
    if (!is_possible(watts)) continue;
    covered.highest_w = std::max(covered.highest_w, watts);
    if (before == nullptr) {
      covered.from_ns = reading.time_ns;
    } else {
      const double earlier = static_cast<double>(before->power_uw) * kWattsPerMicrowatt;
      energy_j += (earlier + watts) / 2 * seconds_between(before->time_ns, reading.time_ns);
      between.push_back(reading.time_ns - before->time_ns);
      moved = moved || reading.power_uw != before->power_uw;
    }
    covered.to_ns = reading.time_ns;
    before = &reading;
    ++count;
  }
  covered.stood_still = !moved;
  if (count < kFewestReadings) {
    covered.reason = fmt::format("{} readings of power", count);
    return covered;
  }
  if (covered.to_ns <= covered.from_ns) {
    covered.reason = "all readings of power bear one time";
    return covered;
  }
  covered.power_w = energy_j / seconds_between(covered.from_ns, covered.to_ns);
  const std::int64_t silence_ns = std::max(kLongestSilenceNs, kSilencesOfUsual * median(between));
  for (const std::int64_t gap_ns : between) {
    if (gap_ns > silence_ns) covered.unseen_s += static_cast<double>(gap_ns) * kSecondsPerNs;
  }
  if (covered.unseen_s > 0) {
    covered.reason = fmt::format("{:.3g} s without readings", covered.unseen_s);
  } else if (!moved && covered.to_ns - covered.from_ns > kLongestSilenceNs) {
    covered.reason = fmt::format("all {} show {:.4g} W: the load is steady or the sensor is stuck",
                                 count, covered.power_w);
  }
  if (impossible.readings > 0) {
    add_remark(covered.reason,
               fmt::format("{} power readings like {:.6g} W, which no device draws, are left out",
                           impossible.readings, impossible.watts));
  }
  covered.status = RowStatus::ok;
  return covered;
}

EnergySeries with_possible_power(const EnergySeries& series) {
  EnergySeries possible = series;
  for (EnergyReading& reading : possible.readings) {
    const double watts = static_cast<double>(reading.power_uw) * kWattsPerMicrowatt;
    if (!is_possible(watts)) reading.power_uw = kAbsent;
  }
  return possible;
}

// A counter that differs from the register by more than the register's lag explains counts
// something else. Over a long window no lag matters. In a shorter one the register, once its lag is
// over, shows a mean of powers that the counter saw within the window.
std::string counter_doubt(const EnergySeries& series, std::int64_t from_ns, std::int64_t to_ns,
                          const Covered& counted, const EnergyOptions& options) {
  constexpr double kLongEnough_s = 10;
  constexpr double kUnlike = 0.25;
  const double lag_s = options.register_lag_s;
  const bool lag_matters = seconds_between(from_ns, to_ns) < std::max(kLongEnough_s, 2.5 * lag_s);
  const auto shown =
      energy_between(with_possible_power(series), from_ns, to_ns,
                     {.settle_s = lag_matters ? lag_s : 0.0, .only = EnergySource::power_register});
  if (!shown.ok()) return {};
  const double explained = lag_matters
                               ? std::clamp(shown.power_w, counted.lowest_w, counted.highest_w)
                               : counted.power_w;
  if (std::abs(explained / shown.power_w - 1) <= kUnlike) return {};
  return fmt::format(
      "the energy counter shows {:.2f} times the energy of the power readings: one of them does "
      "not measure all of the device, or the counter does not count in {}",
      counted.power_w / shown.power_w, options.counter_unit);
}

}  // namespace

Energy energy_between(const EnergySeries& series, std::int64_t from_ns, std::int64_t to_ns,
                      const EnergyOptions& options) {
  const auto settled_ns =
      from_ns + static_cast<std::int64_t>(std::llround(options.settle_s / kSecondsPerNs));
  const auto first =
      std::ranges::lower_bound(series.readings, settled_ns, {}, &EnergyReading::time_ns);
  const auto last =
      std::ranges::upper_bound(first, series.readings.end(), to_ns, {}, &EnergyReading::time_ns);
  const Window window(first, last);
  const auto answers = std::ranges::count_if(window, [](const EnergyReading& reading) {
    return reading.ticks != kAbsent || reading.power_uw != kAbsent;
  });
  Energy result;
  if (answers < static_cast<std::ptrdiff_t>(kFewestReadings)) {
    result.reason = fmt::format(
        "{} readings of the sensor fall into {:.3g} s; three are needed: bracket more "
        "work",
        answers, seconds_between(settled_ns, to_ns));
    return result;
  }
  Covered covered;
  std::string not_counted;  // why the accumulator was not used
  if (options.only != EnergySource::power_register) {
    result.source = EnergySource::accumulator;
    covered = by_accumulator(window, series.stamped, options.hold_ends);
    not_counted = covered.reason;
  }
  const bool counted =
      options.only != EnergySource::power_register && covered.status == RowStatus::ok;
  // An accumulator that ran backward says that the sensor is broken, not that it lacks a column.
  const bool broken = covered.status == RowStatus::rejected && !covered.stood_still;
  if (!counted && !broken && options.only != EnergySource::accumulator) {
    const bool rested = covered.stood_still;
    result.source = EnergySource::power_register;
    covered = by_register(window);
    if (rested && covered.stood_still) {
      covered.status = RowStatus::rejected;
      covered.reason = "the sensor stood still: " + not_counted;
    } else if (covered.status == RowStatus::ok) {
      const std::string gaps = covered.reason;
      covered.reason = "integrated from power readings";
      for (const std::string& more : {not_counted, gaps}) {
        if (!more.empty()) covered.reason += "; " + more;
      }
    } else if (!not_counted.empty()) {
      covered.reason = not_counted + "; " + covered.reason;
    }
  }
  result.status = covered.status;
  result.reason = covered.reason;
  if (result.status != RowStatus::ok) return result;
  if (!(covered.power_w > 0)) {
    result.status = RowStatus::rejected;
    result.reason = fmt::format("the sensor's mean power is {:.3g} W", covered.power_w);
    return result;
  }
  result.power_w = covered.power_w;
  result.energy_j = covered.power_w * seconds_between(from_ns, to_ns);
  if (counted && options.hold_ends) {
    result.energy_j =
        covered.first_w * seconds_between(from_ns, covered.from_ns) +
        covered.power_w * seconds_between(covered.from_ns, covered.to_ns) +
        std::max(covered.later_j, covered.last_w * seconds_between(covered.to_ns, to_ns));
    result.power_w = result.energy_j / seconds_between(from_ns, to_ns);
  }
  const double open_s = std::abs(seconds_between(from_ns, covered.from_ns)) +
                        std::abs(seconds_between(covered.to_ns, to_ns)) + covered.unseen_s;
  const Interval energy_j =
      through_scale(result.energy_j, open_s * covered.highest_w, options.gain_tolerance_95);
  result.low_j = std::max(0.0, energy_j.low);
  result.high_j = energy_j.high;
  if (counted && !options.only) {
    add_remark(result.reason, counter_doubt(series, from_ns, to_ns, covered, options));
  }
  return result;
}

std::optional<double> counter_over_register(const EnergySeries& series, std::int64_t from_ns,
                                            std::int64_t to_ns) {
  const auto counted = energy_between(series, from_ns, to_ns, {.only = EnergySource::accumulator});
  if (!counted.ok()) return std::nullopt;
  const auto shown = energy_between(with_possible_power(series), from_ns, to_ns,
                                    {.only = EnergySource::power_register});
  if (!shown.ok()) return std::nullopt;
  return counted.power_w / shown.power_w;
}

}  // namespace ww::energy
