#include "ww/measure/update_period.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "ww/core/statistics.hpp"

namespace ww::measure {
namespace {

constexpr double kTau = 2 * std::numbers::pi;
// Poll times are rounded to 1 ms in most files. Finer ones are off by the time that a read takes.
constexpr double kCoarseStamp_s = 1e-3;
constexpr double kFineStamp_s = 0.3e-3;

// The value changed after poll `from` and not later than poll `to`.
struct Change {
  double from{}, to{};
  double by_w{};
  [[nodiscard]] double middle() const { return 0.5 * (from + to); }
};

double stamp_slack_s(std::span<const PowerPoint> polls) {
  constexpr double kSameStamp = 2e-3;  // doubles of times since 1970 are off by 1e-7 s
  const double zero = polls.front().time_s;
  const bool coarse = std::ranges::all_of(polls, [zero](const PowerPoint& poll) {
    const double stamps = (poll.time_s - zero) / kCoarseStamp_s;
    return std::abs(stamps - std::round(stamps)) < kSameStamp;
  });
  return coarse ? kCoarseStamp_s : kFineStamp_s;
}

double coherence(const std::vector<Change>& changes, double period) {
  std::complex<double> sum;
  for (const Change& change : changes) {
    sum += std::polar(1.0, kTau * std::fmod(change.middle(), period) / period);
  }
  return std::abs(sum) / static_cast<double>(changes.size());
}

// Coherence that a true period would have, as changes are seen late by up to a poll.
double expected_coherence(const std::vector<Change>& changes, double period) {
  double sum = 0;
  for (const Change& change : changes) {
    const double x = std::numbers::pi * (change.to - change.from) / period;
    sum += x > 0 ? std::sin(x) / x : 1.0;
  }
  return sum / static_cast<double>(changes.size());
}

double refined(const std::vector<Change>& changes, double frequency, double half_width) {
  double low = frequency - half_width, high = frequency + half_width;
  for (int i = 0; i < 40; ++i) {
    const double a = low + (high - low) * 0.382, b = low + (high - low) * 0.618;
    if (coherence(changes, 1 / a) > coherence(changes, 1 / b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return 0.5 * (low + high);
}

// The frequency over all changes, found from the first `count` of them on, twice as many at a time:
// the longer the series, the narrower its peak.
double followed(const std::vector<Change>& changes, std::size_t count, double frequency,
                double half_width) {
  for (;;) {
    const std::vector<Change> part(changes.begin(),
                                   changes.begin() + static_cast<std::ptrdiff_t>(count));
    frequency = refined(part, frequency, half_width);
    if (count == changes.size()) return frequency;
    count = std::min(2 * count, changes.size());
    half_width = 1 / (3 * std::max(changes[count - 1].to, 1e-9));
  }
}

// The phase at which most changes have a refresh between their polls: the middle of the longest
// run of best phases. Returns the share contained.
double best_phase(const std::vector<Change>& changes, double period, double slack_s,
                  double& phase) {
  constexpr std::size_t bins = 400;
  std::vector<int> steps(2 * bins + 1, 0);
  for (const Change& change : changes) {
    const double from = change.from - slack_s, to = change.to + slack_s;
    const double start = from - std::floor(from / period) * period;
    const double length = std::min((to - from) / period, 1.0);
    const auto first = static_cast<std::size_t>(start / period * bins) % bins;
    const auto last =
        std::min<std::size_t>(first + static_cast<std::size_t>(length * bins), first + bins - 1);
    ++steps[first];
    --steps[last + 1];
  }
  std::vector<int> covered(bins, 0);
  int running = 0;
  for (std::size_t i = 0; i < 2 * bins; ++i) {
    running += steps[i];
    covered[i % bins] += running;
  }
  const int most = *std::ranges::max_element(covered);
  const int enough = most - most / 200;
  std::size_t best_start = 0, best_length = 0, length = 0;
  for (std::size_t i = 0; i < 2 * bins; ++i) {
    length = covered[i % bins] >= enough ? length + 1 : 0;
    if (length > best_length && length <= bins) {
      best_length = length;
      best_start = i + 1 - length;
    }
  }
  const double middle = static_cast<double>(best_start) + 0.5 * static_cast<double>(best_length);
  phase = std::fmod(middle, static_cast<double>(bins)) / static_cast<double>(bins) * period;
  return static_cast<double>(most) / static_cast<double>(changes.size());
}

// Share of the changes that have a refresh of their own. Polls at equal distances d show a period p
// under 2 d also as 1 / (1/d - 1/p), which is longer; but then some refreshes change the value
// twice.
double with_own_refresh(const std::vector<Change>& changes, double period, double phase) {
  std::size_t own = 0;
  double last = -1e300;
  for (const Change& change : changes) {
    const double refresh = std::round((change.middle() - phase) / period);
    if (refresh > last) ++own;
    last = refresh;
  }
  return static_cast<double>(own) / static_cast<double>(changes.size());
}

// The refreshes that polls of one stretch show. Of the polls between two refreshes the one nearest
// the middle: those at the ends may already show the next value, or still the last.
void append(std::vector<PowerPoint>& out, std::span<const PowerPoint> polls, double period,
            double phase) {
  double best = 1;
  for (const PowerPoint& poll : polls) {
    const double turns = (poll.time_s - phase) / period;
    const double at = phase + std::floor(turns) * period;
    const double off = std::abs(turns - std::floor(turns) - 0.5);
    if (out.empty() || at > out.back().time_s + 0.5 * period) {
      out.push_back({at, poll.power_w});
      best = off;
    } else if (off < best) {
      out.back().power_w = poll.power_w;
      best = off;
    }
  }
}

bool is_one_step(const Change& change, double step_w) {
  constexpr double kOneStep = 1.5;
  return std::abs(change.by_w) < kOneStep * step_w;
}

// Whether the readings' step is all that most values change by. Then its borders decide when they
// do, whatever the refreshes do.
bool change_by_steps(const std::vector<Change>& changes, double& step_w) {
  constexpr double kMinShareOfSteps = 0.75;
  step_w = 1e300;
  for (const Change& change : changes) step_w = std::min(step_w, std::abs(change.by_w));
  const auto steps = std::ranges::count_if(
      changes, [&](const Change& change) { return is_one_step(change, step_w); });
  return static_cast<double>(steps) > kMinShareOfSteps * static_cast<double>(changes.size());
}

// Whether values creep up or down by the readings' step: a ramp crosses its borders in a rhythm of
// its own.
bool creeps_by_steps(const std::vector<Change>& changes) {
  constexpr double kMinShareInARow = 0.6;
  double step_w = 0;
  if (!change_by_steps(changes, step_w)) return false;
  std::size_t in_a_row = 0;
  for (std::size_t i = 1; i < changes.size(); ++i) {
    const bool goes_on = changes[i].by_w * changes[i - 1].by_w > 0;
    in_a_row += goes_on && is_one_step(changes[i], step_w) ? 1 : 0;
  }
  return static_cast<double>(in_a_row) > kMinShareInARow * static_cast<double>(changes.size());
}

// A load that repeats changes values at a few places of its own period, and is coherent at many of
// its harmonics; a sensor's clock is at its frequency and that one's multiples, and where these
// meet the rhythm of the polls. `found` is the frequency near place `at` of the scan, so exact that
// its high multiples can be told.
bool has_one_rhythm(const std::vector<double>& scan, double low, double step, std::size_t at,
                    double found, double length, double poll_s) {
  constexpr double kAsMuch = 0.9;
  constexpr int kMaxOthers = 2;
  const auto is_multiple = [&](double f) {
    return std::abs(f - std::round(f / found) * found) < 2 / length;
  };
  int others = 0;
  for (std::size_t i = 1; i + 1 < scan.size(); ++i) {
    if (scan[i] < kAsMuch * scan[at] || scan[i] < scan[i - 1] || scan[i] < scan[i + 1]) continue;
    const double f = low + step * static_cast<double>(i);
    others += is_multiple(f) || is_multiple(1 / poll_s - f) ? 0 : 1;
  }
  return others <= kMaxOthers;
}

constexpr std::size_t kMinToAPlace = 8;  // e^-8 of the places stay empty by chance

// The changes at one of every so many refreshes.
struct Place {
  std::size_t ups{}, downs{};
};

std::vector<Place> places_of(const std::vector<Change>& changes, std::size_t n, double period,
                             double phase) {
  std::vector<Place> places(n);
  for (const Change& change : changes) {
    const double refresh = std::round((change.middle() - phase) / period);
    const auto count = static_cast<double>(n);
    Place& place = places[static_cast<std::size_t>(refresh - std::floor(refresh / count) * count)];
    ++(change.by_w > 0 ? place.ups : place.downs);
  }
  return places;
}

// Whether values change in some of the places and never in a good part of the others.
bool leaves_places_out(const std::vector<Place>& places, std::size_t changes) {
  constexpr std::size_t kOneIn = 5;
  const auto seldom =
      static_cast<std::size_t>(std::ranges::count_if(places, [&](const Place& place) {
        return 20 * places.size() * (place.ups + place.downs) < changes;
      }));
  return seldom > 0 && seldom * kOneIn >= places.size();
}

// Whether values rise in some of the places and fall in the others.
bool parts_ways(const std::vector<Place>& places) {
  constexpr double kSameWay = 0.9;       // of the changes at a place
  constexpr double kMinEitherWay = 0.2;  // of all changes
  double all = 0, ups = 0, same_way = 0;
  for (const Place& place : places) {
    all += static_cast<double>(place.ups + place.downs);
    ups += static_cast<double>(place.ups);
    same_way += static_cast<double>(std::max(place.ups, place.downs));
  }
  return std::min(ups, all - ups) > kMinEitherWay * all && same_way > kSameWay * all;
}

// Whether the changes by more than the readings' step come at refreshes of the period, and at all
// places of them. They show it then, whatever the others follow.
bool larger_ones_show_it(const std::vector<Change>& changes, double step_w, double period,
                         double phase, double poll_s) {
  constexpr double kPollsToAPeriod = 3;  // of shorter ones each change is near a refresh
  std::vector<Change> larger;
  std::size_t near = 0;
  for (const Change& change : changes) {
    if (is_one_step(change, step_w)) continue;
    larger.push_back(change);
    const double from = change.middle() - phase;
    near += std::abs(from - std::round(from / period) * period) <= poll_s ? 1 : 0;
  }
  const std::size_t most = larger.size() / kMinToAPlace;
  if (period < kPollsToAPeriod * poll_s || most < 2 || near < larger.size()) return false;
  for (std::size_t n = 2; n <= most; ++n) {
    if (leaves_places_out(places_of(larger, n, period, phase), larger.size())) return false;
  }
  return true;
}

// Whether values change by the readings' step, in some of every few refreshes and never in the
// others, or up in some and down in the others. The moments at which a load that repeats crosses
// the readings' steps are such a pattern where one of its harmonics is taken for the sensor's
// clock. A sensor has it only if the load keeps to its clock all the time. Where values change by
// all kinds of amounts, only a sensor that holds them keeps them from changing at other moments.
bool repeats_a_pattern(const std::vector<Change>& changes, double period, double phase,
                       double poll_s) {
  constexpr std::size_t kMaxPlaces = 60;
  double step_w = 0;
  if (!change_by_steps(changes, step_w)) return false;
  if (larger_ones_show_it(changes, step_w, period, phase, poll_s)) return false;
  const std::size_t most = std::min(kMaxPlaces, changes.size() / kMinToAPlace);
  for (std::size_t n = 2; n <= most; ++n) {
    const auto places = places_of(changes, n, period, phase);
    if (leaves_places_out(places, changes.size()) || parts_ways(places)) return true;
  }
  return false;
}

// Whether changes follow a load of this period. A period under two polls is judged also as the
// longer one whose changes would look alike to polls at equal distances.
bool follows_a_load(const std::vector<Change>& changes, double period, double phase,
                    double poll_s) {
  if (repeats_a_pattern(changes, period, phase, poll_s)) return true;
  const double slower = 1 / poll_s - 1 / period;
  return period < 2 * poll_s && slower > 0 && repeats_a_pattern(changes, 1 / slower, phase, poll_s);
}

// The longest run of polls that all show a new value [polls].
std::size_t longest_run(std::span<const PowerPoint> polls) {
  std::size_t longest = 0, run = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    run = polls[i].power_w != polls[i - 1].power_w ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Whether neighbouring polls do both show new values, too often for spikes of one poll.
bool changes_from_poll_to_poll(std::span<const PowerPoint> polls, std::size_t changes) {
  constexpr std::size_t kMinPairs = 5;
  constexpr std::size_t kOneIn = 10;
  std::size_t pairs = 0;
  for (std::size_t i = 2; i < polls.size(); ++i) {
    pairs +=
        polls[i].power_w != polls[i - 1].power_w && polls[i - 1].power_w != polls[i - 2].power_w
            ? 1
            : 0;
  }
  return pairs >= kMinPairs && kOneIn * pairs >= changes;
}

// How long a sensor of two rates holds its value; 0 for one rate. A steady load and a coarse step
// leave values alone for any time; a slow rate does so for one time, again and again. Plateaus of
// one length do, too, but the values between two of them are those of an edge.
double held_for(const std::vector<Change>& changes, double seconds, double& share) {
  constexpr double kOfTheLongest = 0.8;
  constexpr double kMinShare = 0.2;
  constexpr std::size_t kMinHolds = 5;
  constexpr double kTimesTheUsual = 5;
  std::vector<double> holds;
  for (std::size_t i = 1; i < changes.size(); ++i) {
    holds.push_back(changes[i].to - changes[i - 1].to);
  }
  if (holds.size() < kMinHolds) return 0;
  const double longest = *std::ranges::max_element(holds);
  double together = 0;
  std::size_t count = 0, in_a_row = 0;
  bool before = false;
  for (const double hold : holds) {
    const bool is_long = hold > kOfTheLongest * longest;
    if (is_long) {
      together += hold;
      ++count;
      in_a_row += before ? 1 : 0;
    }
    before = is_long;
  }
  share = together / seconds;
  const bool two = count >= kMinHolds && 2 * in_a_row >= count && share >= kMinShare &&
                   kOfTheLongest * longest > kTimesTheUsual * median(holds);
  return two ? longest : 0;
}

// Counts changes by more than `floor_w` alone. `of_a_load`: a rhythm was found that a load shows
// which repeats.
UpdatePeriod search(std::span<const PowerPoint> polls, double floor_w, bool& of_a_load) {
  UpdatePeriod found;
  of_a_load = false;
  if (polls.size() < 3) {
    found.reason = "too few polls";
    return found;
  }
  // Times since the first poll: the phases of large times would lose digits.
  const double zero = polls.front().time_s;
  const double slack_s = stamp_slack_s(polls);
  std::vector<double> gaps;
  std::vector<Change> changes, all;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    gaps.push_back(polls[i].time_s - polls[i - 1].time_s);
    all.push_back({polls[i - 1].time_s - zero, polls[i].time_s - zero});
    if (std::abs(polls[i].power_w - polls[i - 1].power_w) <= floor_w) continue;
    changes.push_back(all.back());
    changes.back().by_w = polls[i].power_w - polls[i - 1].power_w;
  }
  found.poll_s = median(gaps);
  found.changes = changes.size();
  constexpr std::size_t enough = 20;
  if (changes.size() < enough || found.poll_s <= 0) {
    found.reason = fmt::format("the value changed {} times only", changes.size());
    return found;
  }
  double held_share = 0;
  found.held_s = held_for(changes, all.back().to, held_share);
  if (found.held_s > 0) {
    found.reason = fmt::format(
        "it has two rates: for {:.0f}% of the time it holds its value for about {:.2f} s, and it "
        "is "
        "refreshed faster at other times",
        100 * held_share, found.held_s);
    return found;
  }
  if (static_cast<double>(changes.size()) > 0.8 * static_cast<double>(gaps.size())) {
    found.within_poll = true;
    found.within_s = 1.25 * found.poll_s;
    found.reason = fmt::format(
        "nearly every poll shows a new value: the period is under {:.1f} ms, poll faster",
        found.within_s * 1e3);
    return found;
  }

  // Scan of frequencies, each change a phasor that turns by a fixed step; of a long series its
  // beginning, as the work grows with the square of its length.
  constexpr double most_work = 6e7;
  const double high = 1 / (1.25 * found.poll_s);
  double length = changes.back().to;
  auto head = changes;
  while (head.size() > enough && 8 * length * high * static_cast<double>(head.size()) > most_work) {
    length *= 0.7;
    std::erase_if(head, [length](const Change& change) { return change.to > length; });
  }
  if (head.size() < enough || 8 * length * high > most_work) {
    found.reason = "the value changed too rarely at first";
    return found;
  }
  const double low = 10 / length;
  const double step = 1 / (8 * length);
  std::vector<std::complex<double>> phasors, turns;
  for (const Change& change : head) {
    phasors.push_back(std::polar(1.0, kTau * low * change.middle()));
    turns.push_back(std::polar(1.0, kTau * step * change.middle()));
  }
  std::vector<double> scan;
  for (double f = low; f < high; f += step) {
    std::complex<double> sum;
    for (std::size_t i = 0; i < phasors.size(); ++i) {
      sum += phasors[i];
      phasors[i] *= turns[i];
    }
    scan.push_back(std::abs(sum) / static_cast<double>(head.size()));
  }
  const bool creeps = creeps_by_steps(changes);
  const double chance = 4 / std::sqrt(static_cast<double>(head.size()));
  double strongest = 0;
  for (std::size_t i = 1; i + 1 < scan.size(); ++i) {
    strongest = std::max(strongest, scan[i]);
    if (creeps || scan[i] < scan[i - 1] || scan[i] < scan[i + 1] || scan[i] < 0.85 * chance)
      continue;
    const double f = followed(changes, head.size(), low + step * static_cast<double>(i), step);
    const double period = 1 / f;
    const double shown = coherence(changes, period);
    if (shown < std::max(0.7 * expected_coherence(changes, period), chance)) continue;
    if (period < found.poll_s + 2 * slack_s || shown < 2 * coherence(all, period)) continue;
    double phase = 0;
    const double contained = best_phase(changes, period, slack_s, phase);
    if (contained < 0.8 || with_own_refresh(changes, period, phase) < 0.95) continue;
    if (!has_one_rhythm(scan, low, step, i, f, length, found.poll_s)) continue;
    if (follows_a_load(changes, period, phase, found.poll_s)) {
      of_a_load = true;
      continue;
    }
    found.resolved = true;  // frequencies rise: the first is the largest period
    found.period_s = period;
    found.phase_s = zero + phase;
    of_a_load = false;
    found.coherence = shown;
    found.contained = contained;
    return found;
  }
  found.coherence = strongest;
  found.within_poll = changes_from_poll_to_poll(polls, changes.size());
  if (found.within_poll) {
    // A run of n new values has n - 1 periods between them, which lie within n + 1 polls.
    const auto run = static_cast<double>(longest_run(polls));
    found.within_s = std::max(1.0, (run + 1) / std::max(run - 1, 1.0)) * found.poll_s;
    if (found.within_s < 1.25 * found.poll_s) found.within_s = found.poll_s;
    found.reason = fmt::format(
        "it is refreshed at least {} ({:.1f} ms or less): poll faster to see "
        "how often",
        found.within_s > found.poll_s ? "every few polls" : "once a poll", found.within_s * 1e3);
    return found;
  }
  found.reason =
      of_a_load ? "the changes follow a load that repeats, and no period of the sensor's own"
                : fmt::format("no period explains the changes (best coherence {:.2f})", strongest);
  return found;
}

// Changes above this are steps of power and not noise, which may be another one in each poll.
double noise_floor_w(std::span<const PowerPoint> polls) {
  constexpr double kTimesTheUsual = 6;
  std::vector<double> all, moves;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    all.push_back(std::abs(polls[i].power_w - polls[i - 1].power_w));
    if (all.back() > 0) moves.push_back(all.back());
  }
  if (moves.empty()) return 0;
  return kTimesTheUsual * std::max(median(std::move(all)), *std::ranges::min_element(moves));
}

// The shortest time that two steps of power may lie apart; 0 without two.
double steps_apart_s(std::span<const PowerPoint> polls, double floor_w) {
  double shortest_s = 0, before_s = 0;
  bool first = true;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    if (std::abs(polls[i].power_w - polls[i - 1].power_w) <= floor_w) continue;
    const double apart_s = polls[i].time_s - before_s;
    if (!first) shortest_s = shortest_s > 0 ? std::min(shortest_s, apart_s) : apart_s;
    before_s = polls[i - 1].time_s;
    first = false;
  }
  return shortest_s;
}

// Whether steps of power lie so many periods apart as no load does that repeats: the steps of such
// a load keep to its own clock.
bool come_at_odd_times(std::span<const PowerPoint> polls, double floor_w, double period) {
  constexpr std::size_t kMinLengths = 3;
  constexpr double kMaxShare = 0.75;  // of the most frequent one
  std::map<long, std::size_t> lengths;
  std::size_t steps = 0;
  double last_s = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    if (std::abs(polls[i].power_w - polls[i - 1].power_w) <= floor_w) continue;
    const double now_s = (polls[i].time_s + polls[i - 1].time_s) / 2;
    if (steps++ > 0) ++lengths[std::lround((now_s - last_s) / period)];
    last_s = now_s;
  }
  const auto most =
      std::ranges::max_element(lengths, {}, [](const auto& one) { return one.second; });
  return lengths.size() >= kMinLengths &&
         static_cast<double>(most->second) < kMaxShare * static_cast<double>(steps);
}

// The polls up to `most_changes` changes: more of them take longer and show nothing new.
std::span<const PowerPoint> beginning(std::span<const PowerPoint> polls) {
  constexpr std::size_t most_changes = 3000;
  std::size_t changes = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    changes += polls[i].power_w != polls[i - 1].power_w ? 1 : 0;
    if (changes == most_changes) return polls.first(i + 1);
  }
  return polls;
}

}  // namespace

UpdatePeriod find_update_period(std::span<const PowerPoint> all) {
  const auto polls = beginning(all);
  bool of_a_load = false;
  UpdatePeriod found = search(polls, 0, of_a_load);
  if (found.within_poll) {
    // Each poll may have noise of its own. Only steps of power then show when the value is renewed,
    // and they are far fewer.
    const double floor_w = noise_floor_w(all);
    UpdatePeriod of_steps = search(all, floor_w, of_a_load);
    if (of_steps.resolved && come_at_odd_times(all, floor_w, of_steps.period_s)) return of_steps;
    found.steps_apart_s = steps_apart_s(all, floor_w);
    of_a_load = false;
  }
  if (found.resolved || found.held_s > 0 || of_a_load) return found;
  // Over a long time the sensor's clock may wander too far for one period to explain it all; its
  // beginning then decides.
  constexpr std::size_t fewest = 60;  // changes
  for (auto part = polls; found.changes / 2 >= fewest;) {
    part = part.first(part.size() / 2);
    UpdatePeriod shorter = search(part, 0, of_a_load);
    if (shorter.resolved) return shorter;
    if (shorter.changes < fewest) break;
  }
  return found;
}

std::vector<PowerPoint> refreshes(std::span<const PowerPoint> polls, const UpdatePeriod& period) {
  std::vector<PowerPoint> out;
  if (!period.resolved && period.within_poll) return {polls.begin(), polls.end()};
  if (!period.resolved) return out;
  const double slack_s = polls.empty() ? 0 : stamp_slack_s(polls);
  // The sensor's clock wanders against the host's, by some ms in ten seconds: the phase is followed
  // from stretch to stretch.
  const double stretch = std::max(0.5, 12 * period.period_s);
  double phase = period.phase_s;
  std::size_t next = 0;
  while (next < polls.size()) {
    const double begin = polls[next].time_s;
    std::size_t end = next;
    std::vector<Change> changes;
    for (; end < polls.size() && polls[end].time_s < begin + stretch; ++end) {
      if (end > 0 && polls[end].power_w != polls[end - 1].power_w) {
        changes.push_back({polls[end - 1].time_s - begin, polls[end].time_s - begin});
      }
    }
    constexpr std::size_t enough = 8;
    double here = 0;
    if (changes.size() >= enough && best_phase(changes, period.period_s, slack_s, here) > 0.8) {
      const double off = (begin + here - phase) / period.period_s;
      const double wrapped = off - std::round(off);
      if (std::abs(wrapped) < 0.4) phase += wrapped * period.period_s;
    }
    append(out, polls.subspan(next, end - next), period.period_s, phase);
    next = end;
  }
  return out;
}

}  // namespace ww::measure
