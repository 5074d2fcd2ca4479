// Power from an energy accumulator, whether every reading finds it moved or many repeat it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ww::model {

struct EnergyReading {
  std::int64_t time_ns{};
  std::int64_t ticks{-1};  // 2^-16 J; negative: this reading told none
};

struct EnergySteps {
  // Mean power [W] between the steps around each reading; the first and the last reading show their
  // neighbours'.
  std::vector<float> power_w;
  // Whole intervals are at most about so long [s]: two of them after a switch of the load, a
  // reading shows the new load alone. 0 where every reading is a step: then it is the sensor's
  // period.
  double interval_s{};
};

// `stamped`: readings bear the time of the sensor's refresh, not that of a poll. Where each of
// those moved, power is that between neighbours. Polls see an accumulator repeated or moved by two
// refreshes now and then (at 1 kHz of one that is refreshed each millisecond), or mostly repeated
// (each 100 ms); the reading at which it moved is stamped to a poll. Intervals between moves then
// span five polls or more, so that the stamp's error stays small. Energy is conserved: each
// interval begins where the one before ended. Empty where there is no accumulator to go by: fewer
// than three moves, backwards, told by under half of the readings, or at rest for over half a
// second and ten times its usual step.
[[nodiscard]] std::optional<EnergySteps> energy_steps(std::span<const EnergyReading> readings,
                                                      bool stamped);

}  // namespace ww::model
