// Issue of instructions that are executed already, while a wave has its turn.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/forms/straight_line.hpp"

namespace ww::sim::gpu::exec {

// A wave keeps its turn for this many cycles before the next one is looked for: oldest first, and
// the host keeps its registers at hand.
inline constexpr std::int64_t kTurn = 32;

// Issues executed instructions up to `end`; the time then is when the next one can issue.
struct Issued {
  std::int64_t time, valu, salu;  // the units' next free cycles
  const IssueSlot* slot;
  std::uint32_t left;
};
[[gnu::always_inline]] inline Issued issue_slots(Issued at, std::int64_t end) {
  do {
    if (at.slot->unit == Unit::valu) {
      at.valu = at.time = std::max(at.time, at.valu) + at.slot->cycles;
    } else {
      at.salu = at.time = std::max(at.time, at.salu) + at.slot->cycles;
    }
    at.slot += at.slot->dwords;
  } while (--at.left != 0 && at.time < end);
  return at;
}

}  // namespace ww::sim::gpu::exec
