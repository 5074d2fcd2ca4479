// Banks and open rows: what a command costs follows from the timings.
#include "machine/timing/dram.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu::timing {
namespace {

std::vector<std::int64_t> cycles_of(const DramConfig& config,
                                    const std::vector<Dram::Command>& commands) {
  Dram dram(config);
  for (const auto& command : commands) dram.push(command);
  dram.run(100000);
  std::vector<std::int64_t> cycles(commands.size(), -1);
  for (const auto& done : dram.done()) cycles[done.tag] = done.cycle;
  return cycles;
}

constexpr std::uint32_t kLinesPerRow = 2048 / 64;

TEST(Dram, FirstReadOpensItsRow) {
  const DramConfig c;
  EXPECT_EQ(cycles_of(c, {{0, 0, false}}).at(0), c.rcd + c.cl + c.burst);
}

TEST(Dram, ReadsOfAnOpenRowFollowEachOtherOnTheBus) {
  const DramConfig c;
  const auto done = cycles_of(c, {{0, 0, false}, {1, 1, false}, {2, 2, false}});
  EXPECT_EQ(done[1], done[0] + c.burst);
  EXPECT_EQ(done[2], done[1] + c.burst);
}

TEST(Dram, AnotherRowOfTheBankWaitsForTheCycleOfRows) {
  const DramConfig c;
  const std::uint32_t other_row = kLinesPerRow * static_cast<std::uint32_t>(c.banks);
  const auto done = cycles_of(c, {{0, 0, false}, {other_row, 1, false}});
  EXPECT_EQ(done[1], c.rc + c.rcd + c.cl + c.burst);
}

TEST(Dram, AnotherBankOpensItsRowMeanwhile) {
  const DramConfig c;
  const auto done = cycles_of(c, {{0, 0, false}, {kLinesPerRow, 1, false}});
  EXPECT_EQ(done[1], c.rrd + c.rcd + c.cl + c.burst);
}

TEST(Dram, HitsGoBeforeOlderMisses) {
  const DramConfig c;
  const std::uint32_t other_row = kLinesPerRow * static_cast<std::uint32_t>(c.banks);
  const auto done = cycles_of(c, {{0, 0, false}, {other_row, 1, false}, {1, 2, false}});
  EXPECT_EQ(done[2], done[0] + c.burst);
  EXPECT_GT(done[1], done[2]);
}

TEST(Dram, AReadAfterAWriteWaitsForTheBusToTurn) {
  const DramConfig c;
  const auto done = cycles_of(c, {{0, 0, true}, {1, 1, false}});
  const int written = c.rcd + c.wl + c.burst;
  EXPECT_EQ(done[1], written + c.cdlr + c.cl + c.burst);
}

TEST(Dram, CountsWhatFoundItsRowOpen) {
  Dram dram(DramConfig{});
  for (std::uint32_t i = 0; i < 10; ++i) dram.push({i, i, false});
  dram.run(1000);
  EXPECT_EQ(dram.reads(), 10U);
  EXPECT_EQ(dram.row_hits(), 9U);
  EXPECT_TRUE(dram.has_room(DramConfig{}.queue));
}

// Runs in small steps and in one give the same.
TEST(Dram, DoesNotDependOnHowFarItRunsAtATime) {
  std::vector<Dram::Command> commands;
  for (std::uint32_t i = 0; i < 30; ++i)
    commands.push_back({i * 2654435761U % 4096, i, i % 3 == 0});
  const auto whole = cycles_of(DramConfig{}, commands);
  Dram dram(DramConfig{});
  for (const auto& command : commands) dram.push(command);
  for (std::int64_t cycle = 1; cycle < 3000; cycle += 7) dram.run(cycle);
  for (const auto& done : dram.done()) EXPECT_EQ(done.cycle, whole[done.tag]);
}

}  // namespace
}  // namespace ww::sim::gpu::timing
