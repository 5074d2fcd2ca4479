// Coherent L1s: what stays in a core, what crosses the network, and that programs compute the same.
#include <gtest/gtest.h>

#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu {
namespace {

using test::TestGpu;

std::unique_ptr<TestGpu> coherent_gpu(const std::string& policy,
                                      const std::string& network = "mesh", unsigned threads = 1) {
  TimingConfig config = default_timing(test::load_chip("dapper").architecture(), network);
  config.l1_policy = policy;
  return std::make_unique<TestGpu>(
      Options{.threads = threads, .timing = std::make_shared<const TimingConfig>(config)}, false,
      "dapper");
}

const TimingStats& last_launch(TestGpu& test) {
  return test.gpu().timing_report()->dispatches.back().stats;
}

// y += 2 x over one work-group's worth of data, three times.
TEST(CoherentL1, KeepsLinesOverLaunchesAndStoresInThem) {
  constexpr std::uint32_t kItems = 1024;
  for (const char* policy : {"launch", "coherent"}) {
    auto test = coherent_gpu(policy);
    const auto x = test->buffer(std::vector<float>(kItems, 1.0F));
    const auto y = test->buffer(std::vector<float>(kItems, 0.5F));
    for (int launch = 0; launch < 3; ++launch)
      test->launch("saxpy", kItems, kItems / 4, y, x, 2.0F);
    EXPECT_EQ(test->read<float>(y, kItems), std::vector<float>(kItems, 6.5F)) << policy;
    const TimingStats stats = last_launch(*test);
    if (std::string(policy) == "launch") {
      EXPECT_GT(stats.read_requests.packets, 0U);
      EXPECT_GT(stats.write_requests.packets, 0U);
      EXPECT_EQ(stats.l1_stores, 0U);
    } else {
      EXPECT_EQ(stats.read_requests.packets, 0U);  // everything fits and nobody else asks
      EXPECT_EQ(stats.write_requests.packets, 0U);
      EXPECT_EQ(stats.l1_stores, kItems / 16);  // a store a line
    }
  }
}

// One core reads what another wrote: the line is recalled. A line that others have read is
// invalidated when it is written.
TEST(CoherentL1, RecallsWhatAnotherOwnsAndInvalidatesWhatOthersHave) {
  constexpr std::uint32_t kItems = 256;
  auto test = coherent_gpu("coherent");
  const auto y = test->buffer(std::vector<float>(16 * kItems, 1.0F));
  const auto x = test->buffer(std::vector<float>(16 * kItems, 1.0F));
  test->launch("saxpy", 16 * kItems, 64, y, x, 1.0F);   // y is spread over all cores' L1s
  test->launch("saxpy", 16 * kItems, 64, x, y, 1.0F);   // and read where it was written
  test->launch("saxpy", 16 * kItems, 256, y, x, 1.0F);  // other groups, other cores
  const TimingStats& stats = last_launch(*test);
  EXPECT_GT(stats.recalls.packets, 0U);
  EXPECT_EQ(test->read<float>(y, 16 * kItems), std::vector<float>(16 * kItems, 5.0F));
  EXPECT_GT(test->gpu().timing_report()->total.invalidations.packets, 0U);
}

// The simulation proceeds in quanta of fill_cycles. With quanta of one cycle each step of a recall
// is the last of its quantum, and nothing else is under way.
TEST(CoherentL1, RecallsALineWhenNothingElseIsUnderWay) {
  constexpr std::uint32_t kItems = 128;
  TimingConfig config = default_timing(test::load_chip("dapper").architecture(), "mesh");
  config.l1_policy = "coherent";
  config.fill_cycles = 1;
  TestGpu test(Options{.threads = 1, .timing = std::make_shared<const TimingConfig>(config)}, false,
               "dapper");
  const auto x = test.buffer(std::vector<float>(kItems, 1.0F));
  const auto y = test.buffer(std::vector<float>(kItems, 1.0F));
  test.launch("saxpy", kItems, kItems / 2, y, x, 1.0F);  // two cores own a half of y each
  test.launch("saxpy", kItems, kItems, y, x, 1.0F);      // one core reads all of it
  EXPECT_GT(last_launch(test).recalls.packets, 0U);
  EXPECT_EQ(test.read<float>(y, kItems), std::vector<float>(kItems, 3.0F));
}

TEST(CoherentL1, WritesBackWhatItThrowsOut) {
  constexpr std::uint32_t kFew = 1024;
  constexpr std::uint32_t kMany = 1U << 17;  // 512 KiB: 12 L1s of 16 KiB have less
  auto test = coherent_gpu("coherent");
  const auto x = test->buffer(std::vector<float>(kMany, 1.0F));
  const auto y = test->buffer(std::vector<float>(kMany, 1.0F));
  const auto few = test->buffer(std::vector<float>(kFew, 1.0F));
  test->launch("saxpy", kFew, 256, few, x, 2.0F);  // through the slices
  EXPECT_EQ(last_launch(*test).write_backs.packets, 0U);
  test->launch("saxpy", kFew, 256, few, x, 2.0F);  // in the L1s alone
  test->launch("saxpy", kMany, 256, y, x, 2.0F);
  EXPECT_EQ(last_launch(*test).write_backs.packets, kFew / 16);
  EXPECT_EQ(test->read<float>(few, kFew), std::vector<float>(kFew, 5.0F));
}

TEST(CoherentL1, ComputesWhatOthersComputeOnEveryNetwork) {
  std::vector<std::uint32_t> words(1U << 14);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U >> 7;
  const auto results = [&](const std::string& policy, const std::string& network,
                           unsigned threads) {
    auto test = coherent_gpu(policy, network, threads);
    const auto data = test->buffer(words);
    const auto bins = test->buffer(std::vector<std::uint32_t>(64, 0));
    const auto x = test->buffer(std::vector<float>(4096, 1.0F));
    const auto y = test->buffer(std::vector<float>(4096, 1.0F));
    for (int launch = 0; launch < 3; ++launch) {
      test->launch("histogram", 4096, 256, data, bins, static_cast<std::uint32_t>(words.size()));
      test->launch("saxpy", 4096, 64U << launch, y, x, 2.0F);
      test->launch("saxpy", 4096, 256, x, y, 1.0F);
    }
    auto all = test->read<std::uint32_t>(bins, 64);
    const auto floats = test->read<std::uint32_t>(y, 4096);
    all.insert(all.end(), floats.begin(), floats.end());
    return all;
  };
  const auto plain = results("launch", "mesh", 1);
  for (const char* network : {"mesh", "ideal", "mesh-bufferless"}) {
    EXPECT_EQ(results("coherent", network, 1), plain) << network;
  }
  EXPECT_EQ(results("coherent", "mesh", 2), plain);
}

TEST(CoherentL1, NeedsLinesOfTheL2) {
  TimingConfig config = default_timing(test::load_chip("dapper").architecture());
  config.l1_policy = "coherent";
  EXPECT_TRUE(validate(config));
  config.line_bytes = 128;
  EXPECT_EQ(validate(config).error().context, "l1_policy");
}

}  // namespace
}  // namespace ww::sim::gpu
