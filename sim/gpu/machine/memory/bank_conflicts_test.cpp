#include "machine/memory/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace ww::sim::gpu::exec {
namespace {

struct Access {
  alignas(64) std::array<std::uint32_t, 64> address{};
  std::uint32_t offset{};
  std::uint64_t exec{};
};

// Lane after lane: a word that differs from the one before it on its bank takes a cycle more.
std::int64_t cycles_of(const Access& access, bool atomic) {
  std::int64_t cycles = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    std::map<std::uint32_t, std::pair<std::uint32_t, std::int64_t>> bank;
    std::int64_t most = 0;
    for (std::size_t lane = half * 32; lane < half * 32 + 32; ++lane) {
      if ((access.exec >> lane & 1U) == 0) continue;
      const std::uint32_t word = (access.address[lane] + access.offset) / 4;
      auto [place, first] = bank.try_emplace(word % 32, word, 1);
      if (!first && (atomic || place->second.first != word)) ++place->second.second;
      place->second.first = word;
      most = std::max(most, place->second.second);
    }
    // A half without lanes takes its turn.
    cycles += std::max<std::int64_t>(most, 1);
  }
  return cycles;
}

void expect_found(const Access& access, std::uint32_t instruction) {
  alignas(64) std::array<std::uint32_t, 64> mask{};
  lanes().expand_mask(mask.data(), access.exec);
  const LocalAccess found = find_local_access(instruction, access.address.data(), access.offset,
                                              access.exec, mask.data());
  ASSERT_EQ(found.cycles, cycles_of(access, false));
  ASSERT_EQ(atomic_bank_cycles(access.address.data(), access.offset, access.exec, mask.data()),
            cycles_of(access, true));
  if (access.exec == 0) return;
  std::uint32_t first = ~std::uint32_t{0};
  std::uint32_t last = 0;
  bool in_row = access.exec == ~std::uint64_t{0};
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    in_row = in_row && access.address[lane] == access.address[0] + 4 * lane;
    if ((access.exec >> lane & 1U) == 0) continue;
    first = std::min(first, access.address[lane] + access.offset);
    last = std::max(last, access.address[lane] + access.offset);
  }
  ASSERT_EQ(found.first, first);
  ASSERT_EQ(found.last, last);
  ASSERT_EQ(found.in_row, in_row);
}

// Each access differs from the one before in few respects, as those of a loop do; some steps leave
// the words' grid, wrap at 2^32 or change one lane.
TEST(BankConflicts, AreThoseOfTheLanesWhateverWasAccessedBefore) {
  std::mt19937 engine(20);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  Access access;
  for (int round = 0; round < 20000; ++round) {
    switch (random() % 8) {
      case 0: {
        const std::uint32_t step = random() % 3 == 0 ? random() % 16 : random() % 16 * 4;
        const std::uint32_t first = random() % 2 == 0 ? random() % 256 : 0 - random() % 256;
        const std::uint32_t group = 1U << random() % 6;
        for (std::uint32_t lane = 0; lane < 64; ++lane) {
          access.address[lane] = first + lane / group * step * 2 * group + lane % group * step;
        }
        break;
      }
      case 1: access.address[random() % 64] += random() % 512; break;
      case 2: access.exec = random() % 2 == 0 ? ~std::uint64_t{0} : access.exec << 1; break;
      case 3: access.exec = std::uint64_t{random()} << 32 | random(); break;
      case 4: access.offset = random() % 2 == 0 ? random() % 64 * 4 : random() % 512; break;
      default: {
        const std::uint32_t by = random() % 4 == 0 ? random() % 1024 : random() % 256 * 4;
        const bool back = random() % 2 == 0;
        for (auto& address : access.address) address += back ? 0 - by : by;
        break;
      }
    }
    expect_found(access, random() % 2);
    if (HasFatalFailure()) FAIL() << "in round " << round;
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
