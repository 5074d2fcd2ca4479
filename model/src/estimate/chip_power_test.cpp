#include "ww/model/chip_power.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ww::model {
namespace {

// A chip of two parts whose extremes can be computed by hand: 1 nJ an event at most, at rates of
// 10^9 events a second, so that a part takes up to 1 W in the program and `stream` W in the stream.
ChipPower chip_of(double first_in_stream, double second_in_stream, Bounds stream_w,
                  double limit_w = 100) {
  return {"test",
          1,
          {{"first", {"A"}, 1, 0, 1000, 1e9 * first_in_stream, ""},
           {"second", {"B"}, 1, 0, 1000, 1e9 * second_in_stream, ""}},
          stream_w,
          limit_w,
          "",
          ""};
}

const std::map<std::string, double> kOneEach{{"A", 1e9}, {"B", 1e9}};

TEST(ChipPower, SpendsTheStreamsPowerWhereTheProgramPaysLeastAndMost) {
  // The stream has four events of the first a second, the program one: 3 W of the stream cost the
  // program 0.75 W by the first alone, and no less.
  const auto bounds = share_bounds(chip_of(4, 1, {3, 4}), Interval{0.25, 0.25, 0.25}, kOneEach, 1);
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->rest_w.low, 0.75, 1e-12);
  EXPECT_NEAR(bounds->rest_w.high, 1 + 0.75, 1e-12);  // all of the second, 3 W left for the first
  EXPECT_NEAR(bounds->share_percent.high, 25, 1e-9);
  EXPECT_NEAR(bounds->share_percent.low, 12.5, 1e-9);
}

TEST(ChipPower, LeavesAPartThatIsNotInTheStreamItsWholeRange) {
  const auto bounds = share_bounds(chip_of(1, 0, {0.5, 0.5}), Interval{0.1, 0.1, 0.1}, kOneEach, 1);
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->rest_w.low, 0.5, 1e-12);
  EXPECT_NEAR(bounds->rest_w.high, 1.5, 1e-12);
}

TEST(ChipPower, AllowsNoProgramMoreThanTheChipsLimit) {
  const auto bounds =
      share_bounds(chip_of(1, 1, {0, 2}, 1.25), Interval{0.25, 0.25, 0.5}, kOneEach, 1);
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->rest_w.high, 1, 1e-12);
}

TEST(ChipPower, NamesTheRangeThatMattersMostFirst) {
  ChipPower chip = chip_of(0, 0, {0, 0});
  chip.parts[0].low_pj = chip.parts[1].low_pj = 10;
  chip.parts[1].high_pj = 20;
  const auto bounds = share_bounds(chip, Interval{0.25, 0.25, 0.25}, kOneEach, 1);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->known.front().name, "first");
  EXPECT_GT(bounds->known.front().narrower, 0.9);
  for (const auto& known : bounds->known) {
    EXPECT_GE(known.share_percent.low, bounds->share_percent.low * (1 - 1e-12)) << known.name;
    EXPECT_LE(known.share_percent.high, bounds->share_percent.high * (1 + 1e-12)) << known.name;
  }
}

TEST(ChipPower, SaysWhatItLacks) {
  const ChipPower chip = chip_of(1, 1, {0, 2});
  const auto no_counter = share_bounds(chip, Interval{1, 1, 1}, {{"A", 1.0}}, 1);
  ASSERT_FALSE(no_counter);
  EXPECT_EQ(no_counter.error().code, ErrorCode::unsupported);
  EXPECT_NE(no_counter.error().text().find("B was not counted"), std::string::npos);
  EXPECT_EQ(share_bounds(chip, Interval{1, 1, 1}, kOneEach, 0).error().code, ErrorCode::bad_data);
  EXPECT_EQ(share_bounds(chip, Interval{1, 0, 2}, kOneEach, 1).error().code, ErrorCode::bad_data);
}

double stream_watts(const ChipPower& chip, const std::vector<double>& pj) {
  double watts = 0;
  for (std::size_t i = 0; i < pj.size(); ++i) {
    watts += chip.parts[i].stream_per_s * pj[i] * 1e-12;
  }
  return watts;
}

// Any energies within the ranges that also explain the stream give the program a power within the
// bounds, and some come near both ends.
TEST(ChipPower, HoldsEveryChipThatItsSourcesAllow) {
  const ChipPower* chip = chip_power("gfx701");
  ASSERT_NE(chip, nullptr);
  EXPECT_EQ(chip_power("gfx90a"), nullptr);
  std::map<std::string, double> counters{
      {"SQ_BUSY_CU_CYCLES", 3e10}, {"SQ_THREAD_CYCLES_VALU", 2e11},
      {"SQ_INSTS_LDS", 1e8},       {"TCP_TOTAL_CACHE_ACCESSES_sum", 4e9},
      {"TCC_REQ_sum", 2e9},        {"TCC_MC_RDREQ_sum", 1e9},
      {"TCC_MC_WRREQ_sum", 5e8}};
  ChipPower unlimited = *chip;
  unlimited.limit_w = 1e6;
  const auto bounds = share_bounds(unlimited, Interval{2, 2, 2}, counters, 1);
  ASSERT_TRUE(bounds);
  std::mt19937_64 random(1);
  double least = 1e9, most = 0;
  int allowed = 0;
  for (int k = 0; k < 200000; ++k) {
    std::vector<double> pj;
    for (const ChipPart& part : chip->parts) {
      std::uniform_real_distribution<double> between(0, 1);
      // Ends are likely, so that a corner is met.
      const double where = std::clamp(1.5 * between(random) - 0.25, 0.0, 1.0);
      pj.push_back(part.low_pj + where * where * (part.high_pj - part.low_pj));
    }
    const double stream = stream_watts(*chip, pj);
    if (stream < chip->stream_w.low || stream > chip->stream_w.high) continue;
    ++allowed;
    double watts = 0;
    for (std::size_t i = 0; i < pj.size(); ++i) {
      double events = chip->parts[i].counters.empty() ? 1e9 : 0;
      for (const auto name : chip->parts[i].counters) {
        events += chip->parts[i].events_per_count * counters.at(std::string(name));
      }
      watts += events * pj[i] * 1e-12;
    }
    EXPECT_GE(watts, bounds->rest_w.low * (1 - 1e-9));
    EXPECT_LE(watts, bounds->rest_w.high * (1 + 1e-9));
    least = std::min(least, watts);
    most = std::max(most, watts);
  }
  for (const auto& known : bounds->known) {
    EXPECT_GE(known.share_percent.low, bounds->share_percent.low * (1 - 1e-12)) << known.name;
    EXPECT_LE(known.share_percent.high, bounds->share_percent.high * (1 + 1e-12)) << known.name;
    EXPECT_LE(known.share_percent.low, known.share_percent.high) << known.name;
  }
  EXPECT_GT(allowed, 1000);
  EXPECT_LT(least, 1.5 * bounds->rest_w.low);
  EXPECT_GT(most, 0.7 * bounds->rest_w.high);
}

TEST(ChipPower, HasAPublicStreamThatItsPartsCanExplain) {
  const ChipPower* chip = chip_power("gfx701");
  ASSERT_NE(chip, nullptr);
  std::vector<double> low, high;
  for (const ChipPart& part : chip->parts) {
    EXPECT_LE(part.low_pj, part.high_pj) << part.name;
    EXPECT_FALSE(part.source.empty()) << part.name;
    low.push_back(part.low_pj);
    high.push_back(part.high_pj);
  }
  EXPECT_LT(stream_watts(*chip, low), chip->stream_w.low);
  EXPECT_GT(stream_watts(*chip, high), chip->stream_w.high);
  EXPECT_LT(chip->stream_w.high, chip->limit_w);
}

}  // namespace
}  // namespace ww::model
