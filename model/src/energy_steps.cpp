#include "ww/model/energy_steps.hpp"

#include <algorithm>
#include <cstddef>

namespace ww::model {
namespace {

constexpr double joule_per_tick = 1.0 / 65536;
constexpr std::int64_t polls_per_interval = 5;
constexpr std::int64_t longest_rest_ns = 500'000'000;
constexpr std::int64_t rests_of_usual = 10;

std::int64_t median_ns(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::int64_t> gaps_ns(std::span<const EnergyReading> readings,
                                  const std::vector<std::size_t>& at) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < at.size(); ++i) {
    gaps.push_back(readings[at[i]].time_ns - readings[at[i - 1]].time_ns);
  }
  return gaps;
}

}  // namespace

std::optional<EnergySteps> energy_steps(std::span<const EnergyReading> readings, bool stamped) {
  // Readings at which the accumulator had moved; the first one that tells anything is a start only
  // where the next one moved.
  std::vector<std::size_t> moves;
  std::optional<std::size_t> before;
  std::size_t told = 0;
  moves.reserve(readings.size() + 1);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i].ticks < 0) continue;
    ++told;
    if (before) {
      if (readings[i].ticks < readings[*before].ticks) return {};
      if (readings[i].ticks > readings[*before].ticks) moves.push_back(i);
    }
    before = i;
  }
  if (readings.size() < 3 || 2 * told < readings.size()) return {};
  EnergySteps steps;
  if (stamped && moves.size() + 1 == readings.size()) {
    moves.insert(moves.begin(), 0);
  } else {
    if (moves.size() < 3) return {};
    const auto between = gaps_ns(readings, moves);
    const std::int64_t usual_ns = median_ns(between);
    const std::int64_t rest_ns = std::max(longest_rest_ns, rests_of_usual * usual_ns);
    if (*std::ranges::max_element(between) > rest_ns ||
        readings[moves.front()].time_ns - readings.front().time_ns > rest_ns ||
        readings.back().time_ns - readings[moves.back()].time_ns > rest_ns) {
      return {};
    }
    std::vector<std::int64_t> polls;
    for (std::size_t i = 1; i < readings.size(); ++i) {
      polls.push_back(readings[i].time_ns - readings[i - 1].time_ns);
    }
    const std::int64_t least_ns = polls_per_interval * median_ns(std::move(polls));
    std::vector<std::size_t> kept{moves.front()};
    for (const std::size_t at : moves) {
      if (readings[at].time_ns - readings[kept.back()].time_ns >= least_ns) kept.push_back(at);
    }
    moves = std::move(kept);
    if (moves.size() < 3) return {};
    steps.interval_s = static_cast<double>(least_ns + usual_ns) * 1e-9;
  }
  steps.power_w.resize(readings.size());
  for (std::size_t i = 1; i < moves.size(); ++i) {
    const EnergyReading& from = readings[moves[i - 1]];
    const EnergyReading& to = readings[moves[i]];
    const double seconds = static_cast<double>(to.time_ns - from.time_ns) * 1e-9;
    const auto power =
        static_cast<float>(static_cast<double>(to.ticks - from.ticks) * joule_per_tick / seconds);
    const std::size_t first = i == 1 ? 0 : moves[i - 1] + 1;
    const std::size_t end = i + 1 == moves.size() ? readings.size() : moves[i] + 1;
    std::fill(steps.power_w.begin() + static_cast<std::ptrdiff_t>(first),
              steps.power_w.begin() + static_cast<std::ptrdiff_t>(end), power);
  }
  return steps;
}

}  // namespace ww::model
