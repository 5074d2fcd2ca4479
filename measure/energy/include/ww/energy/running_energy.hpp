// The joules of a device since a start, for as long as somebody watches it, in bounded memory.
//
// It applies energy_between() to the readings that it keeps. An accumulator misses nothing between
// two readings, so of its readings every second one is dropped when there are too many: those that
// are left have the same joules. A power register is integrated up to its newest reading, and the
// readings before that one are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ww/energy/energy.hpp"

namespace ww::energy {

class RunningEnergy {
 public:
  // From `from_ns` on. `stamped` as EnergySeries has it. `room`: readings that are kept, at least
  // kMinRoom.
  RunningEnergy(std::int64_t from_ns, EnergyOptions options, bool stamped = false,
                std::size_t room = 4096);

  // Readings in order of time. Those before the start are left out.
  void add(const EnergyReading& reading);
  // From the start to `to_ns`, which is not before the newest reading.
  [[nodiscard]] Energy until(std::int64_t to_ns) const;
  // From the start to the newest reading.
  [[nodiscard]] Energy so_far() const;

  static constexpr std::size_t kMinRoom = 128;

 private:
  // A counter of 32 bits wraps many times in a long run; the ruler follows one wrap of a stretch.
  [[nodiscard]] EnergyReading unwrapped(EnergyReading reading);
  void make_room();
  void thin();

  EnergyOptions options_;
  std::size_t room_;
  std::int64_t start_ns_;
  std::int64_t open_from_ns_;          // where `open_` begins
  std::optional<EnergyReading> last_;  // as it was read
  std::int64_t wrapped_ticks_{};       // what all wraps so far add
  EnergySeries open_;
  std::optional<Energy> closed_;  // from the start to there
};

}  // namespace ww::energy
