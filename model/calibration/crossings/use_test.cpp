// Crossings of applications: counted, assumed, and of data that nobody saw.
#include "crossings/use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ww::calibration {
namespace {

using namespace model;  // NOLINT: traffic and data are the model's
using ::testing::HasSubstr;
using ::testing::Not;

const CrossingModel kModel{"cuda:0", "", "", false, {1.0, 0.9, 1.1}, Interval{0.4, 0.3, 0.5}};

KernelTraffic kernel_of(const char* name, double bytes) {
  KernelTraffic kernel;
  kernel.kernel = name;
  kernel.dispatches = 1;
  kernel.time_s = 1e-3;
  kernel.segments[1].bytes = bytes;
  return kernel;
}

// Counts a kernel's crossings in every dispatch, and nothing else.
std::map<std::string, CountedCrossing> counted(const char* kernel, double bytes) {
  std::map<std::string, CountedCrossing> crossed;
  crossed[kernel].bytes = bytes;
  return crossed;
}

CrossingUse use_with(const CountedCrossing& crossing) {
  return estimate_crossings(kModel, {kernel_of("copy", 1e9)}, {{"copy", crossing}},
                            random_words_at_rate(0.5))
      .value()
      .front();
}

TEST(CrossingUse, OfDispatchesWithoutTheCounterAddsNoneToAllOfTheirTraffic) {
  CountedCrossing half;
  half.bytes = 160e6;
  half.uncounted = 1;
  half.uncounted_traffic = 640e6;
  const CrossingUse use = use_with(half);
  EXPECT_EQ(use.status, RowStatus::transferred);
  EXPECT_FALSE(use.counted);
  EXPECT_EQ(use.crossed_bytes->value, 480e6);
  EXPECT_EQ(use.crossed_bytes->low, 160e6);
  EXPECT_EQ(use.crossed_bytes->high, 800e6);
  half.uncounted_traffic.reset();
  EXPECT_EQ(use_with(half).status, RowStatus::not_identified);
  EXPECT_FALSE(use_with(half).energy_j);
}

TEST(CrossingUse, IsRejectedWhereMoreCrossedThanThereWas) {
  CountedCrossing crossing;
  crossing.bytes = 1.9e9;
  crossing.traffic = 1e9;
  EXPECT_EQ(use_with(crossing).status, RowStatus::ok);
  crossing.bytes = 2.1e9;
  const CrossingUse rejected = use_with(crossing);
  EXPECT_EQ(rejected.status, RowStatus::rejected);
  EXPECT_FALSE(rejected.energy_j);
  EXPECT_THAT(rejected.reason, HasSubstr("more than twice"));
  crossing.traffic_at_least = true;
  EXPECT_THAT(use_with(crossing).reason, HasSubstr("atomics were not counted"));
  // A kernel without loads and stores fetches its instructions.
  crossing.traffic = 0;
  crossing.bytes = 1e4;
  EXPECT_EQ(use_with(crossing).status, RowStatus::ok);
}

TEST(CrossingUse, OfReadsTakesAnEnergyThatWasMeasuredOnReductions) {
  CountedCrossing crossing;
  crossing.bytes = 4e8;
  crossing.read_traffic = 5e8;
  crossing.written_traffic = 5e8;
  EXPECT_EQ(use_with(crossing).status, RowStatus::ok);
  crossing.read_traffic = 6e8;
  EXPECT_EQ(use_with(crossing).status, RowStatus::transferred);
  EXPECT_TRUE(use_with(crossing).energy_j);
  EXPECT_THAT(use_with(crossing).reason, HasSubstr("measured reductions"));
}

TEST(CrossingUse, IsCountedBitsTimesTheEnergyOfACrossing) {
  const auto uses = estimate_crossings(kModel, {kernel_of("copy", 1e9)}, counted("copy", 4e8),
                                       random_words_at_rate(0.5))
                        .value();
  ASSERT_EQ(uses.size(), 2u);
  const CrossingUse& copy = uses.front();
  EXPECT_EQ(copy.status, RowStatus::ok);
  EXPECT_TRUE(copy.counted);
  EXPECT_NEAR(copy.energy_j->value, 8 * 4e8 * 1.0e-12, 1e-6);
  EXPECT_NEAR(copy.energy_j->low, 8 * 4e8 * 0.9e-12, 1e-6);
  EXPECT_NEAR(copy.energy_j->high, 8 * 4e8 * 1.1e-12, 1e-6);
  EXPECT_NEAR(copy.power_w->value, copy.energy_j->value / 1e-3, 1e-3);
  EXPECT_EQ(uses.back().kernel, "all");
  EXPECT_DOUBLE_EQ(uses.back().energy_j->value, copy.energy_j->value);
}

TEST(CrossingUse, IsAnythingFromNoneToAllWhereNothingCountsIt) {
  const auto uses =
      estimate_crossings(kModel, {kernel_of("copy", 1e9)}, {}, random_words_at_rate(0.5)).value();
  const CrossingUse& copy = uses.front();
  EXPECT_EQ(copy.status, RowStatus::transferred);
  EXPECT_FALSE(copy.counted);
  EXPECT_THAT(copy.reason, HasSubstr("lts__t_sectors_srcunit_ltcfabric.sum"));
  EXPECT_EQ(copy.energy_j->low, 0);
  EXPECT_NEAR(copy.energy_j->value, 8 * 0.5e9 * 1.0e-12, 1e-6);
  EXPECT_NEAR(copy.energy_j->high, 8 * 1e9 * 1.1e-12, 1e-6);
  EXPECT_EQ(uses.back().status, RowStatus::transferred);
}

TEST(CrossingUse, HasNoUpperEndWhereSomeOfTheTrafficWasNotCounted) {
  KernelTraffic histogram = kernel_of("histogram", 32e3);
  histogram.segments[1].at_least = true;
  histogram.segments[1].reason = "reductions are not counted";
  const auto uses = estimate_crossings(kModel, {histogram}, {}, random_words_at_rate(0.5)).value();
  EXPECT_EQ(uses.front().status, RowStatus::not_identified);
  EXPECT_FALSE(uses.front().energy_j);
  EXPECT_THAT(uses.front().reason, HasSubstr("reductions are not counted"));
  EXPECT_FALSE(uses.back().energy_j);
  // Counted crossings need no bound.
  EXPECT_EQ(
      estimate_crossings(kModel, {histogram}, counted("histogram", 4e8), random_words_at_rate(0.5))
          .value()
          .front()
          .status,
      RowStatus::ok);
}

TEST(CrossingUse, OfUnknownDataLiesBetweenZerosAndMoreThanRandomBits) {
  const Interval energy = kModel.of_data(unknown_data());
  EXPECT_GT(energy.value, 0.4);
  EXPECT_LT(energy.value, 1.0);
  EXPECT_GE(energy.low, 0.3);
  EXPECT_LT(energy.low, energy.value);
  EXPECT_GT(energy.high, energy.value);
}

TEST(CrossingUse, OfDataThatNobodyMeasuredHoldsAllThatTheyMayDraw) {
  CrossingModel random_alone = kModel;
  random_alone.zero_pj.reset();
  const Interval zeros = random_alone.of_data(random_words_at_rate(0));
  EXPECT_EQ(zeros.low, 0);
  EXPECT_DOUBLE_EQ(zeros.value, random_alone.random_pj.value);
  EXPECT_DOUBLE_EQ(zeros.high, random_alone.random_pj.high);
  const Interval random = random_alone.of_data(random_words_at_rate(0.5));
  EXPECT_DOUBLE_EQ(random.low, random_alone.random_pj.low);
  EXPECT_DOUBLE_EQ(random.high, random_alone.random_pj.high);
}

TEST(CrossingUse, KeepsAnIntervalThatHoldsZero) {
  CrossingModel none = kModel;
  none.random_pj = {0.01, -0.1, 0.12};
  none.zero_pj.reset();
  const auto uses = estimate_crossings(none, {kernel_of("copy", 1e9)}, counted("copy", 4e8),
                                       random_words_at_rate(0.5));
  ASSERT_TRUE(uses);
  EXPECT_LT(uses->front().energy_j->low, 0);
  EXPECT_GT(uses->front().energy_j->high, 0);
}

TEST(CrossingUse, HasNoFigureForAKernelWithoutBytesNorForAllOfThem) {
  KernelTraffic blind = kernel_of("blind", 0);
  blind.segments[1] = {};
  blind.segments[1].reason = "no counter of the L2";
  const auto uses = estimate_crossings(kModel, {blind, kernel_of("copy", 1e9)},
                                       counted("copy", 4e8), random_words_at_rate(0.5))
                        .value();
  EXPECT_EQ(uses[0].kernel, "copy");
  EXPECT_EQ(uses[1].status, RowStatus::unavailable);
  EXPECT_EQ(uses[1].reason, "no counter of the L2");
  EXPECT_FALSE(uses.back().energy_j);
  EXPECT_THAT(uses.back().reason, HasSubstr("blind"));
}

TEST(CrossingFile, IsReadWithItsRows) {
  const auto model = parse_crossing_model(
      {{"device", "cuda:0"},
       {"energy_pj_per_bit_crossing",
        {{"status", "ok"}, {"value", 1.0}, {"low", 0.9}, {"high", 1.1}}},
       {"zero_data_pj_per_bit_crossing", {{"status", "rejected"}, {"reason", "a control"}}}},
      "crossing.json");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->random_pj.high, 1.1);
  EXPECT_FALSE(model->zero_pj);
}

TEST(CrossingFile, WithoutAFigureIsRefusedWithItsReason) {
  const auto model =
      parse_crossing_model({{"energy_pj_per_bit_crossing",
                             {{"status", "rejected"}, {"reason", "control 'null pair' failed"}}}},
                           "crossing.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::bad_data);
  EXPECT_THAT(model.error().message, HasSubstr("control 'null pair' failed"));
}

}  // namespace
}  // namespace ww::calibration
