// Turns of one SIMD's waves that execute and issue straight-line code alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "compute_unit/issue_slots.hpp"
#include "compute_unit/turn_queue.hpp"
#include "isa/wave.hpp"

namespace ww::sim::gpu::exec {

// do_more(slot, time, at) is called where the wave in that slot of the CU has issued all that is
// executed. It does the wave's next step: more straight-line code, or a jump. For anything else it
// does nothing and returns the same time; the turn then goes on elsewhere.
class SimdTurns {
 public:
  struct Ahead {
    const IssueSlot* slot{};
    std::int64_t completion{};
    std::uint32_t left{};
  };
  // A turn that has begun and goes on elsewhere: the wave's slot, and when.
  struct Begun {
    std::uint64_t slot{};
    std::int64_t time{};
  };

  // `valu`, `salu`: when the units are free. Turns begin before the quantum's end.
  SimdTurns(std::int64_t valu, std::int64_t salu, Quantum quantum)
      : valu_(valu),
        salu_(salu),
        end_(quantum.end),
        cycles_(quantum.cycles),
        last_of_quantum_(quantum.end - 1) {}

  void add(std::uint64_t key, const Ahead& wave) {
    queue_.add(key);
    ahead_[place_of(key)] = wave;
  }

  // The next turn, of the first wave; false where it goes on elsewhere, where no wave waits, and at
  // the end of the quantum.
  template <class G>
  bool take(G&& do_more) {
    if (queue_.count() == 0 || goes_on_ || is_at_end()) return false;
    const std::uint64_t first = queue_.first();
    const std::int64_t time = time_of(first);
    if (beyond_ && time - seen() > cycles_) return false;  // a quantum between may have no turn
    const std::uint64_t slot = first & 63;
    const auto ended = turn(slot, time, do_more);
    if (!ended) return false;
    queue_.take_first();
    queue_.add(key_of(*ended, slot));
    return true;
  }

  // Whether the quantum has no further turn; others have one, perhaps.
  [[nodiscard]] bool is_at_end() const {
    return !beyond_ && !goes_on_ && queue_.count() != 0 && time_of(queue_.first()) >= end_;
  }
  // Turns go on beyond the quantum's end, as many quanta as have turns of these waves: nothing from
  // outside can meet them meanwhile.
  void go_beyond() { beyond_ = true; }

  // Whether there are as many waves as rounds need.
  [[nodiscard]] bool has_rounds() const {
    return static_cast<std::int64_t>(queue_.count()) * kInstruction >= kTurn;
  }
  // Where many waves wait for the vector unit, each turn issues one instruction, and its wave goes
  // to the end of the queue. Such turns are not taken one by one: it is known beforehand which turn
  // of each wave is the next one that may be of another kind, and these alone are looked at. That
  // goes on until one does not end as the others, up to `most` turns, of which there is one at
  // least. Returns how many.
  template <class G>
  int take_rounds(G&& do_more, int most) {
    Rounds rounds;
    if (!begin_rounds(rounds)) return 0;
    const auto stop = static_cast<int>(std::min<std::int64_t>(most, rounds.turns()));
    while (true) {
      const auto [number, place] = rounds.next();
      if (number >= stop) {
        end_rounds(rounds, stop);
        return stop;
      }
      const std::int64_t time = rounds.time(number);
      take_plain_turns(rounds, place, rounds.special_round[place]);
      last_ = rounds.time(number - 1);
      valu_ = rounds.valu + number * kInstruction;
      const std::int64_t next = valu_ + kInstruction;
      const auto ended = turn(rounds.slot[place], time, do_more);
      if (ended && valu_ == next) {
        ++rounds.done[place];
        find_special(rounds, place);
        continue;
      }
      // The wave is the first one in the queue then, with a turn that has not ended, or none.
      const std::int64_t valu = valu_;
      const std::int64_t last = last_;
      end_rounds(rounds, number);
      valu_ = valu;
      last_ = last;
      if (ended) {
        queue_.take_first();
        queue_.add(key_of(*ended, rounds.slot[place]));
      }
      return number + (ended || goes_on_ ? 1 : 0);
    }
  }

  [[nodiscard]] const std::optional<Begun>& goes_on() const { return goes_on_; }
  // When the latest turn began, if one did. Every quantum up to there has a turn.
  [[nodiscard]] std::int64_t last() const { return last_; }
  [[nodiscard]] bool is_beyond() const { return beyond_; }
  // All waves, by the keys of their next turns.
  [[nodiscard]] const TurnQueue& queue() const { return queue_; }
  [[nodiscard]] const Ahead& ahead(std::uint64_t key) const { return ahead_[place_of(key)]; }
  [[nodiscard]] std::int64_t valu() const { return valu_; }
  [[nodiscard]] std::int64_t salu() const { return salu_; }

 private:
  static constexpr std::int64_t kInstruction = 4;  // cycles of one that a round may be made of
  // A turn ends with its first instruction if the unit is free so late for its wave.
  static constexpr std::int64_t kLate = kTurn - kInstruction;

  // Turns in rounds, counted from 0 on: turn i is that of wave i modulo `count`, in the order of
  // the queue when they began, and its instruction issues at valu + 4 i.
  struct Rounds {
    // More than there are waves, so that the first is found without a jump.
    static constexpr std::size_t kRoom = 12;
    static_assert(kRoom >= TurnQueue::kMost && TurnQueue::kMost <= 16);

    int count{};          // waves
    std::int64_t valu{};  // when the unit was free
    std::int64_t end{};   // turns begin before that; or kNever
    std::array<std::uint64_t, kRoom> slot;
    std::array<std::int64_t, kRoom> first;  // when a wave's first turn begins
    std::array<int, kRoom> done;            // rounds, as `ahead_` has the wave's state
    std::array<int, kRoom> special_round;   // the next one whose turn may be of another kind
    std::array<int, kRoom> special;         // number of that turn << 4 | wave

    Rounds() { special.fill(std::numeric_limits<int>::max()); }
    // When a turn begins: as its wave's last one ended.
    [[nodiscard]] std::int64_t time(int number) const {
      return number < count ? first[static_cast<std::size_t>(number)]
                            : valu + (number - count + 1) * kInstruction;
    }
    // How many turns begin before the end.
    [[nodiscard]] std::int64_t turns() const {
      return count + std::max<std::int64_t>(0, (end - valu - 1) / kInstruction);
    }
    struct Special {
      int number;
      std::size_t wave;
    };
    // The special turn that comes first.
    [[nodiscard]] Special next() const {
      std::array<int, 3> least{special[0], special[1], special[2]};
      for (std::size_t i = 3; i < kRoom; ++i) least[i % 3] = std::min(least[i % 3], special[i]);
      const int first_of_all = std::min({least[0], least[1], least[2]});
      return {first_of_all >> 4, static_cast<std::size_t>(first_of_all & 15)};
    }
  };

  static std::size_t place_of(std::uint64_t key) { return (key & 63) / 4; }
  static std::int64_t time_of(std::uint64_t key) { return static_cast<std::int64_t>(key >> 6); }
  static std::uint64_t key_of(std::int64_t time, std::uint64_t slot) {
    return static_cast<std::uint64_t>(time) << 6 | slot;
  }
  // The quanta up to there have a turn, or are under way.
  [[nodiscard]] std::int64_t seen() const { return std::max(last_, last_of_quantum_); }

  // A turn of the wave in that slot; when it ended, or nothing where it goes on elsewhere.
  template <class G>
  std::optional<std::int64_t> turn(std::uint64_t slot, std::int64_t time, G&& do_more) {
    Ahead& wave = ahead_[place_of(slot)];
    if (time >= end_) end_ += ((time - end_) / cycles_ + 1) * cycles_;
    const std::int64_t horizon = std::min(end_, time + kTurn);
    const std::int64_t until = std::min(horizon, wave.completion);
    Issued issued{time, valu_, salu_, wave.slot, wave.left};
    bool ended = false;
    while (issued.time < wave.completion) {
      if (issued.left != 0) {
        issued = issue_slots(issued, until);
      } else {
        const Step step = do_more(slot, issued.time, issued.slot);
        if (step.time == issued.time && step.left == 0) break;
        issued.time = step.time;
        issued.left = step.left;
        issued.slot += step.dwords;
      }
      ended = issued.time >= horizon;
      if (ended) break;
    }
    const bool begun = issued.time != time;
    wave.slot = issued.slot;
    wave.left = issued.left;
    valu_ = issued.valu;
    salu_ = issued.salu;
    if (begun) last_ = time;
    if (ended) return issued.time;
    if (begun) goes_on_ = {slot, issued.time};
    return std::nullopt;
  }

  // False where the next turns are not such as rounds are made of.
  bool begin_rounds(Rounds& rounds) const {
    if (!has_rounds()) return false;
    // No quantum on the way may be without a turn.
    const std::int64_t first = time_of(queue_.first());
    if (beyond_ && valu_ + kInstruction - std::min(first, seen()) > cycles_) return false;
    // Waves that come later end the rounds.
    std::size_t waves = queue_.count();
    while (waves != 0 && time_of(queue_.at(waves - 1)) >= valu_ + kInstruction) --waves;
    if (static_cast<std::int64_t>(waves) * kInstruction < kTurn) return false;
    rounds.end = beyond_ ? kNever : end_;
    if (waves != queue_.count()) rounds.end = std::min(rounds.end, time_of(queue_.at(waves)));
    if (time_of(queue_.at(waves - 1)) >= rounds.end) return false;
    rounds.count = static_cast<int>(waves);
    rounds.valu = valu_;
    for (std::size_t i = 0; i < waves; ++i) {
      const std::uint64_t key = queue_.at(i);
      if (time_of(key) + kLate > valu_ + static_cast<int>(i) * kInstruction) return false;
      rounds.slot[i] = key & 63;
      rounds.first[i] = time_of(key);
      rounds.done[i] = 0;
      find_special(rounds, i);
    }
    return rounds.next().number != 0;
  }

  // The wave's next turn that may do anything but issue one vector instruction of four cycles.
  void find_special(Rounds& rounds, std::size_t place) const {
    const int round = rounds.done[place] + plain_turns(rounds, place);
    rounds.special_round[place] = round;
    rounds.special[place] =
        (round * rounds.count + static_cast<int>(place)) << 4 | static_cast<int>(place);
  }
  // How many it is sure to have before.
  [[nodiscard]] int plain_turns(const Rounds& rounds, std::size_t place) const {
    const Ahead& wave = ahead_[place_of(rounds.slot[place])];
    if (wave.left == 0) return 0;
    const IssueSlot slot = *wave.slot;
    if (slot.unit != Unit::valu || slot.cycles != kInstruction) return 0;
    std::int64_t turns = std::min<std::uint32_t>(slot.alike, wave.left);
    if (wave.completion != kNever) {  // turns from there on have to see what is complete
      const int next = rounds.done[place] * rounds.count + static_cast<int>(place);
      if (rounds.time(next) >= wave.completion) return 0;
      const std::int64_t second = rounds.time(next + rounds.count);
      const std::int64_t round = rounds.count * kInstruction;
      const std::int64_t more =
          second < wave.completion ? (wave.completion - 1 - second) / round + 1 : 0;
      turns = std::min(turns, 1 + more);
    }
    return static_cast<int>(turns);
  }

  // Those of the wave before that round.
  void take_plain_turns(Rounds& rounds, std::size_t place, int round) {
    const int turns = round - rounds.done[place];
    if (turns == 0) return;
    Ahead& wave = ahead_[place_of(rounds.slot[place])];
    wave.left -= static_cast<std::uint32_t>(turns);
    wave.slot += turns * wave.slot->dwords;
    rounds.done[place] = round;
  }

  // Those of all waves before turn `number`, whose wave is then the first of the queue.
  void end_rounds(Rounds& rounds, int number) {
    valu_ = rounds.valu + number * kInstruction;
    last_ = rounds.time(number - 1);
    for (int i = 0; i < rounds.count; ++i) queue_.take_first();
    int round = number / rounds.count;
    auto place = static_cast<std::size_t>(number % rounds.count);
    for (int next = number; next < number + rounds.count; ++next) {
      take_plain_turns(rounds, place, round);
      queue_.add(key_of(rounds.time(next), rounds.slot[place]));
      if (++place == static_cast<std::size_t>(rounds.count)) {
        place = 0;
        ++round;
      }
    }
  }

  TurnQueue queue_;
  std::array<Ahead, TurnQueue::kMost> ahead_;  // by place in the SIMD
  std::int64_t valu_;
  std::int64_t salu_;
  std::int64_t end_;     // of the quantum in which the next turn begins
  std::int64_t cycles_;  // of a quantum
  std::int64_t last_of_quantum_;
  std::int64_t last_{};
  bool beyond_{};
  std::optional<Begun> goes_on_;
};

}  // namespace ww::sim::gpu::exec
