// Toggles of dumps: by hand, of random words, and of order.
#include "ww/model/dumped_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "ww/model/counted_data.hpp"

namespace ww::model {
namespace {

AssumedData of_dump(const std::string& dump) {
  const std::string_view dumps[] = {dump};
  const auto data = data_of_dumps(dumps);
  EXPECT_TRUE(data) << data.error().text();
  return data ? *data : AssumedData{};
}

// A line of zeros before one of ones: a bus of 64 bytes moves all wires in its second beat, and one
// of 32 bytes moves all of them once in three beats. All wires go the same way.
TEST(DumpedData, CountsWhatBeatsChangeOnBusesOf32And64Bytes) {
  const AssumedData data = of_dump(std::string(64, '\0') + std::string(64, '\xff'));
  EXPECT_DOUBLE_EQ(data.counted_least, 1.0 / 3);
  EXPECT_DOUBLE_EQ(data.counted_most, 1.0);
  EXPECT_DOUBLE_EQ(data.known_rate, 2.0 / 3);
  EXPECT_NEAR(data.counted_coupling, -(511.0 / 512 + 255.0 / 256) / 2, 1e-12);
}

// Neighbours that go opposite ways, also from one word of 64 wires to the next.
TEST(DumpedData, CountsNeighboursThatGoOppositeWays) {
  const AssumedData data = of_dump(std::string(64, '\x55') + std::string(64, '\xaa'));
  EXPECT_NEAR(data.counted_coupling, (511.0 / 512 + 255.0 / 256) / 2, 1e-12);
}

TEST(DumpedData, FindsHalfATogglePerBitAndNoCouplingInRandomWords) {
  std::mt19937_64 random(7);
  std::string dump;
  for (int i = 0; i < 64 * 4096; ++i) dump.push_back(static_cast<char>(random()));
  const AssumedData data = of_dump(dump);
  EXPECT_NEAR(data.known_rate, 0.5, 0.002);
  EXPECT_GT(data.counted_least, 0.498);
  EXPECT_LT(data.counted_most, 0.502);
  EXPECT_NEAR(data.counted_coupling, 0, 0.005);
}

TEST(DumpedData, HoldsTheOrderOfLinesInItsRange) {
  std::string dump;  // runs of a thousand equal lines: few toggles in order, many in none
  for (int i = 0; i < 4000; ++i) dump += std::string(64, i / 1000 % 2 == 0 ? '\0' : '\x0f');
  const AssumedData data = of_dump(dump);
  EXPECT_LT(data.counted_least, 0.001);
  EXPECT_NEAR(data.counted_most, 0.25, 0.02);
  const Interval rate = equivalent_rate(data, {0.5, 0.35, 0.65});
  EXPECT_LE(rate.low, data.counted_least);
  EXPECT_GT(rate.high, data.counted_most);
}

TEST(DumpedData, NeedsTwoLines) {
  const std::string_view dumps[] = {"short", ""};
  EXPECT_FALSE(data_of_dumps(dumps));
}

// Two words of four bytes on a bundle of 64 wires: half of the wires carry data.
TEST(CountedData, IsPerPayloadBit) {
  const CountedData data = counted_data({128, 16, 4, 1}, 8);
  EXPECT_DOUBLE_EQ(data.toggle_rate, 0.25);
  EXPECT_DOUBLE_EQ(data.wires_per_bit, 2);
  EXPECT_DOUBLE_EQ(data.coupling_per_toggle, -0.125);
  EXPECT_TRUE(is_possible(data));
}

TEST(CountedData, TogglesEachWireOfABeatTwiceAtMost) {
  EXPECT_TRUE(is_possible({2, 1, 0}));
  EXPECT_FALSE(is_possible({2.1, 1, 0}));
  EXPECT_TRUE(is_possible({2.1, 2, -2}));
  EXPECT_FALSE(is_possible({0.1, 1, 2.1}));
  EXPECT_FALSE(is_possible({std::nan(""), 1, 0}));
}

}  // namespace
}  // namespace ww::model
