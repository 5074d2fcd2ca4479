#include "ww/energy/rail_power.hpp"

#include <gtest/gtest.h>

namespace ww::energy {
namespace {

StoredRun run_with(const std::vector<std::int64_t>& values) {
  StoredRun run;
  run.start_ns = 1'000'000'000;
  run.end_ns = 2'000'000'000;
  std::int64_t at = 1'000'000'000;
  for (const std::int64_t value : values) {
    run.rails.push_back({at, at - 500'000'000, "aid_energy", "2^-16 J", value});
    run.rails.push_back({at, at - 500'000'000, "hbm_energy", "2^-16 J", 7});
    at += 100'000'000;
  }
  return run;
}

TEST(RailPower, IsTheEnergyBetweenTheFirstAndTheLastReadingAfterSettling) {
  const StoredRun run = run_with({0, 900'000, 1'000'000, 1'065'536, 1'131'072});
  EXPECT_DOUBLE_EQ(rail_power(run, "aid_energy", 0.15).value(), 10);  // 2 J in 0.2 s
  EXPECT_FALSE(rail_power(run, "aid_energy", 0.35));                  // one reading
  EXPECT_FALSE(rail_power(run, "xcd_energy", 0));
}

TEST(RailPower, IsAbsentWhereTheAccumulatorStandsStillOrRunsBackward) {
  EXPECT_FALSE(rail_power(run_with({1, 2, 3, 4}), "hbm_energy", 0));
  EXPECT_FALSE(rail_power(run_with({1, 200, 100, 300}), "aid_energy", 0));
  EXPECT_FALSE(rail_power(run_with({1, 200, 200, 200, 200}), "aid_energy", 0));
}

}  // namespace
}  // namespace ww::energy
