// Timing mode on networks that approximate data: what reaches the program, and what replies carry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/timing/timed_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::gpu {
namespace {

using test::dapper_system;
using test::gpu_with;
using test::kStride;
using test::last;
using test::ring;
using test::TestGpu;

// saxpy over values that differ by up to 4%, all declared approximable.
struct Approximated {
  std::vector<float> results;
  TimingStats stats;
};
Approximated run_saxpy(const std::string& network, double threshold,
                       const std::string& reply_data = "line") {
  constexpr std::uint32_t kItems = 1U << 16;
  TimingConfig config = default_timing(test::load_chip("dapper").architecture(), network);
  config.reply_data = reply_data;
  auto test = gpu_with(config);
  std::vector<float> x(kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    x[i] = 100.0F + static_cast<float>(i * 2654435761U % 1000) * 0.004F;
  }
  const auto in = test->buffer(x);
  const auto out = test->buffer(std::vector<float>(kItems));
  const auto said =
      test->gpu().annotate(in, kItems * 4, net::WordType::float32, static_cast<float>(threshold));
  EXPECT_TRUE(said) << said.error().text();
  test->launch("saxpy", kItems, 256, out, in, 2.0F);
  return {test->read<float>(out, kItems), last(*test)};
}

TEST(Approximation, WithThresholdZeroOrOnAnExactNetworkChangesNothing) {
  const Approximated exact = run_saxpy("mesh", 0.1);
  EXPECT_GT(exact.stats.approximable_replies, 0U);
  EXPECT_EQ(exact.stats.changed_replies, 0U);
  for (const char* network : {"dapper", "approx-noc"}) {
    const Approximated same = run_saxpy(network, 0);
    EXPECT_EQ(same.results, exact.results) << network;
    EXPECT_EQ(same.stats.changed_replies, 0U) << network;
  }
}

TEST(Approximation, ReachesTheProgramAndStaysWithinItsThreshold) {
  constexpr double kThreshold = 0.1;
  const Approximated exact = run_saxpy("mesh", kThreshold);
  for (const char* network : {"dapper", "approx-noc"}) {
    const Approximated changed = run_saxpy(network, kThreshold);
    EXPECT_GT(changed.stats.changed_replies, 0U) << network;
    EXPECT_NE(changed.results, exact.results) << network;
    for (std::size_t i = 0; i < exact.results.size(); ++i) {
      // Approx-NoC's shifted range reaches 1/8 for 10%.
      ASSERT_NEAR(changed.results[i], exact.results[i], 0.126 * exact.results[i]) << network;
    }
  }
}

TEST(Approximation, OfPointersIsWarnedAboutAndOfDataIsNot) {
  auto test = gpu_with(dapper_system());
  const auto data = test->buffer(ring(64));
  const auto out = test->buffer(4);
  ASSERT_TRUE(test->gpu().annotate(data, 64 * kStride * 4, net::WordType::int32, 0.1F));
  test->launch("chase", 1, 1, data, out, 10U);
  const auto& warnings = test->gpu().timing_report()->warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], testing::HasSubstr("chase"));
  test->launch("chase", 1, 1, data, out, 10U);
  EXPECT_EQ(warnings.size(), 1U);  // once
  const auto x = test->buffer(std::vector<float>(1024, 1.0F));
  const auto y = test->buffer(std::vector<float>(1024, 1.0F));
  ASSERT_TRUE(test->gpu().annotate(x, 4096, net::WordType::float32, 0.1F));
  test->launch("saxpy", 1024, 64, y, x, 3.0F);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(Approximation, EndsWithItsBuffer) {
  auto test = gpu_with(dapper_system());
  const auto x = test->buffer(std::vector<float>(1024, 1.0F));
  ASSERT_TRUE(test->gpu().annotate(x, 4096, net::WordType::float32, 0.1F));
  EXPECT_FALSE(test->gpu().annotate(x, 1 << 20, net::WordType::float32, 0.1F));
  ASSERT_TRUE(test->gpu().release(x));
  const auto again = test->buffer(std::vector<float>(1024, 1.0F));
  EXPECT_EQ(again, x);
  const auto y = test->buffer(std::vector<float>(1024, 1.0F));
  test->launch("saxpy", 1024, 64, y, again, 3.0F);
  EXPECT_EQ(last(*test).approximable_replies, 0U);
}

// A datum of 64 bits behind a header of as many is one flit of 128 bits.
TEST(ReplyData, MakesPacketsOfADatumEach) {
  const Approximated line = run_saxpy("mesh", 0);
  const Approximated each = run_saxpy("mesh", 0, "each");
  const Approximated first = run_saxpy("mesh", 0, "first");
  EXPECT_EQ(line.stats.read_replies.flits, 5 * line.stats.read_replies.packets);
  EXPECT_EQ(each.stats.read_replies.packets, 8 * line.stats.read_replies.packets);
  EXPECT_EQ(each.stats.read_replies.flits, each.stats.read_replies.packets);
  EXPECT_EQ(first.stats.read_replies.packets, line.stats.read_replies.packets);
  EXPECT_EQ(first.stats.read_replies.flits, first.stats.read_replies.packets);
  EXPECT_EQ(each.results, line.results);
  EXPECT_EQ(first.results, line.results);
  EXPECT_GT(each.stats.cycles, line.stats.cycles);
  EXPECT_LT(first.stats.cycles, line.stats.cycles);
}

// Two numbers agree more often than sixteen, and what arrives in their place is close to them.
TEST(ReplyData, IsComparedDatumByDatum) {
  constexpr double kThreshold = 0.01;
  const Approximated exact = run_saxpy("mesh", kThreshold);
  const Approximated line = run_saxpy("dapper", kThreshold);
  const Approximated each = run_saxpy("dapper", kThreshold, "each");
  const auto changed = [](const Approximated& run) {
    return static_cast<double>(run.stats.changed_replies) /
           static_cast<double>(run.stats.read_replies.packets);
  };
  EXPECT_GT(changed(each), changed(line));
  for (std::size_t i = 0; i < exact.results.size(); ++i) {
    ASSERT_NEAR(each.results[i], exact.results[i], 0.011 * exact.results[i]);
  }
}

TEST(ReplyData, NeedsLinesOfTheL2) {
  TimingConfig config = dapper_system();
  config.reply_data = "each";
  EXPECT_TRUE(validate(config));
  config.line_bytes = 128;
  EXPECT_EQ(validate(config).error().context, "reply_data");
  config.reply_data = "half";
  config.line_bytes = 64;
  EXPECT_EQ(validate(config).error().context, "reply_data");
}

}  // namespace
}  // namespace ww::sim::gpu
