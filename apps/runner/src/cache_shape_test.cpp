#include "ww/runner/cache_shape.hpp"

#include <gtest/gtest.h>

namespace ww::runner {
namespace {

// Figures of AMD's white papers, as the chips' files state them: an XCD of MI300X and a W9100.
TEST(CacheShape, IsThatOfTheVirtualChipThatMadeTheTrace) {
  const auto xcd = cache_shape("virtual:mi300x_cpx");
  EXPECT_EQ(xcd.l1_bytes, 32 << 10);
  EXPECT_EQ(xcd.l1_ways, 4);
  EXPECT_EQ(xcd.l1_line_bytes, 128);
  EXPECT_EQ(xcd.l2_bytes, 4 << 20);
  EXPECT_EQ(xcd.l2_ways, 16);
  EXPECT_EQ(xcd.l2_line_bytes, 128);
  EXPECT_EQ(xcd.engines, 4);
  EXPECT_EQ(xcd.cus_per_engine, 10);
  EXPECT_EQ(xcd.channels, 16);
  EXPECT_EQ(xcd.interleave_bytes, 256);
  const auto mi210 = cache_shape("virtual:mi210");
  EXPECT_EQ(mi210.engines, 8);
  EXPECT_EQ(mi210.channels, 32);
  EXPECT_EQ(mi210.l2_bytes, 8 << 20);
}

TEST(CacheShape, IsTheW9100sWhereNoBuiltInChipMadeTheTrace) {
  for (const char* producer : {"virtual:w9100", "Accel-Sim", "hip:0", "virtual:no such chip", ""}) {
    const auto shape = cache_shape(producer);
    EXPECT_EQ(shape.l1_bytes, 16 << 10) << producer;
    EXPECT_EQ(shape.l1_line_bytes, 64) << producer;
    EXPECT_EQ(shape.l2_bytes, 1 << 20) << producer;
    EXPECT_EQ(shape.l2_ways, 16) << producer;
    EXPECT_EQ(shape.cus_per_engine, 11) << producer;
  }
}

}  // namespace
}  // namespace ww::runner
