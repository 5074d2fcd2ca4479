#include "ww/model/estimate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/small_model.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

TEST(Estimate, TakesRegistersL1AsMeasuredAndLeavesTheOthers) {
  EstimateOptions options;
  options.data = random_words_at_rate(0.25);
  auto model = wire_model();
  const auto before = estimate(model, {kernel(1e9)}, options)->kernels[0];
  EXPECT_EQ(before.segments[0].status, RowStatus::transferred);
  model.registers_l1_fj_per_bit = Interval{60, 54, 72};
  options.voltage_v = 1.0;
  const auto after = estimate(model, {kernel(1e9)}, options)->kernels[0];
  const auto& registers = after.segments[0];
  EXPECT_EQ(registers.status, RowStatus::ok);
  EXPECT_NE(registers.reason.find("wirewatt segments"), std::string::npos) << registers.reason;
  // 4e9 bytes at half the toggles of random data.
  EXPECT_NEAR(registers.energy_j->value, 4e9 * 8 * 60e-15 / 2, 1e-12);
  EXPECT_NEAR(registers.energy_j->low, 4e9 * 8 * 54e-15 / 2, 1e-12);
  EXPECT_NEAR(registers.energy_j->high, 4e9 * 8 * 72e-15 / 2, 1e-12);
  for (const std::size_t s : {1U, 2U}) {
    EXPECT_EQ(after.segments[s].energy_j->value, before.segments[s].energy_j->value);
    EXPECT_EQ(after.segments[s].status, before.segments[s].status);
  }
  // Monitors see the crossbar's toggles, not those on the way to registers.
  auto monitored = kernel(1e9);
  monitored.segments[0].wires = WireActivity{4e9 * 8, 4e9 * 8 * 0.25, 0, 0};
  const auto wide = estimate(model, {monitored}, options)->kernels[0].segments[0];
  EXPECT_NEAR(wide.energy_j->value, registers.energy_j->value, 1e-12);
  EXPECT_LT(wide.energy_j->low, registers.energy_j->value / 2);
  EXPECT_GT(wide.energy_j->high, registers.energy_j->value * 2);
  options.voltage_v = 1.1;
  const auto dearer = estimate(model, {kernel(1e9)}, options)->kernels[0];
  EXPECT_NEAR(dearer.segments[0].energy_j->value / registers.energy_j->value, 1.21, 1e-9);
}

TEST(Estimate, IsBitsTimesEnergyTimesDistance) {
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);  // random bits, as the calibration streams them
  const auto result = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(result);
  // 8e9 bits x 100 fJ x 10 mm = 8 mJ in half a second.
  EXPECT_NEAR(l1_l2(result->total).energy_j->value, 8e-3, 1e-12);
  EXPECT_NEAR(l1_l2(result->total).power_w->value, 16e-3, 1e-12);
  EXPECT_EQ(l1_l2(result->total).status, RowStatus::ok);
  EXPECT_NEAR(l1_l2(result->total).energy_j->low, 8e-3 * 0.95, 5e-5);
}

TEST(Estimate, TakesTheDistanceOfAKernelsOwnBitsWhereItIsKnown) {
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);
  auto far = kernel(1e9);
  far.l1_l2_mm = 20;  // the floorplan's mean is 10
  const auto mean = estimate(wire_model(), {kernel(1e9)}, options)->kernels[0];
  const auto own = estimate(wire_model(), {far}, options)->kernels[0];
  EXPECT_NEAR(l1_l2(own).distance_mm, 20, 1e-12);
  EXPECT_NEAR(l1_l2(own).energy_j->value, 2 * l1_l2(mean).energy_j->value, 1e-12);
  EXPECT_NEAR(l1_l2(own).energy_j->low, 2 * l1_l2(mean).energy_j->low, 1e-12);
  EXPECT_NEAR(l1_l2(own).energy_j->high, 2 * l1_l2(mean).energy_j->high, 1e-12);
  // The own rate says nothing of the other segments.
  for (const std::size_t s : {0U, 2U}) {
    EXPECT_EQ(own.segments[s].energy_j->value, mean.segments[s].energy_j->value);
  }
}

TEST(Estimate, FollowsTheToggleRateAlongTheFittedSlope) {
  EstimateOptions options;
  options.data = data_at_rate(0.34);
  const auto result = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(result);
  EXPECT_NEAR(l1_l2(result->total).energy_j->value, 8e-5 * (100 - 180 * 0.16), 1e-9);
}

// The interval contains what nobody counted: the slope's way from the assumed rate to the ends of
// its range, each on its own side.
TEST(Estimate, HoldsTheRangeOfAnAssumedRateInItsIntervalOnEachSide) {
  const Interval prior = equivalent_rate(unknown_data(), wire_model().coupling_share);
  EXPECT_GT(prior.high - prior.value, 1.5 * (prior.value - prior.low));
  const auto unknown = estimate(wire_model(), {kernel(1e9)}, {});
  EstimateOptions options;
  options.data = random_words_at_rate(prior.value);
  const auto known = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(unknown && known);
  const Interval wide = *l1_l2(unknown->total).energy_j;
  const Interval narrow = *l1_l2(known->total).energy_j;
  EXPECT_DOUBLE_EQ(wide.value, narrow.value);
  const double to_joules = 8e-5;
  const auto squared = [](double x) { return x * x; };
  EXPECT_NEAR(
      squared((wide.high - wide.value) / to_joules),
      squared((narrow.high - narrow.value) / to_joules) + squared(180 * (prior.high - prior.value)),
      0.1);
  // Below, energy may also be in proportion to the rate: 100 fJ at the rate of random data.
  const double along_slope = 180 * (prior.value - prior.low);
  const double in_proportion = narrow.value / to_joules - 100 * prior.low / 0.5;
  EXPECT_GT(in_proportion, along_slope);
  EXPECT_NEAR(squared((wide.value - wide.low) / to_joules),
              squared((narrow.value - narrow.low) / to_joules) + squared(in_proportion), 0.1);
  // Every watt and joule of the application has it, segments that are transferred included.
  EXPECT_LT(unknown->total.power_w->low, known->total.power_w->low);
  EXPECT_GT(unknown->total.power_w->high, known->total.power_w->high);
  EXPECT_GT(unknown->total.segments[2].energy_j->high, known->total.segments[2].energy_j->high);
  EXPECT_EQ(to_json(*unknown)["assumed"]["equivalent_rate"]["high"], prior.high);
}

// The calibration prices extra millimetres; switches may all stand on those.
TEST(Estimate, OfTheWholeWayReachesDownToWhatTheWiresSurelyCost) {
  auto json = model_json();
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);
  const auto all = estimate(wire_model(), {kernel(1e9)}, options);
  json["constants"].push_back({{"name", "wire_energy_fj_per_bit_mm"},
                               {"status", "ok"},
                               {"value", 75},
                               {"low", 50},
                               {"high", 110},
                               {"sensed_low", 60},
                               {"sensed_high", 92}});
  json["misfit"] = {{"flagged", false}, {"statistic", 0.2}};
  const auto model = parse_wire_model(json, "test");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_DOUBLE_EQ(model->whole_way.low, 0.6);
  EXPECT_NEAR(model->whole_way.high, 1 + kNormal95 * 0.2 / std::sqrt(8.0), 1e-9);
  const auto part = estimate(*model, {kernel(1e9)}, options);
  ASSERT_TRUE(all && part);
  const Interval before = *l1_l2(all->total).energy_j;
  const Interval now = *l1_l2(part->total).energy_j;
  EXPECT_DOUBLE_EQ(now.value, before.value);
  EXPECT_LT(now.low, 0.6 * now.value);
  EXPECT_GT(now.low, 0.55 * now.value);
  EXPECT_GT(now.high, 1.13 * now.value);
  // Other segments have their own interval, half to twice.
  EXPECT_DOUBLE_EQ(part->total.segments[2].energy_j->low, all->total.segments[2].energy_j->low);
}

TEST(Estimate, TakesTheTogglesOfEachKernelByItsName) {
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);
  options.data_of_kernel["k"] = random_words_at_rate(0.1);
  KernelTraffic other = kernel(1e9);
  other.kernel = "another";
  const auto both = estimate(wire_model(), {kernel(1e9), other}, options);
  ASSERT_TRUE(both);
  for (const auto& one : both->kernels) {
    EXPECT_DOUBLE_EQ(l1_l2(one).toggle_rate, one.kernel == "k" ? 0.1 : 0.5);
  }
}

// Beats that carry few bits move all of their wires. A rate that a user states is of words on all
// wires, and there more than one toggle a bit is a mistake.
TEST(Estimate, TakesMoreThanOneTogglePerBitWhereTheyWereCountedAlone) {
  EstimateOptions options;
  options.data = data_counted_elsewhere(1.7, 0);
  const auto counted = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(counted) << counted.error().text();
  options.data = data_counted_elsewhere(0.85, 0);
  const auto half = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(half) << half.error().text();
  EXPECT_GT(l1_l2(counted->kernels[0]).energy_j->value, l1_l2(half->kernels[0]).energy_j->value);
  options.data = data_at_rate(1.7);
  EXPECT_FALSE(estimate(wire_model(), {kernel(1e9)}, options));
}

// Monitors of another chip say more than the applications at large, and less than one's own.
TEST(AssumedData, CountedOnAnotherChipIsNarrowerThanThePriorAndKeepsWhatOrderMayChange) {
  const Interval share{0.5, 0.35, 0.65};
  const Interval prior = equivalent_rate(unknown_data(), share);
  const Interval counted = equivalent_rate(data_counted_elsewhere(0.3, -0.4), share);
  EXPECT_DOUBLE_EQ(counted.value, 0.3 * (1 - 0.5 * 0.4));
  EXPECT_DOUBLE_EQ(counted.low, 0.3 * (1 - 0.65 * 0.4) / 1.3);
  EXPECT_DOUBLE_EQ(counted.high, 0.3 * 1.3);  // neighbours in another order may save nothing
  EXPECT_LT(std::log(counted.high / counted.low), 0.5 * std::log(prior.high / prior.low));
  // A beat of few payload bits toggles each of its wires: more than once a payload bit.
  const Interval sparse = equivalent_rate(data_counted_elsewhere(1.7, -0.9), share);
  EXPECT_LT(sparse.low, sparse.value);
  EXPECT_GT(sparse.high, 1.7);
}

// A rate alone says nothing of neighbours: words that change together cost less.
TEST(Estimate, AKnownRateLeavesWhatNeighboursSaveInTheInterval) {
  EstimateOptions options;
  options.data = data_at_rate(0.34);
  const auto rate = estimate(wire_model(), {kernel(1e9)}, options);
  options.data = random_words_at_rate(0.34);
  const auto words = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(rate && words);
  const Interval open = *l1_l2(rate->total).energy_j;
  const Interval closed = *l1_l2(words->total).energy_j;
  EXPECT_DOUBLE_EQ(open.value, closed.value);
  EXPECT_DOUBLE_EQ(open.high, closed.high);
  const Interval equivalent = equivalent_rate(data_at_rate(0.34), wire_model().coupling_share);
  EXPECT_GT(equivalent.low, 0.35 * 0.34);  // all wires together, at the most that coupling costs
  EXPECT_LT(equivalent.low, 0.6 * 0.34);
  const double least = 100 * equivalent.low / 0.5;  // in proportion, without the 10 fJ of no toggle
  EXPECT_NEAR(open.value - open.low,
              std::hypot(closed.value - closed.low, open.value - 8e-5 * least), 1e-9);
}

TEST(AssumedData, OfOneMoreApplicationIsStudentsPredictionOfTheLogarithms) {
  const std::array few = {ApplicationToggles{"a", 0.1, 0}, ApplicationToggles{"b", 0.4, 0},
                          ApplicationToggles{"c", 0.8, -1}};
  const Interval rate = rate_of_one_more(few, 0.5);  // of 0.1, 0.4 and 0.4
  EXPECT_NEAR(rate.value, std::cbrt(0.016), 1e-12);
  // Their logarithms scatter by ln 4 / sqrt 3; t of two degrees of freedom is 4.3027.
  const double half = 4.3027 * std::log(4) / std::sqrt(3) * std::sqrt(4.0 / 3);
  EXPECT_NEAR(std::log(rate.high / rate.value), half, 1e-3);
  EXPECT_NEAR(std::log(rate.value / rate.low), half, 1e-3);
}

// Each application beside the range of the others alone. 36 times 95% is 34; fewer than 32 have a
// probability of 3%.
TEST(AssumedData, CoversEachApplicationFromTheOthersAtEveryCouplingShare) {
  const auto all = application_toggles();
  ASSERT_EQ(all.size(), 36);
  for (const double share : {0.4, 0.5, 0.65}) {
    int covered = 0;
    for (std::size_t left_out = 0; left_out < all.size(); ++left_out) {
      std::vector<ApplicationToggles> others(all.begin(), all.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
      const Interval rate = rate_of_one_more(others, share);
      const double own = all[left_out].equivalent_rate(share);
      covered += rate.low <= own && own <= rate.high ? 1 : 0;
    }
    EXPECT_GE(covered, 32) << share;
  }
}

TEST(Estimate, TransfersSegmentsWithoutAContrastWithAWiderInterval) {
  const auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  for (const std::size_t s : {std::size_t{0}, std::size_t{2}}) {
    const auto& segment = result->total.segments[s];
    EXPECT_EQ(segment.status, RowStatus::transferred);
    EXPECT_LE(segment.energy_j->low, 0.5 * segment.energy_j->value);
    EXPECT_GE(segment.energy_j->high, 2.0 * segment.energy_j->value);
  }
}

// Requests that no counter saw are in no interval of those that one saw.
TEST(Estimate, IsNotSureOfBytesThatAreALowerBound) {
  auto partly = kernel(1e9);
  partly.segments[1].at_least = true;
  partly.segments[1].reason = "at least so many";
  auto whole = kernel(1e9);
  whole.kernel = "whole";
  auto model = wire_model();
  model.registers_l1_fj_per_bit = Interval{60, 54, 72};
  const auto result = estimate(model, {whole, partly}, {});
  ASSERT_TRUE(result);
  for (const auto& one : result->kernels) {
    const bool sure = one.kernel == "whole";
    EXPECT_EQ(l1_l2(one).status, sure ? RowStatus::ok : RowStatus::transferred);
    EXPECT_EQ(l1_l2(one).bytes_at_least, !sure);
    EXPECT_EQ(one.segments[0].status, RowStatus::ok);
    EXPECT_TRUE(l1_l2(one).energy_j);
  }
  EXPECT_EQ(l1_l2(result->total).status, RowStatus::transferred);
  const auto rows = to_json(*result).at("total").at("segments");
  EXPECT_TRUE(rows.at(1).at("bytes_at_least").get<bool>());
  EXPECT_FALSE(rows.at(0).at("bytes_at_least").get<bool>());
}

TEST(Estimate, ScalesWithTheSquareOfTheVoltage) {
  EstimateOptions options;
  const auto at_one = estimate(wire_model(), {kernel(1e9)}, options);
  options.voltage_v = 0.8;
  const auto lower = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(at_one && lower);
  EXPECT_NEAR(lower->total.energy_j->value, 0.64 * at_one->total.energy_j->value, 1e-12);
}

// The exponent's interval is in that of every figure that is scaled by it.
TEST(Estimate, WidensByTheVoltagesExponent) {
  const auto with = [](const char* name, double value, double low, double high) {
    auto json = model_json();
    json["constants"].push_back(
        {{"name", name}, {"status", "ok"}, {"value", value}, {"low", low}, {"high", high}});
    return *parse_wire_model(json, "test");
  };
  const auto width = [](const WireModel& model, std::optional<double> voltage_v) {
    EstimateOptions options;
    options.data = random_words_at_rate(0.5);
    options.voltage_v = voltage_v;
    const auto energy = *l1_l2(estimate(model, {kernel(1e9)}, options)->total).energy_j;
    return std::pair(energy.low / energy.value, energy.high / energy.value);
  };
  const auto free = with("voltage_exponent", 2.4, 1.8, 3.0);
  EXPECT_NEAR(free.energy_factor(0.8).value, std::pow(0.8, 2.4), 1e-12);
  EXPECT_NEAR(free.energy_factor(0.8).low, std::pow(0.8, 3.0), 1e-12);
  EXPECT_NEAR(free.energy_factor(0.8).high, std::pow(0.8, 1.8), 1e-12);
  EXPECT_LT(width(free, 0.8).first, 0.99 * width(free, {}).first);
  EXPECT_GT(width(free, 0.8).second, 1.01 * width(free, {}).second);
  // No exponent is used at the reference.
  EXPECT_NEAR(width(free, 1.0).second, width(free, {}).second, 1e-9);
  // Along the device's curve alone: the square is used, and what was found is in the interval.
  const auto along = with("voltage_exponent_along_curve", 2.1, 1.9, 2.3);
  EXPECT_NEAR(along.energy_factor(0.8).value, 0.64, 1e-12);
  EXPECT_NEAR(along.energy_factor(0.8).low, std::pow(0.8, 2.3), 1e-12);
  EXPECT_NEAR(along.energy_factor(0.8).high, std::pow(0.8, 1.9), 1e-12);
  EXPECT_NE(along.exponent_note.find("2.10 (1.90 to 2.30)"), std::string::npos)
      << along.exponent_note;
  const auto clocked = with("frequency_exponent", 0.2, 0, 0.5);
  EXPECT_NEAR(clocked.power_factor(1, 0.5e9).value, std::pow(0.5, 1.2), 1e-12);
  EXPECT_NEAR(clocked.power_factor(1, 0.5e9).low, std::pow(0.5, 1.5), 1e-12);
}

// The distance of a calibration's own floorplan is no surer than that of one that replaces it.
TEST(Estimate, WidensByThePositionsOfItsOwnFloorplan) {
  auto json = model_json();
  json["distances"]["route_error_95_mm"] = 3;
  const auto model = parse_wire_model(json, "test");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_NEAR(model->distance_mm[1]->low, 7, 1e-12);
  EXPECT_NEAR(model->distance_mm[1]->high, 13, 1e-12);
  EXPECT_EQ(model->distance_mm[0]->low, 0);
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);
  const auto exact = *l1_l2(estimate(wire_model(), {kernel(1e9)}, options)->total).energy_j;
  const auto wide = *l1_l2(estimate(*model, {kernel(1e9)}, options)->total).energy_j;
  EXPECT_NEAR(wide.value, exact.value, 1e-15);
  EXPECT_GT(wide.high, 1.3 * exact.value);
  EXPECT_LT(wide.low, 0.7 * exact.value);
  json["distances"]["route_error_95_mm"] = -1;
  EXPECT_FALSE(parse_wire_model(json, "test"));
}

TEST(Estimate, RefusesMillivolts) {
  for (const double voltage_v : {900.0, 0.0, -1.0, std::nan("")}) {
    EstimateOptions options;
    options.voltage_v = voltage_v;
    const auto result = estimate(wire_model(), {kernel(1e9)}, options);
    ASSERT_FALSE(result) << voltage_v;
    EXPECT_EQ(result.error().code, ErrorCode::out_of_range);
    EXPECT_NE(result.error().text().find("0.1 to 3 make sense"), std::string::npos);
  }
}

TEST(Estimate, RefusesWattsAndGivesJoulesWithoutATime) {
  auto traffic = kernel(1e9);
  traffic.time_s.reset();
  traffic.time_reason = "the times were rounded";
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->total.energy_j);
  EXPECT_FALSE(result->total.power_w);
  EXPECT_EQ(result->total.time_reason, "k: the times were rounded");
}

TEST(Estimate, RefusesWattsWhereTheTimeIsZero) {
  auto traffic = kernel(1e9);
  traffic.time_s = 0;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->total.power_w);
}

TEST(Estimate, NeverSumsASegmentThatOneKernelLacks) {
  auto lacking = kernel(1e9);
  lacking.kernel = "lacking";
  lacking.segments[2].bytes.reset();
  lacking.segments[2].reason = "counters missing: TCC_EA_RDREQ_sum";
  const auto result = estimate(wire_model(), {kernel(1e9), lacking}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->total.segments[2].energy_j);
  EXPECT_EQ(result->total.segments[2].reason, "counters missing: TCC_EA_RDREQ_sum");
  EXPECT_NE(result->total.left_out.find("l2_memory"), std::string::npos);
}

TEST(Estimate, GivesOnlyABoundWhereTheBytesAreABound) {
  auto traffic = kernel(1e9);
  traffic.segments[0].bytes.reset();
  traffic.segments[0].upper_bytes = 1e9;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->total.segments[0].status, RowStatus::not_identified);
  EXPECT_FALSE(result->total.segments[0].energy_j);
  EXPECT_GT(*result->total.segments[0].upper_j, 0);
}

TEST(Estimate, BoundsASumByTheHighEndsOfFiguresAndTheBoundsOfTheOthers) {
  auto bounded = kernel(1e9);
  bounded.segments[1].upper_bytes = bounded.segments[1].bytes;
  bounded.segments[1].bytes.reset();
  const auto result = estimate(wire_model(), {kernel(1e9), bounded}, {});
  ASSERT_TRUE(result);
  double sum = 0;
  for (const auto& each : result->kernels) {
    sum += l1_l2(each).energy_j ? l1_l2(each).energy_j->high : *l1_l2(each).upper_j;
  }
  EXPECT_FALSE(l1_l2(result->total).energy_j);
  ASSERT_TRUE(l1_l2(result->total).upper_j);
  EXPECT_NEAR(*l1_l2(result->total).upper_j, sum, 1e-12);
}

TEST(Estimate, NamesTheKernelAndSegmentOfNegativeBytes) {
  auto traffic = kernel(1e9);
  traffic.segments[1].bytes = -64;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_data);
  EXPECT_NE(result.error().text().find("l1_l2"), std::string::npos);
  EXPECT_NE(result.error().text().find('k'), std::string::npos);
}

TEST(Estimate, RefusesNoKernelAndImpossibleToggleRates) {
  EXPECT_EQ(estimate(wire_model(), {}, {}).error().code, ErrorCode::bad_data);
  EstimateOptions options;
  options.data = data_at_rate(1.5);
  EXPECT_EQ(estimate(wire_model(), {kernel(1)}, options).error().code, ErrorCode::out_of_range);
}

TEST(Estimate, AddsUpOverKernels) {
  auto other = kernel(3e9);
  other.kernel = "other";
  const auto both = estimate(wire_model(), {kernel(1e9), other}, {});
  const auto one = estimate(wire_model(), {kernel(4e9)}, {});
  ASSERT_TRUE(both && one);
  EXPECT_NEAR(both->total.energy_j->value, one->total.energy_j->value, 1e-12);
  EXPECT_EQ(both->kernels.front().kernel, "other");
}

TEST(Estimate, GivesTheShareOfTheDynamicEnergy) {
  auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  const double joules = result->total.energy_j->value;
  add_dynamic_energy(*result, {20 * joules, 19 * joules, 21 * joules});
  ASSERT_TRUE(result->share_percent);
  EXPECT_NEAR(result->share_percent->value, 5, 1e-9);
  EXPECT_NEAR(*result->dynamic_w, 40 * joules, 1e-9);
}

TEST(Estimate, LeavesOutAShareThatNoiseCouldMake) {
  auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  add_dynamic_energy(*result, {1e-3, -1e-3, 3e-3});
  EXPECT_FALSE(result->share_percent);
  EXPECT_FALSE(result->share_reason.empty());
}

TEST(Interval, ProductsAddLogarithmsInQuadrature) {
  const auto result = product({2, 1, 4}, {3, 1.5, 6});
  EXPECT_DOUBLE_EQ(result.value, 6);
  EXPECT_NEAR(result.high, 6 * std::exp(std::hypot(std::log(2.0), std::log(2.0))), 1e-9);
}

}  // namespace
}  // namespace ww::model
