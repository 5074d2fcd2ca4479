#include <algorithm>

#include "compute_unit/compute_unit.hpp"
#include "compute_unit/issue_slots.hpp"

namespace ww::sim::gpu::exec {
namespace {

// A look that finds fewer turns is not worth it; some good looks make up for some bad ones, up to
// so many turns. Where they do not, the next one is so many cycles away.
constexpr int kWorthLooking = 5;
constexpr int kMostSpare = 64;
constexpr std::int64_t kLookAgain = 512;

// A wave of a SIMD that only issues what is executed already.
struct Ahead {
  const IssueSlot* slot{};
  std::int64_t completion{};
  std::uint32_t left{};
};
using WavesAhead = std::array<Ahead, TurnQueue::kMost>;

// Where many waves wait for the vector unit, each turn issues one instruction and its wave goes to
// the end of the queue: as many rounds of that as are sure to come are done at once. Returns the
// turns. `valu`: when the unit is free.
int issue_rounds(TurnQueue& turns, WavesAhead& ahead, std::int64_t& valu, std::int64_t end) {
  constexpr std::int64_t kCycles = 4;  // of an instruction
  const auto waves = static_cast<std::int64_t>(turns.count());
  const std::int64_t round = waves * kCycles;
  // No turn lasts longer than one instruction if it begins so late for its wave.
  if (round < kTurn) return 0;
  constexpr std::int64_t kLate = kTurn - kCycles;
  if (static_cast<std::int64_t>(turns.at(turns.count() - 1) >> 6) >= valu + kCycles) return 0;
  std::int64_t rounds = (end - 1 - valu) / round + 1;
  for (std::int64_t i = 0; i < waves; ++i) {
    const std::uint64_t key = turns.at(static_cast<std::size_t>(i));
    const Ahead& wave = ahead[(key & 63) / 4];
    const IssueSlot slot = *wave.slot;
    if (slot.unit != Unit::valu || slot.cycles != kCycles) return 0;
    if (static_cast<std::int64_t>(key >> 6) + kLate > valu + i * kCycles) return 0;
    rounds = std::min<std::int64_t>(rounds, std::min<std::uint32_t>(slot.alike, wave.left));
    if (wave.completion != kNever) {
      rounds = std::min(rounds, (wave.completion - 1 - valu) / round);
    }
  }
  if (rounds < 2) return 0;
  const std::int64_t last_round = valu + (rounds - 1) * round;
  for (std::int64_t i = 0; i < waves; ++i) {
    std::uint64_t& key = turns.at(static_cast<std::size_t>(i));
    const std::uint64_t number = key & 63;
    Ahead& wave = ahead[number / 4];
    wave.left -= static_cast<std::uint32_t>(rounds);
    wave.slot += rounds * wave.slot->dwords;
    key = static_cast<std::uint64_t>(last_round + (i + 1) * kCycles) << 6 | number;
  }
  valu += rounds * round;
  return static_cast<int>(rounds * waves);
}

}  // namespace

// Turns of a SIMD's waves one after the other, as long as these only issue what is executed
// already: that concerns their own SIMD alone, so that no turn on another one could come between.
void ComputeUnit::issue_alone(std::size_t simd, std::int64_t end) {
  TurnQueue turns;
  WavesAhead ahead;  // by place in the SIMD
  const IssueSlot* const issue = launch_->straight->issue.data();
  // In the order of the last look, which most often still is theirs.
  for (const std::uint8_t place : turn_order_[simd]) {
    const std::size_t slot = simd + std::size_t{4} * place;
    if (static_cast<std::int64_t>(key_[slot] >> 6) >= end) continue;
    turns.add(key_[slot]);
    const Wave& wave = waves_[slot];
    ahead[place] = {issue + wave.pc, wave.next_completion, wave.ahead};
  }
  std::int64_t valu = valu_free_[simd];
  std::int64_t salu = salu_free_[simd];
  int found = 0;
  TurnOrder order;
  std::size_t turns_to_look = 0;  // until a look for rounds is worth it
  while (turns.first() != TurnQueue::kNone) {
    if (turns_to_look-- == 0) {
      turns_to_look = turns.count();
      if (const int issued = issue_rounds(turns, ahead, valu, end); issued != 0) {
        found += issued;
        for (std::size_t i = 0; i < turns.count(); ++i) {
          const std::uint64_t key = turns.at(i);
          key_[key & 63] = key;
          if (static_cast<std::int64_t>(key >> 6) >= end) order.add(key);
        }
        while (turns.count() != 0 &&
               static_cast<std::int64_t>(turns.at(turns.count() - 1) >> 6) >= end) {
          turns.take_last();
        }
        continue;
      }
    }
    const std::size_t number = turns.first() & 63;
    Ahead& wave = ahead[number / 4];
    auto time = static_cast<std::int64_t>(turns.first() >> 6);
    if (wave.left == 0 || time >= wave.completion) break;
    const std::int64_t horizon = std::min(end, time + kTurn);
    const Issued issued =
        issue_slots({time, valu, salu, wave.slot, wave.left}, std::min(horizon, wave.completion));
    if (issued.time < horizon) break;  // the turn does more
    valu = issued.valu;
    salu = issued.salu;
    wave.slot = issued.slot;
    wave.left = issued.left;
    const std::uint64_t key = static_cast<std::uint64_t>(issued.time) << 6 | number;
    key_[number] = key;
    turns.take_first();
    if (issued.time < end) {
      turns.add(key);
    } else {
      order.add(key);
    }
    ++found;
  }
  int& spare = spare_turns_[simd];
  spare = std::min(spare + found - kWorthLooking, kMostSpare);
  if (spare < 0) {
    spare = 0;
    alone_from_[simd] = end + kLookAgain;
  }
  turn_order_[simd] = order.next(turns, turn_order_[simd]);
  valu_free_[simd] = valu;
  salu_free_[simd] = salu;
  for (std::size_t slot = simd; slot < static_cast<std::size_t>(key_rows_) * 8; slot += 4) {
    const Ahead& state = ahead[slot / 4];
    if (state.slot == nullptr) continue;
    Wave& wave = waves_[slot];
    wave.pc = static_cast<std::uint32_t>(state.slot - issue);
    wave.ahead = state.left;
    wave.next = static_cast<std::int64_t>(key_[slot] >> 6);
  }
}

}  // namespace ww::sim::gpu::exec
