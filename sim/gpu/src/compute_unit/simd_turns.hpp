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

  // Where all waves wait for the vector unit, each turn of a wave issues as many instructions as
  // the one before, and the wave goes to the end of the queue. Such turns are not taken one by one:
  // it is known beforehand which turn of each wave is the next one that may be of another kind, and
  // these alone are looked at. That goes on until one does not end as the others, up to `most`
  // turns, of which there is one at least. Returns how many.
  template <class G>
  int take_rounds(G&& do_more, int most) {
    // Waves that come later end the rounds.
    std::size_t waves = queue_.count();
    while (waves != 0 && time_of(queue_.at(waves - 1)) >= valu_ + kInstruction) --waves;
    if (waves == 0) return 0;
    return waves < std::size_t{kOfTurn} ? take_rounds_of<true>(waves, do_more, most)
                                        : take_rounds_of<false>(waves, do_more, most);
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
  // Instructions that the waves of a SIMD issue in a turn's time.
  static constexpr int kOfTurn{kTurn / kInstruction};

  // Turns in rounds: each wave has one in each round, in the order of the queue when they began. A
  // turn ends with the first instruction that issues a turn's time after its wave's last one. Of
  // many waves each turn issues one. If they are `few`, fewer than a turn has instructions, they
  // issue as many as it has in a round; and what each of them issued in the last round it issues in
  // the next one, whatever its share.
  template <bool few>
  struct Rounds {
    // More than there are waves, so that the first is found without a jump.
    static constexpr std::size_t kRoom = 12;
    static_assert(kRoom >= TurnQueue::kMax && TurnQueue::kMax <= 16);

    int count{};          // waves
    std::int64_t valu{};  // when the unit was free
    std::int64_t end{};   // turns begin before that; or kNever
    std::array<std::uint64_t, kRoom> slot;
    std::array<std::int64_t, kRoom> first;  // when a wave's first turn begins
    std::array<int, kRoom> share_of_few;    // instructions of its turns
    std::array<int, kRoom> before_few;      // and those of a round that issue before them
    std::array<int, kRoom> done;            // rounds, as `ahead_` has the wave's state
    std::array<int, kRoom> special_round;   // the next one whose turn may be of another kind
    std::array<int, kRoom> special;         // number of that turn << 4 | wave

    Rounds() { special.fill(std::numeric_limits<int>::max()); }
    // Instructions issued in a round.
    [[nodiscard]] int instructions() const { return few ? kOfTurn : count; }
    [[nodiscard]] int share(std::size_t place) const { return few ? share_of_few[place] : 1; }
    // A turn, by its number from the first one on and by its round and wave.
    struct Turn {
      int number;
      int round;
      std::size_t place;
    };
    [[nodiscard]] Turn turn(int round, std::size_t place) const {
      return {round * count + static_cast<int>(place), round, place};
    }
    [[nodiscard]] Turn before(Turn turn) const {
      const bool is_first = turn.place == 0;
      return {turn.number - 1, is_first ? turn.round - 1 : turn.round,
              is_first ? static_cast<std::size_t>(count) - 1 : turn.place - 1};
    }
    [[nodiscard]] Turn behind(Turn turn) const {
      const bool is_last = static_cast<int>(turn.place) + 1 == count;
      return {turn.number + 1, is_last ? turn.round + 1 : turn.round, is_last ? 0 : turn.place + 1};
    }
    // When the turn's first instruction issues.
    [[nodiscard]] std::int64_t issue(Turn turn) const {
      const int issued = few ? turn.round * kOfTurn + before_few[turn.place] : turn.number;
      return valu + issued * kInstruction;
    }
    // When the turn's last instruction issues.
    [[nodiscard]] std::int64_t latest_issue(Turn turn) const {
      return issue(turn) + (share(turn.place) - 1) * kInstruction;
    }
    // When the turn begins: as its wave's last one ended.
    [[nodiscard]] std::int64_t time(Turn turn) const {
      if (turn.round == 0) return first[turn.place];
      const int last = few ? kOfTurn : count;  // number of instructions before
      return latest_issue(turn) + (1 - last) * kInstruction;
    }
    // How many turns begin before the end.
    [[nodiscard]] std::int64_t turns() const {
      const std::int64_t issued = std::max<std::int64_t>(0, (end - valu - 1) / kInstruction);
      if (!few) return count + issued;
      std::int64_t turns = count + issued / kOfTurn * count;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        if (before_few[i] + share(i) <= issued % kOfTurn) ++turns;
      }
      return turns;
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
    end_ = quantum_end_after(time);
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

  // Takes rounds of the first `waves` waves.
  template <bool few, class G>
  int take_rounds_of(std::size_t waves, G&& do_more, int most) {
    Rounds<few> rounds;
    if (!begin_rounds(rounds, waves)) return 0;
    const auto stop = static_cast<int>(std::min<std::int64_t>(most, rounds.turns()));
    while (true) {
      const auto [number, place] = rounds.next();
      if (number >= stop) {
        end_rounds(rounds,
                   {stop, stop / rounds.count, static_cast<std::size_t>(stop % rounds.count)});
        return stop;
      }
      const typename Rounds<few>::Turn special{number, rounds.special_round[place], place};
      const std::int64_t time = rounds.time(special);
      take_plain_turns(rounds, special);
      go_before(rounds, special);
      const std::int64_t first = valu_;
      const auto ended = turn(rounds.slot[place], time, do_more);
      if (ended && *ended == valu_ && go_on_with(rounds, special, valu_ - first)) continue;
      // The wave is the first one in the queue then, with a turn that has not ended, or none.
      const std::int64_t valu = valu_;
      const std::int64_t last = last_;
      end_rounds(rounds, special);
      valu_ = valu;
      last_ = last;
      if (ended) {
        queue_.take_first();
        queue_.add(key_of(*ended, rounds.slot[place]));
      }
      return number + (ended || goes_on_ ? 1 : 0);
    }
  }

  // Begins rounds; false where the next turns are not such as rounds are made of.
  template <bool few>
  bool begin_rounds(Rounds<few>& rounds, std::size_t waves) const {
    rounds.end = beyond_ ? kNever : end_;
    if (waves != queue_.count()) rounds.end = std::min(rounds.end, time_of(queue_.at(waves)));
    if (time_of(queue_.at(waves - 1)) >= rounds.end) return false;
    rounds.count = static_cast<int>(waves);
    rounds.valu = valu_;
    if (!find_shares(rounds)) return false;
    // No quantum on the way may be without a turn.
    if (beyond_) {
      const std::int64_t second = valu_ + rounds.share(0) * kInstruction;
      if (second - std::min(rounds.first[0], seen()) > cycles_) return false;
      if (few && kTurn > cycles_) return false;
    }
    for (std::size_t i = 0; i < waves; ++i) find_special(rounds, i);
    return rounds.next().number != 0;
  }
  template <bool few>
  bool find_shares(Rounds<few>& rounds) const {
    int before = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rounds.count); ++i) {
      const std::uint64_t key = queue_.at(i);
      const std::int64_t late = valu_ + before * kInstruction - time_of(key);
      rounds.slot[i] = key & 63;
      rounds.first[i] = time_of(key);
      rounds.done[i] = 0;
      if constexpr (few) {
        // Leaves one of the round's instructions for each wave that follows.
        const int most = kOfTurn - before - (rounds.count - 1 - static_cast<int>(i));
        if (late < 0 || kTurn - late > most * kInstruction) return false;
        rounds.share_of_few[i] = static_cast<int>(
            std::max(kTurn - late + kInstruction - 1, kInstruction) / kInstruction);
        rounds.before_few[i] = before;
      } else if (late + kInstruction < kTurn) {
        return false;
      }
      before += rounds.share(i);
    }
    return before == rounds.instructions();
  }

  // The wave's next turn that may do anything but issue its share of vector instructions of four
  // cycles.
  template <bool few>
  void find_special(Rounds<few>& rounds, std::size_t place) const {
    const int round = rounds.done[place] + plain_turns(rounds, place);
    rounds.special_round[place] = round;
    rounds.special[place] = rounds.turn(round, place).number << 4 | static_cast<int>(place);
  }
  // How many it is sure to have before.
  template <bool few>
  [[nodiscard]] int plain_turns(const Rounds<few>& rounds, std::size_t place) const {
    const Ahead& wave = ahead_[place_of(rounds.slot[place])];
    if (wave.left == 0) return 0;
    const IssueSlot slot = *wave.slot;
    if (slot.unit != Unit::valu || slot.cycles != kInstruction) return 0;
    const int share = rounds.share(place);
    const auto alike = static_cast<int>(std::min<std::uint32_t>(slot.alike, wave.left));
    int turns = share == 1 ? alike : alike / share;
    if (wave.completion != kNever) {  // turns from there on have to see what is complete
      turns = std::min(turns, turns_before(rounds, place, wave.completion));
    }
    if constexpr (few) {
      if (share != 1 && turns != 0) turns = uncut_turns(rounds, place, turns);
    }
    return turns;
  }
  // Turns that cannot see that something is complete.
  template <bool few>
  [[nodiscard]] static int turns_before(const Rounds<few>& rounds, std::size_t place,
                                        std::int64_t completion) {
    const auto latest_look = [&](int round) {
      const auto turn = rounds.turn(round, place);
      return rounds.share(place) == 1 ? rounds.time(turn) : rounds.latest_issue(turn);
    };
    const int next = rounds.done[place];
    if (latest_look(next) >= completion) return 0;
    const std::int64_t second = latest_look(next + 1);
    const std::int64_t round = rounds.instructions() * kInstruction;
    const std::int64_t more = second < completion ? (completion - 1 - second) / round + 1 : 0;
    return static_cast<int>(std::min<std::int64_t>(1 + more, std::numeric_limits<int>::max()));
  }
  // Returns how many of the next `turns` turns come before the first that the end of its quantum
  // cuts short. One after the other they begin a turn's time apart.
  [[nodiscard]] int uncut_turns(const Rounds<true>& rounds, std::size_t place, int turns) const {
    const auto next = rounds.turn(rounds.done[place], place);
    if (quantum_end_after(rounds.time(next)) <= rounds.latest_issue(next)) return 0;
    constexpr std::int64_t kLatestIssue = kTurn - kInstruction;  // after a turn's begin
    const std::int64_t second = rounds.time(rounds.turn(next.round + 1, place));
    std::int64_t to_end = quantum_end_after(second) - second;
    int uncut = 1;
    while (uncut < turns && to_end > kLatestIssue) {
      const std::int64_t more = (to_end - kLatestIssue + kTurn - 1) / kTurn;
      uncut += static_cast<int>(std::min<std::int64_t>(more, turns));
      to_end -= more * kTurn;
      if (to_end <= 0) to_end += cycles_;
    }
    return std::min(uncut, turns);
  }
  [[nodiscard]] std::int64_t quantum_end_after(std::int64_t time) const {
    return time < end_ ? end_ : end_ + ((time - end_) / cycles_ + 1) * cycles_;
  }

  // Takes the plain turns of the turn's wave before it.
  template <bool few>
  void take_plain_turns(Rounds<few>& rounds, typename Rounds<few>::Turn turn) {
    int& done = rounds.done[turn.place];
    const int issued = (turn.round - done) * rounds.share(turn.place);
    if (issued == 0) return;
    Ahead& wave = ahead_[place_of(rounds.slot[turn.place])];
    wave.left -= static_cast<std::uint32_t>(issued);
    wave.slot += dwords_of(wave.slot, static_cast<std::uint32_t>(issued));
    done = turn.round;
  }

  // Whether the rounds go on after a turn that ended as its last vector instruction did, when the
  // unit had been taken for `taken` cycles. If the quantum's end cut it short, the wave behind
  // issues the rest of its share from now on.
  template <bool few>
  bool go_on_with(Rounds<few>& rounds, typename Rounds<few>::Turn turn, std::int64_t taken) {
    const std::int64_t whole = rounds.share(turn.place) * kInstruction;
    if constexpr (few) {
      if (taken > 0 && taken < whole && taken % kInstruction == 0) {
        return hand_on(rounds, turn, static_cast<int>((whole - taken) / kInstruction));
      }
    }
    if (taken != whole) return false;
    ++rounds.done[turn.place];
    find_special(rounds, turn.place);
    return true;
  }
  // Hands on the `left` instructions of a wave's share, whose turn has just ended without them.
  bool hand_on(Rounds<true>& rounds, Rounds<true>::Turn turn, int left) {
    const auto behind = rounds.behind(turn);
    const std::size_t heir = behind.place;
    // A wave that has waited for long before its first turn issues one instruction in any case: it
    // may issue no more if the unit is free for it earlier.
    if (behind.round == 0 && rounds.latest_issue(behind) >= rounds.first[heir] + kTurn)
      return false;
    ++rounds.done[turn.place];
    take_plain_turns(rounds, behind);
    rounds.share_of_few[turn.place] -= left;
    rounds.share_of_few[heir] += left;
    rounds.before_few[heir] -= left;
    find_special(rounds, heir);
    find_special(rounds, turn.place);
    return true;
  }

  // The unit is free for that turn, and the one before it was the latest. If that one was cut short
  // it was taken by itself, and `last_` says when it began; its new share would say less.
  template <bool few>
  void go_before(const Rounds<few>& rounds, typename Rounds<few>::Turn turn) {
    valu_ = rounds.issue(turn);
    last_ = std::max(last_, rounds.time(rounds.before(turn)));
  }

  // Takes the turns of all waves before that turn, whose wave is then the first of the queue.
  template <bool few>
  void end_rounds(Rounds<few>& rounds, typename Rounds<few>::Turn turn) {
    go_before(rounds, turn);
    for (int i = 0; i < rounds.count; ++i) queue_.take_first();
    for (int i = 0; i < rounds.count; ++i) {
      take_plain_turns(rounds, turn);
      queue_.add(key_of(rounds.time(turn), rounds.slot[turn.place]));
      turn = rounds.behind(turn);
    }
  }

  TurnQueue queue_;
  std::array<Ahead, TurnQueue::kMax> ahead_;  // by place in the SIMD
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
