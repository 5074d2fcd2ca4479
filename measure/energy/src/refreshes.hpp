// When an accumulator was refreshed that is refreshed at equal distances, from polls that come
// later.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "moves.hpp"
#include "ww/energy/energy.hpp"

namespace ww::energy {

// Refreshes are at `edge_ns` and whole periods before and behind it.
struct Refreshes {
  double edge_ns{};
  double period_ns{};
  double error_ns{};  // of each refresh in the window, at most
  // When the refresh was whose value a move shows first. Absent where two come into question.
  [[nodiscard]] std::optional<double> of_move(std::span<const EnergyReading> readings,
                                              std::size_t at) const;
};

// Every move says that a refresh lies between two polls. Many such statements together leave
// little room for the moment and the period, whenever the polls came. Absent where they contradict
// each other, since refreshes then come at no equal distances, and where they say too little.
[[nodiscard]] std::optional<Refreshes> find_refreshes(std::span<const EnergyReading> readings,
                                                      const Moves& moves);

}  // namespace ww::energy
