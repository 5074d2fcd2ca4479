#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "moves.hpp"

namespace ww::energy {

EnergySteps energy_steps(const EnergySeries& series, double least_s) {
  const auto& readings = series.readings;
  EnergySteps steps;
  Moves moves = find_moves(readings, series.stamped);
  steps.status = moves.status;
  steps.reason = std::move(moves.reason);
  if (steps.status != RowStatus::ok) return steps;
  const std::int64_t least_ns = std::max(static_cast<std::int64_t>(std::llround(least_s * 1e9)),
                                         moves.exact ? 0 : kPollsPerStep * moves.poll_ns);
  if (!moves.exact || least_ns > 0) {
    moves.at = apart(readings, moves.at, least_ns);
    steps.interval_s = static_cast<double>(least_ns + moves.usual_ns) * kSecondsPerNs;
  }
  if (moves.at.size() < kFewestMoves) {
    steps.status = RowStatus::unavailable;
    steps.reason =
        fmt::format("the energy accumulator has {} moves that are {:.3g} s apart; {} are needed",
                    moves.at.size(), static_cast<double>(least_ns) * kSecondsPerNs, kFewestMoves);
    return steps;
  }
  steps.moves = std::move(moves.at);
  steps.power_w.resize(readings.size());
  for (std::size_t i = 1; i < steps.moves.size(); ++i) {
    const auto power =
        static_cast<float>(power_between(readings[steps.moves[i - 1]], readings[steps.moves[i]]));
    const std::size_t first = i == 1 ? 0 : steps.moves[i - 1] + 1;
    const std::size_t end = i + 1 == steps.moves.size() ? readings.size() : steps.moves[i] + 1;
    std::fill(steps.power_w.begin() + static_cast<std::ptrdiff_t>(first),
              steps.power_w.begin() + static_cast<std::ptrdiff_t>(end), power);
  }
  return steps;
}

}  // namespace ww::energy
