#include "ww/measure/recorded/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

constexpr int kMilliseconds = 17'000;

double power_w(int ms) {
  return ms / 1730 % 2 == 0 ? 150 : 400;
}

// A register that follows power with a time constant, polled every 8 ms.
PollColumn lagging(const std::string& name, double lag_ms, double times = 1) {
  PollColumn column{name, {}};
  double shown = 150;
  for (int ms = 0; ms < kMilliseconds; ++ms) {
    shown += (power_w(ms) - shown) / lag_ms;
    if (ms % 8 == 0) column.polls.push_back({ms * 1e-3, times * (shown + 0.01 * (ms % 16))});
  }
  return column;
}

EnergyColumn counted(const std::string& name, int every_ms, double gain = 1, double offset_w = 0) {
  EnergyColumn column{name, {}};
  double joules = 7;
  for (int ms = 0; ms < kMilliseconds; ++ms) {
    joules += (gain * power_w(ms) + offset_w) * 1e-3;
    if (ms % every_ms == 0) column.polls.push_back({ms * 1e-3, joules});
  }
  return column;
}

SensorRecording recording_of(std::vector<PollColumn> columns, std::vector<EnergyColumn> counters) {
  SensorRecording recording;
  recording.columns = std::move(columns);
  recording.counters = std::move(counters);
  return recording;
}

TEST(RecordingCheck, ComparesARegisterWithTheCounterBesideIt) {
  const auto checked =
      check_recording(recording_of({lagging("power_w", 100)}, {counted("energy_j", 4)}), "file");
  ASSERT_TRUE(checked);
  const RegisterCheck& check = checked->registers.at(0);
  EXPECT_EQ(check.truth, "energy_j");
  EXPECT_EQ(check.counter, "energy_j");
  EXPECT_EQ(check.response.kind, ResponseKind::lag);
  EXPECT_NEAR(check.response.time_s, 0.1, 0.01);
  EXPECT_EQ(check.verdict(), Verdict::good);
  const double joules = checked->counters.at(0).energy.energy_j;
  EXPECT_NEAR(check.energy.energy_j, joules, 1e-3 * joules);
}

TEST(RecordingCheck, CorrectsTheUnitOfARegisterByItsCounter) {
  const auto checked = check_recording(
      recording_of({lagging("power_w", 100, 1000)}, {counted("energy_j", 4)}), "file");
  ASSERT_TRUE(checked);
  const RegisterCheck& check = checked->registers.at(0);
  EXPECT_THAT(check.unit.text, HasSubstr("taken in mW, not in W"));
  EXPECT_NEAR(check.energy.power_w, checked->counters.at(0).energy.power_w, 5);
}

TEST(RecordingCheck, PrefersTheCounterToAMeterThatIsReadMoreSeldom) {
  for (const auto& [every_ms, truth] : {std::pair{100, "energy_j"}, std::pair{2, "outlet"}}) {
    auto recording = recording_of({lagging("power_w", 100)}, {counted("energy_j", 4)});
    const auto meter = recording_of({}, {counted("outlet", every_ms, 1.03, 9)});
    ASSERT_TRUE(add_meter(recording, meter, "", "outlet.csv"));
    const auto checked = check_recording(recording, "file");
    ASSERT_TRUE(checked);
    EXPECT_EQ(checked->registers.at(0).truth, truth) << every_ms;
    const auto& gain = checked->counters.at(0).gain;
    ASSERT_TRUE(gain && gain->slope);
    EXPECT_NEAR(*gain->slope, 1.03, 0.01);
    EXPECT_NEAR(*gain->offset_w, 9, 3);
  }
}

TEST(RecordingCheck, LimitsARegisterThatIsSlowOrWhoseResponseIsUnknown) {
  const auto slow =
      check_recording(recording_of({lagging("power_w", 800)}, {counted("energy_j", 4)}), "file");
  ASSERT_TRUE(slow);
  EXPECT_GT(slow->registers.at(0).response.time_s, 0.5);
  EXPECT_EQ(slow->registers.at(0).verdict(), Verdict::limited);
  const auto alone = check_recording(recording_of({lagging("power_w", 800)}, {}), "file");
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->registers.at(0).truth, "nothing");
  EXPECT_EQ(alone->registers.at(0).response.kind, ResponseKind::not_resolved);
  EXPECT_EQ(alone->registers.at(0).verdict(), Verdict::limited);
}

TEST(RecordingCheck, LimitsARegisterThatSeesPartOfTheTime) {
  RegisterCheck check;
  check.period.resolved = true;
  check.period.period_s = 0.1;
  check.response.kind = ResponseKind::window;
  check.response.time_s = 0.1;
  EXPECT_EQ(check.verdict(), Verdict::good);
  check.response.time_s = 0.025;
  EXPECT_EQ(check.verdict(), Verdict::limited);
}

TEST(RecordingCheck, FindsACounterThatCountsNothing) {
  EnergyColumn dead = counted("dead_j", 4);
  for (auto& poll : dead.polls) poll.energy_j = 0;
  const auto checked = check_recording(recording_of({}, {dead}), "file");
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->counters.at(0).verdict(), Verdict::bad);
  EXPECT_THAT(checked->counters.at(0).energy.reason, HasSubstr("reads 0 throughout"));
}

TEST(RecordingCheck, NeedsAColumnWithAReading) {
  const auto checked = check_recording(recording_of({{"power_w", {}}}, {{"energy_j", {}}}), "file");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::bad_data);
  EXPECT_EQ(checked.error().context, "file");
}

TEST(AddMeter, TakesTheNamedColumnAndAlignsTheClocks) {
  auto recording = recording_of({lagging("power_w", 100)}, {});
  recording.zero_s = 500;
  auto meter = recording_of({{"input_w", lagging("input_w", 1).polls}},
                            {counted("node_j", 100), counted("card_j", 100)});
  meter.zero_s = 498;
  const auto several = add_meter(recording, meter, "", "meter.csv");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().message,
              HasSubstr("node_j, card_j: name one, as in meter.csv:node_j"));
  const auto none = add_meter(recording, meter, "other_j", "meter.csv");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context, "meter.csv:other_j");
  ASSERT_TRUE(add_meter(recording, meter, "card_j", "meter.csv"));
  EXPECT_EQ(recording.meter_name, "card_j");
  EXPECT_NEAR(recording.meter.start_s, -2, 0.2);
  // Watts are taken where no joules have the name.
  ASSERT_TRUE(add_meter(recording, meter, "input_w", "meter.csv"));
  EXPECT_EQ(recording.meter_name, "input_w");
}

TEST(ParseRecordedPower, RecognisesTheFormByItsHeading) {
  const auto table = parse_recorded_power("time_s,power_w\n5,100\n6,110\n", "a.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns.at(0).polls.at(1).time_s, 1);
  const auto polls = parse_recorded_power(
      "timestamp, power.draw [W]\n2026/01/01 00:00:00.000, 100.00 W\n"
      "2026/01/01 00:00:00.500, 110.00 W\n",
      "b.csv");
  ASSERT_TRUE(polls) << polls.error().text();
  EXPECT_EQ(polls->columns.at(0).polls.at(0).time_s, 0);
  EXPECT_NEAR(polls->columns.at(0).polls.at(1).time_s, 0.5, 1e-6);
  EXPECT_GT(polls->zero_s, 1e9);
  const auto neither = parse_recorded_power("a,b\n1,2\n", "c.csv");
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().text(), HasSubstr("time_s"));
}

}  // namespace
}  // namespace ww::measure
