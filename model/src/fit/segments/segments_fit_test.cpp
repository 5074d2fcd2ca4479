#include "ww/model/segments_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ww::model {
namespace {

// Three engines of two fours of CUs, two quadrants of two channels.
constexpr const char* kSmallFloorplan = R"(
name = "small"
source = "made up"
estimated = true
position_error_95_mm = 0.1
width_mm = 20.0
height_mm = 20.0
registers_to_l1_mm = 3.0
quadrants = [[0, 1], [2, 3]]
[[engine]]
cu = [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0], [2.0, 2.0], [2.0, 5.0], [2.0, 5.0], [2.0, 5.0], [2.0, 5.0]]
[[engine]]
cu = [[18.0, 2.0], [18.0, 2.0], [18.0, 2.0], [18.0, 2.0], [18.0, 5.0], [18.0, 5.0], [18.0, 5.0], [18.0, 5.0]]
[[engine]]
cu = [[2.0, 18.0], [2.0, 18.0], [2.0, 18.0], [2.0, 18.0], [2.0, 14.0], [2.0, 14.0], [2.0, 14.0], [2.0, 14.0]]
[[l2]]
at = [9.0, 10.0]
memory_controller = [0.0, 10.0]
[[l2]]
at = [9.0, 11.0]
memory_controller = [0.0, 15.0]
[[l2]]
at = [11.0, 10.0]
memory_controller = [20.0, 10.0]
[[l2]]
at = [11.0, 11.0]
memory_controller = [20.0, 18.0]
)";

std::vector<SegmentPoint> small_points() {
  const auto points = segment_points(kSmallFloorplan);
  EXPECT_TRUE(points) << points.error().text();
  return points ? *points : std::vector<SegmentPoint>{};
}

// A chip without noise: power has a part of its own for every engine and quadrant, a part that does
// not go with the rate, and the segments' energies.
std::vector<SegmentReading> readings_of(const std::vector<SegmentPoint>& points, double legs_j,
                                        double memory_j) {
  std::vector<SegmentReading> readings;
  for (std::int64_t block = 1; block <= 2; ++block) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& point = points[i];
      if (point.segment == "registers_l1") continue;
      // Longer ways are slower, as latency makes them.
      const double rate = (point.slow          ? 1e12
                           : point.from_memory ? 0.7e12
                                               : 2e12) *
                          (1 - 1e-3 * point.mm);
      double watts = 40 + 2.0 * static_cast<double>(block) + 3 * point.engine;
      watts += rate * (10e-12 + 1e-12 * point.channels.front());
      double memory_rate = 0;
      if (point.segment == "legs") watts += rate * legs_j * point.mm;
      if (point.from_memory) {
        memory_rate = 0.9 * rate;
        watts += memory_rate * (12e-12 + memory_j * point.mm);
      }
      readings.push_back({i, block, watts, rate, memory_rate});
    }
  }
  return readings;
}

TEST(Segments, ComparesFoursOfCusAtEveryQuadrant) {
  std::set<std::tuple<int, int, std::vector<int>>> legs;
  std::set<int> channels;
  std::set<std::pair<int, bool>> registers;
  for (const auto& point : small_points()) {
    if (point.segment == "legs") {
      legs.insert({point.engine, point.group, point.channels});
    } else if (point.segment == "l2_memory") {
      channels.insert(point.channels.front());
    } else {
      registers.insert({point.lanes, point.ones});
      EXPECT_EQ(point.mm, 3.0);
    }
  }
  EXPECT_EQ(legs.size(), 3U * 2U * 2U);
  EXPECT_EQ(channels, (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(registers.size(), 3U * 2U);
}

TEST(Segments, TakesDistancesFromThePublishedFloorplan) {
  const auto points = small_points();
  ASSERT_FALSE(points.empty());
  const SegmentPoint& first = points.front();  // CUs at (2, 2), channels at (9, 10) and (9, 11)
  EXPECT_NEAR(first.mm, 7 + 8.5, 1e-9);
  for (const auto& point : points) {
    if (point.segment == "l2_memory" && point.channels.front() == 3) {
      EXPECT_NEAR(point.mm, 9 + 7, 1e-9);
    }
  }
}

TEST(Segments, FindsEnergiesUnderOffsetsAndUnequalRates) {
  const auto points = small_points();
  const auto fit = fit_segments(points, readings_of(points, 200e-15, 150e-15));
  ASSERT_EQ(fit.legs.status, RowStatus::ok) << fit.legs.reason;
  EXPECT_NEAR(*fit.legs.value, 200, 200 * 0.03);
  EXPECT_LE(*fit.legs.low, 200);
  EXPECT_GE(*fit.legs.high, 200 - 1e-6);
  ASSERT_EQ(fit.l2_memory.status, RowStatus::ok) << fit.l2_memory.reason;
  EXPECT_NEAR(*fit.l2_memory.value, 150, 150 * 0.03);
  EXPECT_LE(*fit.l2_memory.low, 150);
  EXPECT_GE(*fit.l2_memory.high, 150 - 1e-6);
}

// 0.3 mV lower for every watt: power falls with the square of the voltage.
TEST(Segments, AllowForTheLoadLine) {
  const auto points = small_points();
  auto readings = readings_of(points, 200e-15, 150e-15);
  constexpr double nominal_v = 1;
  for (auto& reading : readings) {
    const double watts = reading.power_w;
    double volt = nominal_v;
    for (int i = 0; i < 20; ++i) {
      reading.power_w = watts * volt * volt;
      volt = nominal_v - 0.3e-3 * reading.power_w;
    }
    reading.voltage_v = volt;
  }
  const auto fit = fit_segments(points, readings, {.nominal_v = nominal_v, .idle_w = {}});
  ASSERT_EQ(fit.legs.status, RowStatus::ok) << fit.legs.reason;
  EXPECT_NEAR(*fit.legs.value, 200, 200 * 0.03);
  EXPECT_LE(*fit.legs.low, 200);
  EXPECT_GE(*fit.legs.high, 200 - 1e-6);
  for (auto& reading : readings) reading.voltage_v.reset();
  EXPECT_LT(*fit_segments(points, readings).legs.value, 200 * 0.93);
}

// A driver that shows the requested voltage: the load line lowers power all the same.
TEST(Segments, AssumeALoadLineWhereTheVoltageIsTheRequestedOne) {
  const auto points = small_points();
  auto readings = readings_of(points, 200e-15, 150e-15);
  constexpr double nominal_v = 1;
  constexpr double ohm = 0.3e-3;
  for (auto& reading : readings) {
    const double watts = reading.power_w;
    double volt = nominal_v;
    for (int i = 0; i < 20; ++i) {
      reading.power_w = watts * volt * volt;
      volt = nominal_v - ohm * reading.power_w / volt;
    }
    reading.voltage_v = nominal_v;
  }
  const SegmentSurroundings surroundings{
      .nominal_v = nominal_v, .idle_w = 20, .idle_voltage_v = nominal_v, .voltage_step_v = 0};
  const auto fit = fit_segments(points, readings, surroundings);
  EXPECT_FALSE(fit.no_voltage_reason.empty());
  ASSERT_EQ(fit.legs.status, RowStatus::ok) << fit.legs.reason;
  EXPECT_LE(*fit.legs.low, 200);
  EXPECT_GE(*fit.legs.high, 200);
  const auto trusted = fit_segments(points, readings, {.nominal_v = nominal_v, .idle_w = 20});
  EXPECT_TRUE(trusted.no_voltage_reason.empty());
  EXPECT_LT(*trusted.legs.value, 0.95 * *fit.legs.value);
}

// Which power a slower stream saves is not known: with idle power the interval has both.
TEST(Segments, WidenByWhatRateMayMeanForPower) {
  const auto points = small_points();
  const auto readings = readings_of(points, 200e-15, 150e-15);
  const auto without = fit_segments(points, readings).legs;
  const auto with = fit_segments(points, readings, {.nominal_v = 0, .idle_w = 20}).legs;
  ASSERT_EQ(with.status, RowStatus::ok) << with.reason;
  // Far fours are slower here.
  EXPECT_GT(*with.value, *without.value);
  EXPECT_GT(*with.high - *with.low, *without.high - *without.low);
  EXPECT_LE(*with.low, 200);
  EXPECT_GE(*with.high, 200);
}

TEST(Segments, AreNotIdentifiedWithoutADistance) {
  auto points = small_points();
  const auto readings = readings_of(points, 200e-15, 150e-15);
  for (auto& point : points) point.mm = 5;
  const auto fit = fit_segments(points, readings);
  for (const auto* row : {&fit.legs, &fit.l2_memory, &fit.registers_l1}) {
    EXPECT_EQ(row->status, RowStatus::not_identified) << row->name;
    EXPECT_FALSE(row->reason.empty()) << row->name;
    EXPECT_FALSE(row->value) << row->name;
  }
}

TEST(Segments, AreNotIdentifiedWhereChannelsDifferByMoreThanDistance) {
  const auto points = small_points();
  auto readings = readings_of(points, 200e-15, 150e-15);
  for (auto& reading : readings) {
    const auto& point = points[reading.point];
    if (!point.from_memory) continue;
    reading.power_w += reading.memory_bits_per_s * (point.channels.front() % 2 == 0 ? 4e-12 : 0);
  }
  const auto fit = fit_segments(points, readings);
  EXPECT_EQ(fit.legs.status, RowStatus::ok) << fit.legs.reason;
  EXPECT_EQ(fit.l2_memory.status, RowStatus::not_identified);
}

// Registers alone: what follows data, what follows bytes whatever they are, and the rest.
std::vector<SegmentReading> register_readings(const std::vector<SegmentPoint>& points,
                                              double data_j, double bytes_j) {
  std::vector<SegmentReading> readings;
  constexpr double rate = 5e12;
  constexpr double toggle_rate = 0.55;
  for (std::int64_t block = 1; block <= 3; ++block) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& point = points[i];
      if (point.segment != "registers_l1") continue;
      const double bits = rate * point.lanes / 16;
      // A scatter that no column follows.
      double watts = 60 + 2.0 * static_cast<double>(block) +
                     0.02 * static_cast<double>((i + static_cast<std::size_t>(block)) % 3);
      watts += bits * bytes_j;
      if (!point.ones) watts += rate * 1e-12 + bits * data_j * toggle_rate / 0.5;
      readings.push_back({.point = i,
                          .block = block,
                          .power_w = watts,
                          .crossbar_bits_per_s = rate,
                          .toggle_rate = point.ones ? 0 : toggle_rate});
    }
  }
  return readings;
}

TEST(Segments, TellWhatDataCostOnTheWayToRegistersFromWhatLanesDo) {
  const auto points = small_points();
  const auto fit = fit_segments(points, register_readings(points, 400e-15, 700e-15));
  const Figure& row = fit.registers_l1_per_bit;
  ASSERT_EQ(row.status, RowStatus::ok) << row.reason;
  EXPECT_EQ(row.unit, "fJ/bit");
  EXPECT_NEAR(*row.value, 400, 400 * 0.03);  // half of what heat may add is taken off
  EXPECT_LE(*row.low, 400);
  EXPECT_GE(*row.high, 400);
  EXPECT_NEAR(fit.registers.any_data_fj_per_bit, 700, 7);
  EXPECT_LT(fit.registers.inflation, 1.01);
  // No run shows how much of it is wire.
  EXPECT_EQ(fit.registers_l1.status, RowStatus::not_identified);
  EXPECT_NE(fit.registers_l1.reason.find("differ by 0 mm"), std::string::npos)
      << fit.registers_l1.reason;
}

// Six quiet runs into registers round alike in every block.
TEST(Segments, HaveTheStepsOfQuietReadingsInWhatARegistersBitCosts) {
  constexpr double kStep_w = 0.25;
  constexpr int kTries = 60;
  const auto points = small_points();
  int held = 0, held_without = 0;
  for (int i = 0; i < kTries; ++i) {
    const double truth = 400 + 1.3 * i;
    auto readings = register_readings(points, truth * 1e-15, 700e-15);
    for (SegmentReading& reading : readings) {
      const double watts = reading.power_w - 2.0 * static_cast<double>(reading.block) + 0.031 * i;
      reading.power_w = std::round(watts / kStep_w) * kStep_w;
    }
    const Figure without = fit_segments(points, readings).registers_l1_per_bit;
    for (SegmentReading& reading : readings) reading.power_spread_w = 0;
    SegmentSurroundings surroundings;
    surroundings.power_step_w = kStep_w;
    const Figure row = fit_segments(points, readings, surroundings).registers_l1_per_bit;
    ASSERT_TRUE(row.value && without.value) << row.reason;
    EXPECT_GT(*row.high - *row.low, *without.high - *without.low);
    held += *row.low <= truth && truth <= *row.high ? 1 : 0;
    held_without += *without.low <= truth && truth <= *without.high ? 1 : 0;
  }
  EXPECT_GE(held, kTries - 4);
  EXPECT_GT(held, held_without);
}

TEST(Segments, AddTheSensorsTolerancesToWhatARegistersBitCosts) {
  const auto points = small_points();
  auto fit = fit_segments(points, register_readings(points, 400e-15, 700e-15));
  const Figure& row = fit.registers_l1_per_bit;
  ASSERT_TRUE(row.value && row.low && row.high) << row.reason;
  fit.gain_tolerance_95 = 0.08;
  fit.regulator_slope_tolerance_95 = 0.06;
  const auto absolute = registers_l1_absolute(fit);
  ASSERT_TRUE(absolute);
  EXPECT_EQ(absolute->value, *row.value);
  // The sensor multiplies: (value - x)^2 = half^2 + (0.1 x)^2 at either end x.
  const auto square = [](double x) { return x * x; };
  EXPECT_NEAR(square(*row.value - absolute->low),
              square(*row.value - *row.low) + square(0.1 * absolute->low), 1e-6);
  EXPECT_NEAR(square(absolute->high - *row.value),
              square(*row.high - *row.value) + square(0.1 * absolute->high), 1e-6);
  EXPECT_GT(absolute->high - *row.value, *row.value - absolute->low);
  fit.registers_l1_per_bit.value.reset();
  EXPECT_FALSE(registers_l1_absolute(fit));
}

TEST(Segments, DoNotTakeLanesArithmeticForTheWayToRegisters) {
  const auto points = small_points();
  const auto fit = fit_segments(points, register_readings(points, 0, 700e-15));
  EXPECT_EQ(fit.registers_l1_per_bit.status, RowStatus::not_identified);
  EXPECT_FALSE(fit.registers_l1_per_bit.value);
}

// Half as many lanes only ever carry ones: data and bytes then go together.
TEST(Segments, AreNotIdentifiedWhereBytesAndDataGoTogether) {
  const auto points = small_points();
  auto readings = register_readings(points, 400e-15, 700e-15);
  std::erase_if(readings, [&](const SegmentReading& reading) {
    const auto& point = points[reading.point];
    return point.ones != (point.lanes == 16);
  });
  const auto fit = fit_segments(points, readings);
  EXPECT_EQ(fit.registers_l1_per_bit.status, RowStatus::not_identified);
  EXPECT_FALSE(fit.registers_l1_per_bit.reason.empty());
}

TEST(Segments, AreNotIdentifiedWhereMoreRegistersTakeMoreTime) {
  const auto points = small_points();
  auto readings = register_readings(points, 400e-15, 700e-15);
  for (auto& reading : readings) {
    if (points[reading.point].lanes == 64) reading.crossbar_bits_per_s *= 0.9;
  }
  const auto fit = fit_segments(points, readings);
  EXPECT_EQ(fit.registers_l1_per_bit.status, RowStatus::not_identified);
  EXPECT_NE(fit.registers_l1_per_bit.reason.find("rates"), std::string::npos);
}

TEST(Segments, AreNotIdentifiedWhereLinesComeInAnotherOrder) {
  const auto points = small_points();
  auto readings = register_readings(points, 400e-15, 700e-15);
  for (auto& reading : readings) {
    const auto& point = points[reading.point];
    if (point.lanes == 16 && !point.ones) reading.toggle_rate = 0.57;
  }
  const auto fit = fit_segments(points, readings);
  EXPECT_EQ(fit.registers_l1_per_bit.status, RowStatus::not_identified);
  EXPECT_NE(fit.registers_l1_per_bit.reason.find("toggle"), std::string::npos);
}

}  // namespace
}  // namespace ww::model
