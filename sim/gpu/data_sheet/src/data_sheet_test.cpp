#include "ww/sim/gpu/data_sheet.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu {
namespace {

DataSheet example() {
  DataSheet sheet;
  sheet.title = "a \"chip\" of C:\\tests";
  sheet.architecture.name = "test";
  sheet.architecture.gfx_target = "gfx900";
  sheet.architecture.l2_channels = 8;
  sheet.architecture.l2_bytes = 3 << 20;
  sheet.architecture.memory_bytes_per_clock_per_channel = 14.3;
  sheet.architecture.dvfs = {{0.1 + 0.8, 1e9 / 3}, {1.1687, 930e6}};
  sheet.architecture.reference_state = 1;
  return sheet;
}

TEST(DataSheet, ReadsBackExactlyAsItWasWritten) {
  const DataSheet sheet = example();
  const std::string text = to_toml(sheet);
  const auto read = parse_data_sheet(text, "sheet");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_toml(*read), text);
  EXPECT_EQ(read->title, example().title);
  EXPECT_EQ(read->architecture.gfx_target, "gfx900");
  EXPECT_EQ(read->architecture.l2_bytes, 3 << 20);
  EXPECT_EQ(read->architecture.memory_bytes_per_clock_per_channel, 14.3);
  ASSERT_EQ(read->architecture.dvfs.size(), 2U);
  EXPECT_EQ(read->architecture.dvfs[0].voltage_v, 0.1 + 0.8);
  EXPECT_EQ(read->architecture.dvfs[0].clock_hz, 1e9 / 3);
  EXPECT_EQ(read->architecture.reference_state, 1);
}

TEST(DataSheet, RefusesWhatIsOutsideTheRangeOfItsRowByName) {
  DataSheet sheet = example();
  sheet.architecture.l1_ways = 65;
  const auto read = parse_data_sheet(to_toml(sheet), "sheet");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::out_of_range);
  EXPECT_NE(read.error().message.find("architecture.l1_ways"), std::string::npos)
      << read.error().text();
  EXPECT_EQ(read.error().context.substr(0, 6), "sheet:");
}

TEST(DataSheet, RefusesStatesThatDoNotAscendInClock) {
  DataSheet sheet = example();
  std::swap(sheet.architecture.dvfs[0], sheet.architecture.dvfs[1]);
  const auto read = parse_data_sheet(to_toml(sheet), "sheet");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("dvfs"), std::string::npos) << read.error().text();
}

TEST(DataSheet, HasNoPlaceForAKeyOfTheTruth) {
  const auto read =
      parse_data_sheet(to_toml(example()) + "\n[wires]\nground_ff_per_mm = 200\n", "sheet");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("wires"), std::string::npos) << read.error().text();
}

}  // namespace
}  // namespace ww::sim::gpu
