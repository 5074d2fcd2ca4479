#include "moves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::energy {
namespace {

constexpr std::int64_t kLongestRestNs = 500'000'000;
constexpr std::int64_t kRestsOfUsual = 10;

Moves refused(RowStatus status, std::string reason) {
  Moves moves;
  moves.status = status;
  moves.reason = std::move(reason);
  return moves;
}

// The longest time over which polls saw the accumulator repeat its value. From a move it lasts to
// the last reading before the next move, plus the poll in which that move lies; so a gap without
// readings does not count.
std::int64_t longest_rest_ns(std::span<const EnergyReading> readings,
                             const std::vector<std::size_t>& moves, std::int64_t poll_ns) {
  std::int64_t longest = 0;
  std::size_t next = 0;
  std::int64_t since = readings.front().time_ns;
  std::int64_t seen = since;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (next < moves.size() && moves[next] == i) {
      longest = std::max(longest, std::min(seen + poll_ns, readings[i].time_ns) - since);
      since = readings[i].time_ns;
      ++next;
    }
    if (readings[i].ticks != kAbsent) seen = readings[i].time_ns;
  }
  return std::max(longest, seen - since);
}

}  // namespace

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Moves find_moves(std::span<const EnergyReading> readings, bool stamped) {
  Moves moves;
  moves.at.reserve(readings.size());
  std::optional<std::size_t> before;
  std::size_t told = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i].ticks == kAbsent) continue;
    ++told;
    if (before) {
      const auto ticks = ticks_between(readings[*before].ticks, readings[i].ticks);
      if (!ticks) {
        return refused(RowStatus::rejected,
                       fmt::format("the energy accumulator ran backward, from {} to {} ticks",
                                   readings[*before].ticks, readings[i].ticks));
      }
      if (*ticks > 0) moves.at.push_back(i);
    }
    before = i;
  }
  if (told == 0) return refused(RowStatus::unavailable, "the sensor has no energy accumulator");
  if (readings.size() < kFewestMoves || 2 * told < readings.size()) {
    return refused(
        RowStatus::unavailable,
        fmt::format("{} of {} readings show the energy accumulator", told, readings.size()));
  }
  moves.exact = stamped && moves.at.size() + 1 == readings.size();
  // The first reading of an exact series is a start: its value was counted at its stamp.
  if (moves.exact) moves.at.insert(moves.at.begin(), 0);
  std::vector<std::int64_t> between;
  between.reserve(moves.at.size());
  for (std::size_t i = 1; i < moves.at.size(); ++i) {
    between.push_back(readings[moves.at[i]].time_ns - readings[moves.at[i - 1]].time_ns);
  }
  moves.usual_ns = median(std::move(between));
  if (moves.exact) {
    moves.status = RowStatus::ok;
    return moves;
  }
  std::vector<std::int64_t> polls;
  polls.reserve(readings.size());
  for (std::size_t i = 1; i < readings.size(); ++i) {
    polls.push_back(readings[i].time_ns - readings[i - 1].time_ns);
  }
  moves.poll_ns = median(std::move(polls));
  const std::int64_t rest_ns = longest_rest_ns(readings, moves.at, moves.poll_ns);
  if (rest_ns > std::max(kLongestRestNs, kRestsOfUsual * moves.usual_ns)) {
    moves.status = RowStatus::rejected;
    moves.stood_still = true;
    moves.reason = fmt::format("the energy accumulator stood still for {:.3g} s",
                               static_cast<double>(rest_ns) * kSecondsPerNs);
  } else if (moves.at.size() < kFewestMoves) {
    moves.reason = fmt::format("the energy accumulator moved {} times; {} moves are needed",
                               moves.at.size(), kFewestMoves);
  } else {
    moves.status = RowStatus::ok;
  }
  return moves;
}

std::vector<std::size_t> apart(std::span<const EnergyReading> readings,
                               const std::vector<std::size_t>& moves, std::int64_t least_ns) {
  std::vector<std::size_t> kept;
  for (const std::size_t at : moves) {
    if (kept.empty() || readings[at].time_ns - readings[kept.back()].time_ns >= least_ns) {
      kept.push_back(at);
    }
  }
  return kept;
}

double power_between(const EnergyReading& from, const EnergyReading& to) {
  const double seconds = static_cast<double>(to.time_ns - from.time_ns) * kSecondsPerNs;
  // Moves are chosen among readings that never ran backward.
  const auto ticks = static_cast<double>(ticks_between(from.ticks, to.ticks).value_or(0));
  return ticks * kJoulesPerTick / seconds;
}

}  // namespace ww::energy
