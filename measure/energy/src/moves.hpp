// Finds where an accumulator moved: the moments at which its value is known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/energy/energy.hpp"

namespace ww::energy {

inline constexpr double kSecondsPerNs = 1e-9;
// The stamp of a polled move is late by up to one poll; over five polls that is 20% at most.
inline constexpr std::int64_t kPollsPerStep = 5;
inline constexpr std::size_t kFewestMoves = 3;

struct Moves {
  RowStatus status{RowStatus::unavailable};
  std::string reason;  // if the moves cannot be used
  std::vector<std::size_t> at;
  bool exact{};             // every reading is a move that bears the time of its refresh
  bool stood_still{};       // rested for longer than any working accumulator does
  std::size_t strays{};     // readings left out, so that the others never ran backward
  std::int64_t usual_ns{};  // median time between moves
  std::int64_t poll_ns{};   // median time between readings; 0 if exact
  [[nodiscard]] bool ok() const { return status == RowStatus::ok; }
};

// Applies the rules at the head of energy.hpp, except for the least distance between moves. Where
// every poll found a move, the first reading is one as well: its value is at most a poll old.
[[nodiscard]] Moves find_moves(std::span<const EnergyReading> readings, bool stamped);

// Keeps the first of ascending moves and each that is `least_ns` or more behind the last kept one.
[[nodiscard]] std::vector<std::size_t> apart(std::span<const EnergyReading> readings,
                                             const std::vector<std::size_t>& moves,
                                             std::int64_t least_ns);

// Mean power [W] by the accumulator between two moves.
[[nodiscard]] double power_between(const EnergyReading& from, const EnergyReading& to);

[[nodiscard]] std::int64_t median(std::vector<std::int64_t> values);

}  // namespace ww::energy
