#include "moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

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

// Chooses the readings of an accumulator that follow one another. A faulty answer puts some
// readings below those before them, or above by more than any device draws; the counter then goes
// on where it was. Those are strays. A counter that began anew never comes back.
class Followed {
 public:
  explicit Followed(std::span<const EnergyReading> readings) : readings_(readings) {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (readings[i].ticks != kAbsent) shown_.push_back(i);
    }
  }
  [[nodiscard]] const std::vector<std::size_t>& shown() const { return shown_; }

  // Indices of the readings that follow one another; absent if more than some are strays.
  std::optional<std::vector<std::size_t>> kept() {
    const std::size_t most = std::max<std::size_t>(1, shown_.size() / kStraysOneIn);
    for (std::size_t t = 0; t < shown_.size(); ++t) {
      if (kept_.empty() || follows(kept_.size() - 1, shown_[t])) {
        keep(shown_[t]);
        continue;
      }
      const auto ahead = strays_from(t);
      const auto behind = strays_before(t);
      if (!ahead && !behind) return std::nullopt;
      if (ahead && (!behind || *ahead <= *behind)) {
        strays_ += *ahead;
        t += *ahead - 1;
      } else {
        strays_ += *behind;
        kept_.resize(kept_.size() - *behind);
        keep(shown_[t]);
      }
      if (strays_ > most) return std::nullopt;
    }
    std::vector<std::size_t> indices;
    indices.reserve(kept_.size());
    for (const Kept& one : kept_) indices.push_back(one.at);
    return indices;
  }

 private:
  static constexpr std::size_t kStraysOneIn = 20;
  static constexpr std::int64_t kLongestStrayNs = 500'000'000;
  // Refreshes that polls see close together seem to draw more than the device does.
  static constexpr double kMaxSeenWatts = 10 * kMaxDeviceWatts;
  // Before its first reading an accumulator may have rested for a second, at a tenth of that.
  static constexpr std::int64_t kBeforeFirstNs = 100'000'000;

  struct Kept {
    std::size_t at{};
    std::int64_t moved_ns{};  // when the value was new
  };

  void keep(std::size_t at) {
    const EnergyReading& reading = readings_[at];
    if (kept_.empty()) {
      kept_.push_back({at, reading.time_ns - kBeforeFirstNs});
    } else {
      const bool moved = readings_[kept_.back().at].ticks != reading.ticks;
      kept_.push_back({at, moved ? reading.time_ns : kept_.back().moved_ns});
    }
  }
  [[nodiscard]] bool follows(std::size_t kept, std::size_t at) const {
    const EnergyReading& before = readings_[kept_[kept].at];
    const auto ticks = ticks_between(before.ticks, readings_[at].ticks);
    if (!ticks) return false;
    const double seconds =
        static_cast<double>(readings_[at].time_ns - kept_[kept].moved_ns) * kSecondsPerNs;
    return *ticks == 0 || static_cast<double>(*ticks) * kJoulesPerTick <= kMaxSeenWatts * seconds;
  }
  // A stray leaves the series and comes back by as much. A counter that was set back by a little
  // goes on from there, and is where it was before after a while.
  [[nodiscard]] static bool comes_back(std::int64_t left_by, std::int64_t back_by) {
    const auto [less, more] = std::minmax({std::abs(left_by), std::abs(back_by)});
    return 2 * less >= more;
  }
  [[nodiscard]] std::int64_t difference(std::size_t from, std::size_t to) const {
    return readings_[to].ticks - readings_[from].ticks;
  }
  // How many readings from this one on are strays, if a later one follows what was kept or none is
  // left that could.
  [[nodiscard]] std::optional<std::size_t> strays_from(std::size_t t) const {
    const std::int64_t end_ns = readings_[shown_[t]].time_ns + kLongestStrayNs;
    for (std::size_t next = t + 1; next < shown_.size(); ++next) {
      if (readings_[shown_[next]].time_ns > end_ns) return std::nullopt;
      if (!follows(kept_.size() - 1, shown_[next])) continue;
      const bool back = comes_back(difference(kept_.back().at, shown_[t]),
                                   difference(shown_[next - 1], shown_[next]));
      return back ? std::optional(next - t) : std::nullopt;
    }
    return shown_.size() - t;
  }
  // How many of those kept are strays, if this reading follows what was before them.
  [[nodiscard]] std::optional<std::size_t> strays_before(std::size_t t) const {
    const std::int64_t begin_ns = readings_[shown_[t]].time_ns - kLongestStrayNs;
    for (std::size_t count = 1; count <= kept_.size(); ++count) {
      if (readings_[kept_[kept_.size() - count].at].time_ns < begin_ns) return std::nullopt;
      if (count == kept_.size()) return count;
      const std::size_t before = kept_.size() - count - 1;
      if (!follows(before, shown_[t])) continue;
      const bool back = comes_back(difference(kept_[before].at, kept_[before + 1].at),
                                   difference(kept_.back().at, shown_[t]));
      return back ? std::optional(count) : std::nullopt;
    }
    return std::nullopt;
  }

  std::span<const EnergyReading> readings_;
  std::vector<std::size_t> shown_;
  std::vector<Kept> kept_;
  std::size_t strays_{};
};

// Whether each poll found a new value, so that the accumulator is refreshed at least as often as it
// is polled. A poll right behind another one may find the same value all the same.
bool moves_at_every_poll(std::span<const EnergyReading> readings,
                         const std::vector<std::size_t>& kept, std::int64_t poll_ns) {
  for (std::size_t k = 1; k < kept.size(); ++k) {
    const EnergyReading& before = readings[kept[k - 1]];
    const EnergyReading& now = readings[kept[k]];
    if (before.ticks == now.ticks && 2 * (now.time_ns - before.time_ns) >= poll_ns) return false;
  }
  return true;
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
  Followed followed(readings);
  const std::size_t shown = followed.shown().size();
  const auto kept = followed.kept().value_or(followed.shown());
  moves.strays = shown - kept.size();
  for (std::size_t k = 1; k < kept.size(); ++k) {
    const EnergyReading& before = readings[kept[k - 1]];
    const EnergyReading& now = readings[kept[k]];
    const auto ticks = ticks_between(before.ticks, now.ticks);
    if (!ticks) {
      return refused(RowStatus::rejected,
                     fmt::format("the energy accumulator ran backward, from {} to {} ticks",
                                 before.ticks, now.ticks));
    }
    if (*ticks > 0) moves.at.push_back(kept[k]);
  }
  if (shown == 0) return refused(RowStatus::unavailable, "the sensor has no energy accumulator");
  if (readings.size() < kFewestMoves || 2 * shown < readings.size()) {
    return refused(
        RowStatus::unavailable,
        fmt::format("{} of {} readings show the energy accumulator", shown, readings.size()));
  }
  moves.exact = stamped && moves.at.size() + 1 + moves.strays == readings.size();
  // The first reading of an exact series is a start: its value was counted at its stamp.
  if (moves.exact) moves.at.insert(moves.at.begin(), kept.front());
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
    if (moves.at.front() != kept.front() && moves_at_every_poll(readings, kept, moves.poll_ns)) {
      moves.at.insert(moves.at.begin(), kept.front());
    }
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
