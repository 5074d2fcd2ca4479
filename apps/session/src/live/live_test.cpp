#include "ww/session/live.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ww::session {
namespace {

using testing::HasSubstr;

class Live : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(file_); }
  void TearDown() override { std::filesystem::remove(file_); }
  void append(const std::string& text) {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                ("ww_live_" + std::to_string(::getpid()) +
                                 testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Live, GivesEachLineOnceAndWaitsForTheEndOfALine) {
  LiveFeed feed(file_);
  EXPECT_TRUE(feed.poll()->dispatches.empty());  // not there yet
  append("wirewatt-live/1 77\ncounters TCC_HIT_sum TCC_MISS_sum\ndispatch 0 100 300 5 7 my ker");
  EXPECT_TRUE(feed.poll()->dispatches.empty());
  append("nel\nsample 400 85000000 12 41000\n");
  const auto news = feed.poll();
  ASSERT_TRUE(news);
  ASSERT_EQ(news->dispatches.size(), 1U);
  EXPECT_EQ(news->dispatches[0].kernel, "my kernel");
  EXPECT_EQ(news->dispatches[0].duration_ns, 200);
  EXPECT_EQ(news->dispatches[0].start_ns, 100);
  EXPECT_EQ(news->dispatches[0].process, "77");
  EXPECT_EQ(news->dispatches[0].counters.at("TCC_MISS_sum"), 7);
  ASSERT_EQ(news->samples.size(), 1U);
  EXPECT_EQ(news->samples[0].power_w, 85);
  EXPECT_EQ(news->samples[0].energy_ticks, 12);
  EXPECT_EQ(news->samples[0].temperature_c, 41);
  EXPECT_FALSE(news->samples[0].clock_mhz);
  EXPECT_TRUE(feed.poll()->dispatches.empty());
}

TEST_F(Live, ReadsTheClockWhereTheDriverWritesIt) {
  append("wirewatt-live/1 77\nsample 400 85000000 -1 41000 930000\n");
  const auto news = LiveFeed(file_).poll();
  ASSERT_TRUE(news) << news.error().text();
  ASSERT_EQ(news->samples.size(), 1U);
  EXPECT_EQ(news->samples[0].clock_mhz, 930);
  EXPECT_FALSE(news->samples[0].energy_ticks);  // the sensor does not count energy
  append("sample 400 85000000 12 41000 fast\n");
  EXPECT_THAT(LiveFeed(file_).poll().error().text(), HasSubstr(":3"));
}

TEST_F(Live, RefusesOtherFilesAndDamagedLinesByLine) {
  append("something else\n");
  EXPECT_THAT(LiveFeed(file_).poll().error().text(), HasSubstr(":1"));
  std::filesystem::remove(file_);
  append("wirewatt-live/1 77\ncounters A\ndispatch 0 100 300 x k\n");
  EXPECT_THAT(LiveFeed(file_).poll().error().text(), HasSubstr(":3"));
}

TEST_F(Live, PowerIsEnergyOverTheKernelsTime) {
  model::WireModel model;
  model.random = {100, 90, 110};
  model.reference_voltage_v = 1;
  model.distance_mm = {std::nullopt, model::Interval{10, 10, 10}, std::nullopt};
  append(
      "wirewatt-live/1 77\ncounters TCC_HIT_sum TCC_MISS_sum\n"
      "dispatch 0 0 1000 1000 0 a\ndispatch 1 1000 2000 1000 0 a\n");
  LiveFeed feed(file_);
  const auto news = feed.poll();
  ASSERT_TRUE(news) << news.error().text();
  const auto power = live_power(*news, model, "gfx701");
  ASSERT_TRUE(power) << power.error().text();
  ASSERT_TRUE(*power);
  const auto& segment = (*power)->estimate.total.segments[1];
  // 2000 lines of 64 bytes in 2 us, at the assumed toggles a bit.
  const double rate = model::equivalent_rate(model::unknown_data(), model.coupling_share).value;
  EXPECT_NEAR(segment.power_w->value, 2000 * 64 * 8 * 10 * 100e-15 * rate / 0.5 / 2e-6, 1e-6);
  EXPECT_FALSE(*live_power(LiveNews{}, model, "gfx701"));
}

}  // namespace
}  // namespace ww::session
