// Rounds of turns that are taken at once end as the same turns one by one.
#include "compute_unit/simd_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace ww::sim::gpu::exec::simd_turns_test {
namespace {

constexpr std::size_t kSlots = 600;

// Runs of instructions that are alike, most of them such as rounds are made of.
std::vector<IssueSlot> some_code(std::mt19937& random) {
  std::vector<IssueSlot> code(kSlots);
  std::size_t left = 0;
  IssueSlot slot;
  for (IssueSlot& each : code) {
    if (left == 0) {
      left = 1 + random() % 40;
      slot = {Unit::valu, 4, 1, 0};
      if (random() % 6 == 0) slot.unit = Unit::salu;
      if (random() % 6 == 0) slot.cycles = 16;
    }
    each = slot;
    each.alike = static_cast<std::uint8_t>(left--);
  }
  return code;
}

struct Outcome {
  std::map<std::uint64_t, std::uint64_t> key;  // of each wave's next turn, by number
  std::vector<std::ptrdiff_t> issued;
  std::vector<std::uint32_t> left;
  std::int64_t valu{}, salu{};
  int turns{};
  bool operator==(const Outcome&) const = default;
};

Outcome run(SimdTurns turns, std::size_t waves, const IssueSlot* code, bool rounds, int* at_once) {
  Outcome outcome;
  const auto had_turn = [&](std::uint64_t key) { outcome.key[key & 63] = key; };
  while (true) {
    if (rounds) {
      const int taken = turns.take_rounds(had_turn);
      *at_once += taken;
      outcome.turns += taken;
    }
    if (!turns.take(had_turn)) break;
    ++outcome.turns;
  }
  for (std::size_t place = 0; place < waves; ++place) {
    outcome.issued.push_back(turns.ahead(place).slot - code);
    outcome.left.push_back(turns.ahead(place).left);
  }
  outcome.valu = turns.valu();
  outcome.salu = turns.salu();
  return outcome;
}

TEST(SimdTurns, RoundsEndAsTheirTurnsOneByOne) {
  std::mt19937 random(11);
  int at_once = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<IssueSlot> code = some_code(random);
    const std::size_t waves = 4 + random() % 7;
    const std::int64_t valu = 1000;
    // Waves have waited for the unit for long, or only just; some come later than it is free.
    const auto spread = static_cast<std::int64_t>(1 + random() % 60);
    const std::int64_t end = valu + static_cast<std::int64_t>(random() % 600);
    SimdTurns turns(valu, valu, end);
    for (std::uint64_t place = 0; place < waves; ++place) {
      const std::int64_t time =
          std::min(end - 1, valu + 4 - static_cast<std::int64_t>(random()) % spread);
      const std::uint64_t key = static_cast<std::uint64_t>(time) << 6 | place * 4;
      const std::int64_t completion =
          random() % 5 == 0 ? valu + static_cast<std::int64_t>(random() % 500) : kNever;
      turns.add(
          key, {&code[random() % 100], completion, 1 + static_cast<std::uint32_t>(random() % 256)});
    }
    const Outcome one_by_one = run(turns, waves, code.data(), false, &at_once);
    ASSERT_EQ(run(turns, waves, code.data(), true, &at_once), one_by_one) << round;
  }
  EXPECT_GT(at_once, 10'000);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::simd_turns_test
