#include "ww/measure/sensor_recording.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

const std::string head = "timestamp, pstate, power.draw [W], power.draw.instant [W]\n";

TEST(Polls, HaveSpacesUnitsAndReadingsThatAreNotAvailable) {
  const auto columns = parse_polls(head +
                                       "2023/07/14 10:12:46.483, P0, 56.12, [N/A]\n"
                                       "2023/07/14 10:12:46.499, P0, 57.00 W, 60.5\n"
                                       "2023/07/14 10:12",
                                   "a");
  ASSERT_TRUE(columns) << columns.error().text();
  ASSERT_EQ(columns->size(), 2u);
  EXPECT_EQ((*columns)[1].name, "power.draw.instant");
  ASSERT_EQ((*columns)[0].polls.size(), 2u);
  EXPECT_NEAR((*columns)[0].polls[0].time_s, 1689329566.483, 1e-4);
  EXPECT_EQ((*columns)[0].polls[1].power_w, 57.0);
  EXPECT_EQ((*columns)[1].polls.size(), 1u);
}

TEST(Polls, LeaveOutALastReadingThatMayBeCut) {
  const auto columns = parse_polls(head +
                                       "2023/07/14 10:12:46.483, P0, 56.12, 56.12\n"
                                       "2023/07/14 10:12:46.499, P0, 57.00, 5",
                                   "a");
  ASSERT_TRUE(columns) << columns.error().text();
  EXPECT_EQ((*columns)[1].polls.size(), 1u);
}

TEST(Polls, NameTheLineThatIsWrong) {
  const auto cut =
      parse_polls(head + "2023/07/14 10:12:46.483, P0\n2023/07/14 10:12:46.5, P0, 1, 1\n", "a");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().context, "a:2");
  const auto back = parse_polls(
      head + "2023/07/14 10:12:46.483, P0, 1, 1\n2023/07/14 10:12:46.400, P0, 1, 1\n", "a");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().context, "a:3");
  EXPECT_FALSE(parse_polls(head + "2023/13/14 10:12:46.483, P0, 1, 1\n", "a"));
  EXPECT_FALSE(parse_polls("timestamp, power.limit [W]\n", "a"));
  EXPECT_FALSE(parse_polls("", "a"));
}

// Two cards, 118 W and 32 W, whose rows come as `time` says.
Result<std::vector<PollColumn>> two_cards(const std::function<double(int)>& time,
                                          const std::string& columns = "",
                                          const std::function<std::string(int)>& named = {}) {
  std::string text = "timestamp, power.draw [W]" + columns + "\n";
  for (int i = 0; i < 60; ++i) {
    const double watts = (i % 2 == 0 ? 118 : 32) + 0.1 * (i % 7);
    text += fmt::format("2026/03/27 11:04:{:06.3f}, {:.2f}{}\n", time(i), watts,
                        named ? ", " + named(i) : "");
  }
  return parse_polls(text, "a");
}

TEST(Polls, TakenInTurnOfTwoDevicesAreRefused) {
  const auto in_pairs = two_cards([](int i) { return (i - i % 2) * 0.25 + i % 2 * 0.004; });
  ASSERT_FALSE(in_pairs);
  EXPECT_THAT(in_pairs.error().message, HasSubstr("polls of several devices"));
  EXPECT_THAT(in_pairs.error().message, HasSubstr("groups of 2"));
  const auto in_turn = two_cards([](int i) { return i * 0.25; });
  ASSERT_FALSE(in_turn);
  EXPECT_THAT(in_turn.error().message, HasSubstr("2 values in turn"));
  const auto at_once = two_cards([](int i) { return (i - i % 2) * 0.25; });
  ASSERT_FALSE(at_once);
  EXPECT_THAT(at_once.error().message, HasSubstr("time of the poll before"));
  for (const char* column : {", name", ", pci.bus", ", serial", ", gpu_name"}) {
    const auto named = two_cards([](int i) { return i * 0.25; }, column,
                                 [](int i) { return i % 2 == 0 ? "A100" : "T4"; });
    ASSERT_FALSE(named);
    EXPECT_THAT(named.error().message, HasSubstr("'A100' and 'T4'")) << column;
    EXPECT_EQ(named.error().context, "a:3");
  }
}

TEST(Polls, OfOneDeviceInGroupsOrUnderASwitchedLoadAreTaken) {
  std::string pairs = "time_s,power_w\n", switched = pairs;
  for (int i = 0; i < 200; ++i) {
    const double paired = (i - i % 2) * 0.25 + i % 2 * 0.004;
    pairs += fmt::format("{},{}\n", paired, i / 2 % 3 == 0 ? 118 : 32);
    // The load is on and off every two polls, after an idle beginning.
    switched += fmt::format("{},{}\n", i * 0.01, i > 20 && i % 4 < 2 ? 118 : 32);
  }
  for (const auto& table : {pairs, switched}) {
    const auto taken = parse_power_table(table, "t.csv");
    EXPECT_TRUE(taken) << taken.error().text();
  }
}

TEST(Polls, OfSeveralDevicesAreRefused) {
  EXPECT_FALSE(
      parse_polls("timestamp, index, power.draw [W]\n2023/07/14 10:12:46.483, 0, 1\n"
                  "2023/07/14 10:12:46.483, 1, 2\n",
                  "a"));
}

TEST(LoadSwitches, AppearTwiceEachInTheFile) {
  const auto found = parse_load_switches("timestamp\n1000000\n1000000\n1052000\n1052000\n", "a");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_DOUBLE_EQ((*found)[1], 1.052);
  EXPECT_FALSE(parse_load_switches("timestamp\n12x\n", "a"));
  EXPECT_FALSE(parse_load_switches("timestamp\n", "a"));
}

// A record with the same raw voltage and current on all connectors.
void record(std::vector<std::byte>& out, unsigned clock, unsigned volts, unsigned amps) {
  const auto put = [&out](unsigned value) {
    out.push_back(static_cast<std::byte>(value & 0xFF));
    out.push_back(static_cast<std::byte>(value >> 8));
  };
  put(clock);
  for (int i = 0; i < 4; ++i) {
    put(volts << 4);
    put(amps << 4);
  }
}

TEST(Pmd, DecodesPowerAcrossTheWrapOfItsClock) {
  std::vector<std::byte> data;
  record(data, 65000, 1600, 100);
  record(data, 65200, 1600, 100);
  record(data, 65000 + 2935 - 65536, 1600, 0xFFF);  // negative current: none
  const auto meter = decode_pmd(data, "a");
  ASSERT_TRUE(meter) << meter.error().text();
  ASSERT_EQ(meter->power_w.size(), 2u);
  EXPECT_NEAR(meter->power_w[0], 1600 * (3 * 0.007568 + 0.0075) * 100 * 0.0488, 1e-6);
  EXPECT_EQ(meter->power_w[1], 0.0);
}

TEST(Pmd, RefusesARecordThatIsCutOff) {
  std::vector<std::byte> data;
  record(data, 0, 1, 1);
  data.pop_back();
  EXPECT_FALSE(decode_pmd(data, "a"));
  EXPECT_FALSE(decode_pmd({}, "a"));
}

TEST(PowerTable, GivesColumnsSwitchesAndTheMeterByTheMillisecond) {
  const auto table = parse_power_table(
      "# any remark\ntime_ms,power_w,instant_w,meter_w,load\n1000,50,51,60,0\n1002,,52,62,1\n"
      "1004,54,53,n/a,1\n1006,55,54,66,0\n",
      "t.csv");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->columns.size(), 2u);
  EXPECT_EQ(table->columns[0].name, "power_w");
  ASSERT_EQ(table->columns[0].polls.size(), 3u);  // an empty field is no poll
  EXPECT_NEAR(table->columns[0].polls[1].time_s, 0.004, 1e-9);
  EXPECT_EQ(table->switches.size(), 2u);
  EXPECT_NEAR(table->switches[0], 0.001, 1e-9);
  ASSERT_EQ(table->meter.power_w.size(), 6u);
  EXPECT_NEAR(table->meter.power_w[0], 60.5, 1e-6);
  EXPECT_NEAR(table->meter.power_w[4], 64.5, 1e-6);  // straight over the missing reading
}

TEST(PowerTable, RefusesWithFileAndLine) {
  const auto refused = [](const char* text) {
    const auto table = parse_power_table(text, "t.csv");
    return table ? std::string("read") : table.error().text();
  };
  EXPECT_THAT(refused("a,b\n1,2\n"), ::testing::HasSubstr("time_s"));
  EXPECT_THAT(refused("time_s,meter_w\n1,2\n"), ::testing::HasSubstr("power_w"));
  EXPECT_THAT(refused("time_s,power_w\n1,2\n0,3\n"), ::testing::HasSubstr("t.csv:3"));
  EXPECT_THAT(refused("time_s,power_w\n1,x\n"), ::testing::HasSubstr("'x'"));
  EXPECT_THAT(refused("time_s,power_w\n1\n2,3\n"), ::testing::HasSubstr("t.csv:2"));
  EXPECT_THAT(refused(""), ::testing::HasSubstr("empty"));
}

TEST(PowerTable, TakesAMeterAsPowerAsMeansOrAsJoules) {
  // 100 W for a second, then 300 W: polls of 10 ms, whose means belong before their times.
  std::string text = "t_ms,socket_power_uw,meter_mean_w,meter_j,load\n";
  double joules = 50;
  for (int i = 0; i <= 200; ++i) {
    const double mean = i <= 100 ? 100 : 300;
    if (i > 0) joules += mean * 0.01;
    text += fmt::format("{},{},{},{},{}\n", 10 * i, i <= 100 ? 100e6 : 300e6, mean, joules,
                        i < 100 ? 0 : 1);
  }
  const auto both = parse_power_table(text, "t.csv");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->columns.at(0).polls.at(150).power_w, 300);
  EXPECT_NEAR(both->columns.at(0).polls.at(150).time_s, 1.5, 1e-12);
  for (const char* left_out : {"", "meter_j", "meter_mean_w"}) {
    std::string one = text;
    if (const auto at = one.find(left_out); *left_out != '\0') one[at] = 'x';
    const auto table = parse_power_table(one, "t.csv");
    ASSERT_TRUE(table);
    ASSERT_EQ(table->meter.power_w.size(), 2000U) << left_out;
    EXPECT_NEAR(table->meter.power_w[998], 100, 1e-6) << left_out;
    EXPECT_NEAR(table->meter.power_w[1001], 300, 1e-6) << left_out;
  }
  EXPECT_TRUE(parse_power_table("time_s,energy_j\n0,1\n1,2\n", "t.csv"));
  EXPECT_FALSE(parse_power_table("time_s,joules\n0,1\n1,2\n", "t.csv"));
}

TEST(PowerOfMoves, IsTheMeanFromMoveToMove) {
  // The counter rests at 2 s, falls at 5 s as one that was reset, and goes on.
  const auto power =
      power_of_moves({"energy_j", {{0, 10}, {1, 30}, {2, 30}, {3, 90}, {5, 0}, {6, 7}}});
  ASSERT_EQ(power.size(), 3u);
  EXPECT_EQ(power[0].time_s, 0);
  EXPECT_EQ(power[0].power_w, 20);
  EXPECT_EQ(power[1].time_s, 1);
  EXPECT_EQ(power[1].power_w, 30);
  EXPECT_EQ(power[2].time_s, 5);
  EXPECT_EQ(power[2].power_w, 7);
  EXPECT_TRUE(power_of_moves({"energy_j", {}}).empty());
}

TEST(PowerTable, FindsTheCounterBesideAColumn) {
  SensorRecording recording;
  recording.counters = {{"accel0_energy_j", {{0, 1}, {1, 9}}},
                        {"node_energy_j", {{0, 1}, {1, 9}}},
                        {"dead_energy_j", {{0, 0}, {1, 0}}}};
  EXPECT_EQ(counter_beside(recording, "accel0_power_w"), &recording.counters[0]);
  EXPECT_EQ(counter_beside(recording, "dead_power_w"), nullptr);
  recording.counters.erase(recording.counters.begin());
  EXPECT_EQ(counter_beside(recording, "socket_power_uw"), &recording.counters[0]);
  EXPECT_TRUE(mean_power(recording.counters[1]).empty());
}

TEST(PmtLog, IsReadWithoutItsMarks) {
  const auto log = parse_pmt_log(
      "timestamp a b\n1733935203.149 17.000 18\nM 0.1 \"start\"\n"
      "1733935203.151 22.000 19\n17339352",
      "x.log");
  ASSERT_TRUE(log) << log.error().text();
  ASSERT_EQ(log->columns.size(), 2U);
  ASSERT_EQ(log->columns[0].polls.size(), 2U);
  EXPECT_NEAR(log->columns[0].polls[1].time_s, 0.002, 1e-6);
  EXPECT_EQ(log->columns[1].polls[1].power_w, 19);
  EXPECT_EQ(parse_pmt_log("time_s,power_w\n", "x").error().code, ErrorCode::unsupported);
  EXPECT_EQ(parse_pmt_log("timestamp a\n1 x\n2 3\n", "x").error().context, "x:2");
}

}  // namespace
}  // namespace ww::measure
