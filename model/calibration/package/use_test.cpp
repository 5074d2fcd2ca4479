// Ways between dies in applications: counted, assumed, bounded, and of data that nobody saw.
#include "package/use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ww::calibration {
namespace {

using namespace model;  // NOLINT: traffic and data are the model's
using ::testing::HasSubstr;

ChipletModel package() {
  ChipletModel model;
  model.device = "virtual:mi300x";
  const double pj[] = {0.5, 0.6, 0.7, 1.3, 0.55, 3.0};
  for (std::size_t i = 0; i < std::size(pj); ++i) {
    model.classes[i].pj = Interval{pj[i], 0.9 * pj[i], 1.1 * pj[i]};
  }
  return model;
}

KernelTraffic kernel_of(const char* name, double bytes) {
  KernelTraffic kernel;
  kernel.kernel = name;
  kernel.dispatches = 1;
  kernel.time_s = 1e-3;
  kernel.segments[2].bytes = bytes;
  return kernel;
}

EstimateOptions of_data(const AssumedData& data, bool use_monitors = true) {
  EstimateOptions options;
  options.data = data;
  options.use_monitors = use_monitors;
  return options;
}

const HopClassUse& of(const ChipletUse& use, HopClass which) {
  return use.classes[static_cast<std::size_t>(which)];
}

TEST(ChipletUse, IsNotSureOfBytesThatAreALowerBound) {
  KernelTraffic partly = kernel_of("partly", 1e9);
  partly.segments[2].at_least = true;
  partly.segments[2].reason = "dirty lines are written later";
  const auto status = [&](const std::map<std::string, IoDieBytes>& counted) {
    const auto uses = estimate_chiplet(package(), {partly}, counted, EstimateOptions{});
    EXPECT_TRUE(uses);
    return of(uses->front(), HopClass::compute_die_and_cache);
  };
  EXPECT_EQ(status({}).status, RowStatus::transferred);
  EXPECT_THAT(status({}).reason, HasSubstr("dirty lines"));
  EXPECT_TRUE(status({}).energy_j);
  // Monitors count all of them.
  EXPECT_EQ(status({{"partly", IoDieBytes{.own = 1e9}}}).status, RowStatus::ok);
}

TEST(ChipletUse, DividesByTheTimeInWhichAnyKernelRan) {
  EstimateOptions options;
  const std::vector<KernelTraffic> kernels{kernel_of("a", 1e9), kernel_of("b", 1e9)};
  const auto in_turn = estimate_chiplet(package(), kernels, {}, options);
  options.busy_s = 1e-3;
  const auto side_by_side = estimate_chiplet(package(), kernels, {}, options);
  ASSERT_TRUE(in_turn && side_by_side);
  const auto watts = [](const std::vector<ChipletUse>& uses) {
    return of(uses.back(), HopClass::compute_die_and_cache).power_w->value;
  };
  EXPECT_NEAR(watts(*side_by_side) / watts(*in_turn), 2, 1e-9);
}

TEST(ChipletUse, PricesTheLinksBetweenTwoPartsAlone) {
  ChipletModel pair;
  for (auto& energy : pair.classes) energy.why_not = "the calibration has no such row";
  pair.classes[static_cast<std::size_t>(HopClass::xgmi)] = {Interval{1.6, 1.5, 1.7}, ""};
  KernelTraffic kernel;
  kernel.kernel = "copy";
  kernel.segments[static_cast<std::size_t>(WireSegment::l2_memory)].bytes = 2e9;
  const auto uses =
      estimate_chiplet(pair, {kernel}, {{"copy", IoDieBytes{.xgmi = 1e9}}}, EstimateOptions{});
  ASSERT_TRUE(uses) << uses.error().text();
  const HopClassUse& link = uses->back().classes[static_cast<std::size_t>(HopClass::xgmi)];
  ASSERT_TRUE(link.energy_j);
  EXPECT_NEAR(link.energy_j->value, 8e9 * 1.6e-12, 1e-6);
  // Nothing takes the ways that such a package does not have.
  EXPECT_EQ(uses->back().classes[0].energy_j->high, 0);
  ASSERT_TRUE(uses->back().together.energy_j);
  EXPECT_NEAR(uses->back().together.energy_j->value, 8e9 * 1.6e-12, 1e-6);
  // Without monitors there is a bound.
  const auto unseen = estimate_chiplet(pair, {kernel}, {}, EstimateOptions{});
  const HopClassUse& bound = unseen->back().classes[static_cast<std::size_t>(HopClass::xgmi)];
  EXPECT_FALSE(bound.energy_j);
  EXPECT_EQ(bound.status, RowStatus::not_identified);
  EXPECT_GE(bound.upper_j.value(), 16e9 * 1.7e-12);
}

TEST(ChipletUse, IsCountedBitsTimesTheEnergyOfTheirWay) {
  const std::map<std::string, IoDieBytes> counted{
      {"copy", {.own = 4e8, .row = 1e8, .column = 2e8, .across = 3e8, .memory = 5e8}}};
  const auto uses = estimate_chiplet(package(), {kernel_of("copy", 1e9)}, counted,
                                     of_data(random_words_at_rate(0.5)))
                        .value();
  ASSERT_EQ(uses.size(), 2U);
  const ChipletUse& copy = uses.front();
  EXPECT_NEAR(of(copy, HopClass::compute_die_and_cache).energy_j->value, 8e9 * 0.5e-12, 1e-9);
  EXPECT_NEAR(of(copy, HopClass::row_hop).energy_j->value, 8e8 * 0.6e-12, 1e-9);
  EXPECT_NEAR(of(copy, HopClass::column_hop).energy_j->value, 16e8 * 0.7e-12, 1e-9);
  EXPECT_NEAR(of(copy, HopClass::across).energy_j->value, 24e8 * 1.3e-12, 1e-9);
  EXPECT_NEAR(of(copy, HopClass::memory_phy).energy_j->value, 40e8 * 0.55e-12, 1e-9);
  EXPECT_NEAR(of(copy, HopClass::memory).energy_j->value, 40e8 * 3e-12, 1e-9);
  double sum = 0;
  for (const HopClassUse& one : copy.classes) {
    EXPECT_EQ(one.status, RowStatus::ok);
    EXPECT_NEAR(one.energy_j->high, 1.1 * one.energy_j->value, 1e-9);
    EXPECT_NEAR(one.power_w->value, one.energy_j->value / 1e-3, 1e-6);
    sum += one.energy_j->value;
  }
  EXPECT_NEAR(copy.together.energy_j->value, sum, 1e-9);
  EXPECT_NEAR(copy.together.energy_j->low, 0.9 * sum, 1e-9);
  EXPECT_EQ(uses.back().kernel, "all");
  EXPECT_NEAR(uses.back().together.energy_j->value, sum, 1e-9);
}

TEST(ChipletUse, OfWaysThatNothingCountsLiesBetweenNoneAndAll) {
  const auto uses =
      estimate_chiplet(package(), {kernel_of("copy", 1e9)}, {}, of_data(random_words_at_rate(0.5)))
          .value();
  const ChipletUse& copy = uses.front();
  EXPECT_EQ(of(copy, HopClass::compute_die_and_cache).status, RowStatus::ok);
  const HopClassUse& across = of(copy, HopClass::across);
  EXPECT_EQ(across.status, RowStatus::transferred);
  EXPECT_EQ(across.energy_j->low, 0);
  EXPECT_NEAR(across.energy_j->value, 8e9 / 4 * 1.3e-12, 1e-9);
  EXPECT_NEAR(across.energy_j->high, 8e9 * 1.43e-12, 1e-9);
  const HopClassUse& memory = of(copy, HopClass::memory);
  EXPECT_EQ(memory.status, RowStatus::not_identified);
  EXPECT_FALSE(memory.energy_j);
  EXPECT_NEAR(*memory.upper_j, 8e9 * 3.3e-12, 1e-9);
  EXPECT_FALSE(copy.together.energy_j);
  EXPECT_THAT(copy.together.reason, HasSubstr("memory_phy"));
}

TEST(ChipletUse, OfKernelsOneOfWhichWasNotCountedIsNotCounted) {
  const std::map<std::string, IoDieBytes> counted{{"copy", {.own = 1e9, .memory = 1e9}}};
  const auto uses = estimate_chiplet(package(), {kernel_of("copy", 1e9), kernel_of("other", 2e9)},
                                     counted, of_data(random_words_at_rate(0.5)))
                        .value();
  ASSERT_EQ(uses.size(), 3U);
  const HopClassUse& memory = of(uses.back(), HopClass::memory);
  EXPECT_EQ(memory.status, RowStatus::not_identified);
  EXPECT_NEAR(*memory.upper_j, 24e9 * 3.3e-12, 1e-9);
  const HopClassUse& row = of(uses.back(), HopClass::row_hop);
  EXPECT_EQ(row.status, RowStatus::transferred);
  EXPECT_NEAR(row.energy_j->value, 16e9 / 4 * 0.6e-12, 1e-9);
}

TEST(ChipletUse, OfUnknownDataReachesDownToWhatFewerTogglesWouldDraw) {
  const std::map<std::string, IoDieBytes> counted{{"copy", {.own = 1e9}}};
  const auto uses =
      estimate_chiplet(package(), {kernel_of("copy", 1e9)}, counted, of_data(data_at_rate(0.1)))
          .value();
  const Interval energy = *of(uses.front(), HopClass::compute_die_and_cache).energy_j;
  EXPECT_NEAR(energy.value, 8e9 * 0.5e-12, 1e-9);
  EXPECT_LE(energy.low, 0.2 * 0.9 * energy.value * (1 + 1e-9));
  EXPECT_NEAR(energy.high, 1.1 * energy.value, 1e-9);
}

TEST(ChipletUse, OfDataWhoseTogglesMonitorsCountedHasNoMoreThanTheirRange) {
  KernelTraffic seen = kernel_of("copy", 1e9);
  seen.segments[2].wires = WireActivity{8e9, 4e9, 0, 0};
  const std::map<std::string, IoDieBytes> counted{{"copy", {.own = 1e9}}};
  const auto energy = [&](const EstimateOptions& options) {
    const auto uses = estimate_chiplet(package(), {seen}, counted, options).value();
    return *of(uses.front(), HopClass::compute_die_and_cache).energy_j;
  };
  const Interval known = energy(of_data(unknown_data()));
  const Interval unknown = energy(of_data(unknown_data(), false));
  EXPECT_DOUBLE_EQ(known.value, unknown.value);
  EXPECT_GT(known.low, unknown.low);
  EXPECT_NEAR(known.high, kOtherChipsRate * 1.1 * known.value, 1e-6);
}

TEST(ChipletUse, NamesTheBytesAndTheEnergiesThatAreMissing) {
  ChipletModel model = package();
  model.classes[1] = {std::nullopt, "rejected: a control failed"};
  KernelTraffic blind = kernel_of("copy", 0);
  blind.segments[2].bytes.reset();
  blind.segments[2].reason = "no TCC_EA0_RDREQ";
  const auto missing =
      estimate_chiplet(model, {blind}, {}, of_data(random_words_at_rate(0.5))).value().front();
  EXPECT_EQ(of(missing, HopClass::compute_die_and_cache).status, RowStatus::unavailable);
  EXPECT_EQ(of(missing, HopClass::compute_die_and_cache).reason, "no TCC_EA0_RDREQ");
  const auto rejected =
      estimate_chiplet(model, {kernel_of("copy", 1e9)}, {}, of_data(random_words_at_rate(0.5)))
          .value()
          .front();
  EXPECT_EQ(of(rejected, HopClass::row_hop).status, RowStatus::not_identified);
  EXPECT_EQ(of(rejected, HopClass::row_hop).reason, "rejected: a control failed");
  EXPECT_FALSE(estimate_chiplet(model, {}, {}, of_data(random_words_at_rate(0.5))));
}

Result<ChipletModel> parsed(const char* text) {
  return parse_chiplet_model(nlohmann::json::parse(text), "model.json");
}

TEST(ChipletModel, IsReadFromTheCalibrationsDocument) {
  const auto model = parsed(R"({"method": "chiplet", "virtual": true,
    "device": "virtual:mi300x", "chip": {"target": "gfx942"}, "hop_classes": [
    {"name": "row_hop", "status": "ok", "value": 0.6, "low": 0.5, "high": 0.7},
    {"name": "memory", "status": "rejected", "reason": "a control failed"}]})")
                         .value();
  EXPECT_EQ(model.target, "gfx942");
  EXPECT_TRUE(model.is_virtual);
  EXPECT_DOUBLE_EQ(model.of(HopClass::row_hop).pj->low, 0.5);
  EXPECT_FALSE(model.of(HopClass::memory).pj);
  EXPECT_EQ(model.of(HopClass::memory).why_not, "rejected: a control failed");
  EXPECT_THAT(model.classes[0].why_not, HasSubstr("no such row"));
  const auto below = parsed(R"({"method": "chiplet", "virtual": true,
    "device": "virtual:mi300x", "hop_classes": [
    {"name": "row_hop", "status": "ok", "value": -0.6, "low": -0.7, "high": -0.5}]})")
                         .value();
  EXPECT_FALSE(below.classes[1].pj);
  EXPECT_THAT(below.classes[1].why_not, HasSubstr("lies below zero"));
  EXPECT_FALSE(parsed(R"({"format": "wirewatt-model/1"})"));
}

}  // namespace
}  // namespace ww::calibration
