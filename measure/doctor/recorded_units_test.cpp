#include "ww/measure/recorded/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ww/measure/recorded_energy.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

// 60 W and 240 W by turns of 3 s, for 48 s.
double load_w(double t) {
  return std::fmod(t, 6) < 3 ? 60 : 240;
}
constexpr double kMean_w = 150;

PollColumn readings(const std::string& name, double times) {
  PollColumn column{name, {}};
  for (int i = 0; i < 4800; ++i) column.polls.push_back({i * 0.01, times * load_w(i * 0.01)});
  return column;
}

EnergyColumn counter(const std::string& name, double times) {
  EnergyColumn column{name, {}};
  double joules = 1000;
  for (int i = 0; i < 4800; ++i) {
    column.polls.push_back({i * 0.01, times * joules});
    joules += 0.01 * load_w(i * 0.01);
  }
  return column;
}

energy::Energy watts() {
  UpdatePeriod period;
  period.within_poll = true;
  period.poll_s = 0.01;
  SensorResponse response;
  response.kind = ResponseKind::window;
  response.time_s = 0.001;
  response.high_s = 0.002;
  // Polls in steps of 10 mW: those of two levels alone would be of 180 W.
  auto polls = readings("power_w", 1).polls;
  for (std::size_t i = 0; i < polls.size(); ++i)
    polls[i].power_w += 0.01 * static_cast<double>(i % 2);
  return register_energy(polls, period, response, {});
}

TEST(UnitOfPower, IsFoundBesideTheTruth) {
  const auto truth = mean_power(counter("meter_j", 1));
  EXPECT_EQ(unit_of_power(readings("power_w", 1), truth, "a meter").text, "");
  const auto milli = unit_of_power(readings("power_w", 1000), truth, "a meter");
  EXPECT_NEAR(milli.factor, 1e-3, 1e-9);
  EXPECT_THAT(milli.text, HasSubstr("1000 times those of a meter: taken in mW, not in W"));
  // The reader has divided by a thousand, as the name says.
  const auto whole = unit_of_power(readings("power_mw", 1e-3), truth, "a meter");
  EXPECT_NEAR(whole.factor, 1e3, 1e-6);
  EXPECT_THAT(whole.text, HasSubstr("taken in W, not in mW"));
  EXPECT_EQ(unit_of_power(readings("power_w", 0.7), truth, "a meter").factor, 1) << "a gain";
  // No unit follows from a truth that itself cannot be.
  const auto ticks = mean_power(counter("energy_j", 65536));
  EXPECT_EQ(unit_of_power(readings("power_w", 1), ticks, "a counter").factor, 1);
}

TEST(UnitOfPower, OfReadingsThatNoDeviceDrawsIsASmallerOne) {
  EXPECT_EQ(unit_of_power(readings("power_w", 1), {}, "").factor, 1);
  const auto milli = unit_of_power(readings("power_w", 1000), {}, "");
  EXPECT_NEAR(milli.factor, 1e-3, 1e-9);
  EXPECT_THAT(milli.text, HasSubstr("no device draws 60000 W: taken in mW"));
  EXPECT_NEAR(unit_of_power(readings("power", 1e6), {}, "").factor, 1e-6, 1e-12);
}

TEST(UnitOfEnergy, IsFoundBesideTheReadings) {
  const auto shown = watts();
  ASSERT_TRUE(shown.ok());
  EXPECT_NEAR(shown.power_w, kMean_w, 0.5);
  EXPECT_EQ(unit_of_energy(counter("energy_j", 1), shown).factor, 1);
  EXPECT_NEAR(unit_of_energy(counter("energy_j", 1000), shown).factor, 1e-3, 1e-9);
  EXPECT_NEAR(unit_of_energy(counter("energy_uj", 1e-3), shown).factor, 1e3, 1e-6);
  const auto ticks = unit_of_energy(counter("energy_uj", 65536e-6), shown);
  EXPECT_NEAR(ticks.factor, 1e6 / 65536, 1e-6);
  EXPECT_THAT(ticks.text, HasSubstr("counts in counts of 2^-16 J, not in uJ"));
  const auto rounded = unit_of_energy(counter("energy_uj", 15.3 * 0.065536), shown);
  EXPECT_NEAR(rounded.factor, 1 / (15.3 * 0.065536), 1e-9);
  EXPECT_THAT(rounded.text, HasSubstr("taken for 15.3 uJ"));
  // 0.27% is nothing beside an interval of 1%.
  auto wide = shown;
  wide.low_j *= 0.99;
  wide.high_j *= 1.01;
  const auto open = unit_of_energy(counter("energy_uj", 15.3 * 0.065536), wide);
  EXPECT_EQ(open.factor, 1);
  EXPECT_THAT(open.text, HasSubstr("not sure enough to decide"));
  EXPECT_EQ(unit_of_energy(counter("energy_j", 1.2), shown).factor, 1) << "no unit is so far off";
}

// A meter upstream of the card has losses that rise with the load, and losses that do not.
TEST(CompareWithMeter, GivesTheRatioAndWhatOfItChangesWithTheLoad) {
  const auto card = counter("energy_j", 1);
  EnergyColumn meter{"meter_j", {}};
  for (const EnergyPoint& poll : card.polls) {
    meter.polls.push_back({poll.time_s, 1.03 * poll.energy_j + 9 * poll.time_s});
  }
  const auto gain = compare_with_meter(card, mean_power(meter));
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->ratio, 1.03 + 9 / kMean_w, 0.002);
  // Bins of 3 s are of one level each.
  ASSERT_TRUE(gain->slope);
  EXPECT_NEAR(*gain->slope, 1.03, 0.001);
  EXPECT_NEAR(*gain->offset_w, 9, 0.1);
  EXPECT_LT(gain->slope_sd, 0.01);
  EXPECT_FALSE(compare_with_meter(card, {}));
}

}  // namespace
}  // namespace ww::measure
