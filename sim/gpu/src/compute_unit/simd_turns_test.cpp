// Turns that are taken at once, in rounds or in several quanta, end as the same turns one by one.
#include "compute_unit/simd_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace ww::sim::gpu::exec::simd_turns_test {
namespace {

constexpr std::size_t kSlots = 1200;
constexpr std::uint32_t kMaxDwords = 3;  // of an instruction
constexpr std::int64_t kFree = 1000;     // when the units are free at first

// Runs of instructions that are equal, most of them such as rounds are made of. Each is of one to
// three dwords; as in a program, the dwords inside one are the beginnings of others.
std::vector<IssueSlot> some_code(std::mt19937& random) {
  std::vector<IssueSlot> code(kSlots);
  std::size_t left = 0;
  IssueSlot slot;
  for (IssueSlot& each : code) {
    if (left-- == 0) {
      left = random() % 80;
      slot = {Unit::valu, 4};
      if (random() % 6 == 0) slot.unit = Unit::salu;
      if (random() % 6 == 0) slot.cycles = 16;
    }
    each = slot;
    each.dwords = static_cast<std::uint8_t>(1 + random() % kMaxDwords);
  }
  for (std::size_t i = kSlots; i-- != 0;) count_alike(&code[i], code.data() + kSlots);
  return code;
}

struct WaveTurns {
  std::uint64_t key{};  // of its next turn
  SimdTurns::Ahead ahead;
};

struct Outcome {
  std::vector<std::uint64_t> key;  // by place
  std::vector<const IssueSlot*> slot;
  std::vector<std::uint32_t> left;
  std::int64_t valu{}, salu{};
  std::int64_t last{};
  std::uint64_t begun{};
  std::int64_t goes_on{};
  bool operator==(const Outcome&) const = default;
};

// A SIMD's waves, and when its units are free.
struct Simd {
  const IssueSlot* begin{};  // of the code
  std::vector<WaveTurns> waves;
  std::int64_t valu{kFree}, salu{kFree};
  int turns{};
  int at_once{};                    // of the turns, those taken in rounds
  int steps{};                      // done when a wave had to do more than issue
  std::uint64_t begun{};            // the wave whose last turn did not end, by slot
  std::int64_t goes_on{};           // and when it goes on
  std::int64_t last{};              // when the latest turn began
  std::set<std::int64_t> quanta{};  // with turns taken one by one

  // Takes all turns in the quantum, or `beyond` it; at most `most` in all. False where a wave has
  // to do more than issue.
  bool take_all(Quantum quantum, bool beyond, bool rounds,
                int most = std::numeric_limits<int>::max()) {
    SimdTurns simd(valu, salu, quantum);
    for (const WaveTurns& wave : waves) simd.add(wave.key, wave.ahead);
    const IssueSlot* const code = begin;
    const auto do_more = [&](std::uint64_t wave, std::int64_t time, const IssueSlot* at) {
      return do_some_more(static_cast<std::uint32_t>(at - code), wave, time);
    };
    const int before = turns;
    while (turns < most) {
      if (rounds) {
        const int taken = simd.take_rounds(do_more, most - turns);
        at_once += taken;
        turns += taken;
        if (simd.goes_on()) {
          EXPECT_FALSE(simd.take(do_more));
          break;
        }
        if (turns == most) break;
      }
      const auto time = static_cast<std::int64_t>(simd.queue().first() >> 6);
      const bool taken = simd.take(do_more);
      if (!taken && beyond && simd.is_at_end()) {
        simd.go_beyond();
        continue;
      }
      if (!taken && !simd.goes_on()) break;
      quanta.insert(time / quantum.cycles);
      ++turns;
      if (!taken) break;
    }
    if (turns != before) last = simd.last();
    if (const auto& turn = simd.goes_on(); turn.has_value()) {
      begun = turn->slot;
      goes_on = turn->time;
    }
    for (std::size_t i = 0; i < simd.queue().count(); ++i) {
      const std::uint64_t key = simd.queue().at(i);
      waves[(key & 63) / 4] = {key, simd.ahead(key)};
    }
    valu = simd.valu();
    salu = simd.salu();
    return simd.is_at_end();
  }

  // More straight-line code, a jump, or neither; a wave on its way to the same place does the same.
  Step do_some_more(std::uint32_t at, std::uint64_t wave, std::int64_t time) {
    constexpr int kMaxSteps = 60;
    const std::uint32_t kind = (at * 2654435761U + static_cast<std::uint32_t>(wave)) >> 20U;
    if (++steps > kMaxSteps || kind % 8 == 0) return {time, 0, 0};
    if (kind % 2 != 0) {
      return {time + (kind % 4 == 1 ? 4 : 16), 0,
              static_cast<std::int32_t>(kind % 100) - static_cast<std::int32_t>(at)};
    }
    const std::uint32_t count = 1 + kind % 40;
    return {time, at + count * kMaxDwords <= kSlots ? count : 0, 0};
  }

  [[nodiscard]] Outcome outcome() const {
    Outcome result;
    result.last = last;
    result.begun = begun;
    result.goes_on = goes_on;
    result.valu = valu;
    result.salu = salu;
    for (const WaveTurns& wave : waves) {
      result.key.push_back(wave.key);
      result.slot.push_back(wave.ahead.slot);
      result.left.push_back(wave.ahead.left);
    }
    return result;
  }
};

// Waves have waited for the unit for long, or only just; some come later than it is free. All of
// their turns begin before `end`.
Simd some_waves(std::mt19937& random, std::span<const IssueSlot> code, std::int64_t end) {
  Simd simd;
  simd.begin = code.data();
  const auto spread = static_cast<std::int64_t>(1 + random() % 60);
  const std::size_t waves = 1 + random() % 10;
  for (std::uint64_t place = 0; place < waves; ++place) {
    const std::int64_t time =
        std::min(end - 1, kFree + 4 - static_cast<std::int64_t>(random()) % spread);
    const std::int64_t completion =
        random() % 5 == 0 ? kFree + static_cast<std::int64_t>(random() % 500) : kNever;
    simd.waves.push_back(
        {static_cast<std::uint64_t>(time) << 6 | place * 4,
         {&code[random() % 100], completion, 1 + static_cast<std::uint32_t>(random() % 256)}});
  }
  return simd;
}

TEST(SimdTurns, RoundsEndAsTheirTurnsOneByOne) {
  std::mt19937 random(11);
  int at_once = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::vector<IssueSlot> code = some_code(random);
    const Quantum quantum{kFree + static_cast<std::int64_t>(random() % 600), 600};
    Simd in_rounds = some_waves(random, code, quantum.end);
    Simd one_by_one = in_rounds;
    in_rounds.take_all(quantum, false, true);
    one_by_one.take_all(quantum, false, false);
    ASSERT_EQ(in_rounds.outcome(), one_by_one.outcome()) << round;
    ASSERT_EQ(in_rounds.turns, one_by_one.turns) << round;
    at_once += in_rounds.at_once;
  }
  EXPECT_GT(at_once, 10'000);
}

// Every quantum has a turn: what happens between quanta then happens after each of them.
TEST(SimdTurns, SeveralQuantaAtOnceEndAsOneAfterTheOther) {
  std::mt19937 random(12);
  int quanta = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::vector<IssueSlot> code = some_code(random);
    const auto cycles = static_cast<std::int64_t>(1 + random() % 200);
    Quantum quantum{(kFree / cycles + 1) * cycles, cycles};
    Simd beyond = some_waves(random, code, quantum.end);
    Simd one_by_one = beyond;
    ASSERT_FALSE(beyond.take_all(quantum, true, random() % 2 == 0));
    const std::int64_t first = quantum.end / cycles;
    while (one_by_one.take_all(quantum, false, false, beyond.turns) &&
           one_by_one.turns < beyond.turns) {
      quantum.end += cycles;
    }
    ASSERT_EQ(beyond.outcome(), one_by_one.outcome()) << round;
    ASSERT_EQ(beyond.turns, one_by_one.turns) << round;
    for (std::int64_t i = first; i <= beyond.last / cycles; ++i) {
      ASSERT_TRUE(one_by_one.quanta.contains(i)) << round << ", quantum " << i;
      ++quanta;
    }
  }
  EXPECT_GT(quanta, 20'000);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::simd_turns_test
