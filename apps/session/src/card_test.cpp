#include "ww/session/card.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

TEST(BusyShare, IsWhatTheDriverTells) {
  const auto folder = ScratchFolder::create("card");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto busy = folder->path() / "gpu_busy_percent";
  measure::TelemetryGpu gpu;
  EXPECT_FALSE(busy_share(gpu).has_value());
  gpu.amd.emplace();
  gpu.amd->folder = folder->path();
  EXPECT_FALSE(busy_share(gpu).has_value());
  std::ofstream(busy) << "37\n";
  EXPECT_DOUBLE_EQ(busy_share(gpu).value(), 0.37);
  std::ofstream(busy) << "no number\n";
  EXPECT_FALSE(busy_share(gpu).has_value());
}

TEST(AtShare, ScalesWattsAndLeavesWhatHasNoFigure) {
  model::KernelEstimate estimate;
  estimate.segments[1].power_w = {4, 3, 5};
  estimate.segments[1].energy_j = {8, 6, 10};
  estimate.segments[2].upper_w = 2;
  estimate.power_w = {4, 3, 5};
  const auto half = at_share(estimate, 0.5);
  EXPECT_DOUBLE_EQ(half.segments[1].power_w->value, 2);
  EXPECT_DOUBLE_EQ(half.segments[1].power_w->high, 2.5);
  EXPECT_DOUBLE_EQ(half.segments[1].energy_j->value, 8);
  EXPECT_DOUBLE_EQ(half.segments[2].upper_w.value(), 1);
  EXPECT_FALSE(half.segments[0].power_w.has_value());
  EXPECT_DOUBLE_EQ(half.power_w->low, 1.5);
}

}  // namespace
}  // namespace ww::session
