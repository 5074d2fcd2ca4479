// Turns of one SIMD's waves that only issue what is executed already.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "compute_unit/issue_slots.hpp"
#include "compute_unit/turn_queue.hpp"
#include "isa/wave.hpp"

namespace ww::sim::gpu::exec {

class SimdTurns {
 public:
  struct Ahead {
    const IssueSlot* slot{};  // null: the wave had no turn to wait for
    std::int64_t completion{};
    std::uint32_t left{};
  };

  // `valu`, `salu`: when the units are free. Turns begin before the quantum's end, or go `beyond`
  // it: where nothing from outside can meet these waves, as many quanta as have turns of theirs.
  SimdTurns(std::int64_t valu, std::int64_t salu, Quantum quantum, bool beyond)
      : valu_(valu),
        salu_(salu),
        end_(quantum.end),
        cycles_(quantum.cycles),
        last_(quantum.end - 1),
        beyond_(beyond) {}

  void add(std::uint64_t key, const Ahead& wave) {
    queue_.add(key);
    ahead_[place_of(key)] = wave;
  }
  // The next turn, of the first wave; false where that does more than issue, or none waits.
  // had_turn(key) is called with the key of its next turn.
  template <class F>
  bool take(F&& had_turn) {
    const std::uint64_t first = queue_.first();
    if (first == TurnQueue::kNone) return false;
    Ahead& wave = ahead_[place_of(first)];
    const auto time = static_cast<std::int64_t>(first >> 6);
    if (wave.left == 0 || time >= wave.completion) return false;
    if (beyond_ && time - last_ > cycles_) return false;  // a quantum between may have no turn
    if (time >= end_) end_ += ((time - end_) / cycles_ + 1) * cycles_;
    const std::int64_t horizon = std::min(end_, time + kTurn);
    const Issued issued =
        issue_slots({time, valu_, salu_, wave.slot, wave.left}, std::min(horizon, wave.completion));
    if (issued.time < horizon) return false;
    last_ = time;
    valu_ = issued.valu;
    salu_ = issued.salu;
    wave.slot = issued.slot;
    wave.left = issued.left;
    const std::uint64_t key = static_cast<std::uint64_t>(issued.time) << 6 | (first & 63);
    queue_.take_first();
    finish(key, had_turn);
    return true;
  }
  // Where many waves wait for the vector unit, each turn issues one instruction and its wave goes
  // to the end of the queue: as many rounds of that as are sure to come are taken at once. Returns
  // the turns; had_turn(key) is called for the last one of each wave.
  template <class F>
  int take_rounds(F&& had_turn) {
    const std::int64_t rounds = sure_rounds();
    if (rounds < 2) return 0;
    const std::size_t waves = queue_.count();
    std::int64_t time = valu_ + (rounds - 1) * round_cycles();
    last_ = time;
    valu_ += rounds * round_cycles();
    for (std::size_t i = 0; i < waves; ++i) {
      const std::uint64_t number = queue_.first() & 63;
      Ahead& wave = ahead_[number / 4];
      wave.left -= static_cast<std::uint32_t>(rounds);
      wave.slot += rounds * wave.slot->dwords;
      time += kInstruction;
      queue_.take_first();
      finish(static_cast<std::uint64_t>(time) << 6 | number, had_turn);
    }
    return static_cast<int>(rounds) * static_cast<int>(waves);
  }

  // When the latest turn began. Every quantum up to there has a turn.
  [[nodiscard]] std::int64_t last() const { return last_; }
  [[nodiscard]] std::size_t waiting() const { return queue_.count(); }
  [[nodiscard]] const TurnQueue& queue() const { return queue_; }
  [[nodiscard]] const Ahead& ahead(std::size_t place) const { return ahead_[place]; }
  [[nodiscard]] std::int64_t valu() const { return valu_; }
  [[nodiscard]] std::int64_t salu() const { return salu_; }

 private:
  static constexpr std::int64_t kInstruction = 4;  // cycles of one that a round may be made of
  static constexpr std::int64_t kMostRounds = std::numeric_limits<std::uint8_t>::max();  // alike

  static std::size_t place_of(std::uint64_t key) { return (key & 63) / 4; }
  [[nodiscard]] std::int64_t round_cycles() const {
    return static_cast<std::int64_t>(queue_.count()) * kInstruction;
  }
  template <class F>
  void finish(std::uint64_t key, F&& had_turn) {
    if (beyond_ || static_cast<std::int64_t>(key >> 6) < end_) queue_.add(key);
    had_turn(key);
  }
  [[nodiscard]] std::int64_t sure_rounds() const {
    // A turn ends with its first instruction if the unit is free so late for its wave.
    constexpr std::int64_t kLate = kTurn - kInstruction;
    const std::int64_t round = round_cycles();
    if (round < kTurn) return 0;
    const auto waves = static_cast<std::int64_t>(queue_.count());
    const auto last = static_cast<std::int64_t>(queue_.at(queue_.count() - 1) >> 6);
    if (last >= valu_ + kInstruction) return 0;
    // No quantum on the way may be without a turn.
    const auto first = static_cast<std::int64_t>(queue_.first() >> 6);
    if (beyond_ && valu_ + kInstruction - std::min(first, last_) > cycles_) return 0;
    std::int64_t rounds = beyond_ ? kMostRounds : (end_ - 1 - valu_) / round + 1;
    for (std::int64_t i = 0; i < waves; ++i) {
      const std::uint64_t key = queue_.at(static_cast<std::size_t>(i));
      const Ahead& wave = ahead_[place_of(key)];
      const IssueSlot slot = *wave.slot;
      if (slot.unit != Unit::valu || slot.cycles != kInstruction) return 0;
      if (static_cast<std::int64_t>(key >> 6) + kLate > valu_ + i * kInstruction) return 0;
      rounds = std::min<std::int64_t>(rounds, std::min<std::uint32_t>(slot.alike, wave.left));
      if (wave.completion != kNever) {
        rounds = std::min(rounds, (wave.completion - 1 - valu_) / round + 1);
      }
    }
    return rounds;
  }

  TurnQueue queue_;
  std::array<Ahead, TurnQueue::kMost> ahead_;  // by place in the SIMD
  std::int64_t valu_;
  std::int64_t salu_;
  std::int64_t end_;     // of the quantum in which the next turn begins
  std::int64_t cycles_;  // of a quantum
  std::int64_t last_;
  bool beyond_;
};

}  // namespace ww::sim::gpu::exec
