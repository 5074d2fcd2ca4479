#include "chip_timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "interaction.hpp"
#include "stream.hpp"
#include "test_chip.hpp"
#include "thermal.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

std::vector<ww_vgpu_sample> samples(const ChipTimeline& timeline, std::uint64_t first = 0) {
  std::vector<ww_vgpu_sample> out(timeline.sample_count() - first);
  EXPECT_EQ(timeline.samples_since(first, out), out.size());
  return out;
}

// A launch that takes `seconds` and draws `watts` at the reference state.
LaunchActivity launch(const Chip& chip, double seconds, double watts) {
  const Architecture& architecture = chip.architecture();
  const DvfsState state = architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)];
  LaunchActivity activity;
  activity.cycles = std::llround(seconds * state.clock_hz);
  activity.capacitance_f.assign(9, watts * seconds / 9 / state.voltage_v / state.voltage_v);
  return activity;
}

double joules(const std::vector<ww_vgpu_sample>& taken) {
  return static_cast<double>(taken.back().energy_ticks) / 65536.0;
}

double mean_power_w(const std::vector<ww_vgpu_sample>& taken, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < taken.size(); ++i) {
    sum += static_cast<double>(taken[i].power_uw) * 1e-6;
  }
  return sum / static_cast<double>(taken.size() - first);
}

TEST(ThermalNetwork, SettlesAtPowerTimesResistance) {
  const Chip chip = Chip::load({}).value();
  const ThermalTruth& thermal = chip.truth().thermal;
  ThermalNetwork network(thermal, 9, 0.01);
  std::vector<double> power(9, 0.0);
  power[2] = 90.0;
  for (int i = 0; i < 40000; ++i) {
    network.step(power, thermal.ambient_c);
  }
  const double spreader =
      thermal.ambient_c + 90.0 * (thermal.sink_k_per_w + thermal.spreader_k_per_w);
  EXPECT_NEAR(network.spreader_c(), spreader, 1e-6);
  EXPECT_NEAR(network.zones_c()[2], spreader + 90.0 * thermal.zone_k_per_w, 1e-6);
  EXPECT_NEAR(network.zones_c()[0], spreader, 1e-6);
}

TEST(ThermalNetwork, RisesWithTheZonesTimeConstant) {
  const Chip chip = Chip::load({}).value();
  const ThermalTruth& thermal = chip.truth().thermal;
  ThermalNetwork network(thermal, 9, thermal.zone_tau_s);
  std::vector<double> power(9, 0.0);
  power[0] = 50.0;
  network.step(power, thermal.ambient_c);
  const double rise = network.zones_c()[0] - network.spreader_c();
  EXPECT_NEAR(rise / (50.0 * thermal.zone_k_per_w), 1.0 - std::exp(-1.0), 0.02);
}

TEST(ThermalNetwork, DoesNotDependOnTheStepLength) {
  const Chip chip = Chip::load({}).value();
  const ThermalTruth& thermal = chip.truth().thermal;
  ThermalNetwork coarse(thermal, 9, 0.1);
  ThermalNetwork fine(thermal, 9, 0.001);
  const std::vector<double> power{30, 1, 2, 3, 4, 5, 6, 7, 8};
  coarse.step(power, 33.0);
  for (int i = 0; i < 100; ++i) {
    fine.step(power, 33.0);
  }
  for (std::size_t zone = 0; zone < 9; ++zone) {
    EXPECT_NEAR(coarse.zones_c()[zone], fine.zones_c()[zone], 1e-9);
  }
  EXPECT_NEAR(coarse.sink_c(), fine.sink_c(), 1e-9);
}

TEST(ChipTimeline, EnergyAccumulatorEqualsTheIntegral) {
  const Chip chip = w9100_with(plain());
  ChipTimeline timeline(chip, 1);
  // Launches shorter than a tick, longer ones, and pauses, none aligned to ticks.
  double expected = 0;
  for (int i = 0; i < 50; ++i) {
    timeline.run(launch(chip, 123.4e-6, 100.0));
    timeline.idle_until(timeline.now_ns() + 77'777);
    timeline.run(launch(chip, 7.7e-3, 55.0));
    expected += 123.4e-6 * 100.0 + 7.7e-3 * 55.0;
  }
  timeline.run_repeated(launch(chip, 300e-6, 80.0), 1000);
  expected += 1000 * 300e-6 * 80.0;
  timeline.idle_until(timeline.now_ns() + 2'000'000);
  EXPECT_NEAR(joules(samples(timeline)), expected, 1e-6 * expected + 2.0 / 65536);
}

TEST(ChipTimeline, DrawsTheDynamicPowerOfALaunch) {
  const Chip chip = w9100_with(plain());
  const LaunchActivity activity = launch(chip, 0.02, 80.0);
  EXPECT_NEAR(dynamic_power_w(chip, activity), 80.0, 1e-5);
  ChipTimeline timeline(chip, 1);
  timeline.run(activity);
  EXPECT_NEAR(static_cast<double>(samples(timeline).back().power_uw) * 1e-6, 80.0, 0.01);
}

TEST(ChipTimeline, PowerReadingsIntegrateToTheAccumulator) {
  const Chip chip = Chip::load({}).value();
  ChipTimeline timeline(chip, 3);
  timeline.run_repeated(launch(chip, 300e-6, 80.0), 10000);
  const auto taken = samples(timeline);
  const double seconds = static_cast<double>(taken.size()) * 1e-3;
  EXPECT_NEAR(mean_power_w(taken, 0) * seconds, joules(taken), 1e-3 * joules(taken));
}

TEST(ChipTimeline, RepeatedLaunchesEqualSingleOnes) {
  const Chip chip = w9100_with(plain());
  const LaunchActivity activity = launch(chip, 431e-6, 90.0);
  ChipTimeline repeated(chip, 1);
  ChipTimeline single(chip, 1);
  repeated.run_repeated(activity, 200);
  for (int i = 0; i < 200; ++i) {
    if (i > 0) {
      single.idle_until(single.now_ns() + chip.architecture().launch_overhead_ns);
    }
    single.run(activity);
  }
  EXPECT_EQ(repeated.now_ns(), single.now_ns());
  const auto a = samples(repeated);
  const auto b = samples(single);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(a[i].power_uw), static_cast<double>(b[i].power_uw), 20.0);
  }
}

TEST(ChipTimeline, IsDeterministicForASeedAndItsCalls) {
  const Chip chip = Chip::load({}).value();
  const auto session = [&](std::uint64_t seed) {
    ChipTimeline timeline(chip, seed);
    timeline.run_repeated(launch(chip, 1.3e-3, 90.0), 300);
    timeline.select_dvfs(1);
    timeline.idle_until(timeline.now_ns() + 300'000'000);
    return samples(timeline);
  };
  const auto first = session(7);
  const auto second = session(7);
  const auto other = session(8);
  ASSERT_EQ(first.size(), second.size());
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(ww_vgpu_sample)), 0);
  EXPECT_NE(std::memcmp(first.data(), other.data(), first.size() * sizeof(ww_vgpu_sample)), 0);
}

TEST(ChipTimeline, TicksAreConsecutiveAndOnePeriodApart) {
  const Chip chip = w9100_with({{"period_ns", "10000001"}});
  ChipTimeline timeline(chip, 1);
  timeline.idle_until(1'000'000'000);
  const auto taken = samples(timeline);
  ASSERT_EQ(taken.size(), 99U);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i].index, i);
    EXPECT_EQ(taken[i].time_ns, static_cast<std::int64_t>(i + 1) * 10'000'001);
    EXPECT_EQ(taken[i].flags, static_cast<std::uint32_t>(WW_VGPU_SAMPLE_VALID));
  }
}

TEST(ChipTimeline, VoltageFollowsTheLoadLine) {
  auto changes = plain();
  changes.push_back({"load_line_mohm", "0.4"});
  const Chip chip = w9100_with(changes);
  ChipTimeline timeline(chip, 1);
  timeline.run(launch(chip, 0.5, 100.0));
  const ww_vgpu_sample last = samples(timeline).back();
  const double volt = last.voltage_uv * 1e-6;
  const double watt = static_cast<double>(last.power_uw) * 1e-6;
  EXPECT_NEAR(volt, 1.1687 - 0.4e-3 * watt / volt, 2e-6);
  EXPECT_NEAR(watt, 100.0 * volt * volt / 1.1687 / 1.1687, 0.01);
}

// amdgpu shows the VID of a Hawaii: the die's voltage falls, and what is shown does not.
TEST(ChipTimeline, ARequestedVoltageStaysWhereTheLoadLineLowersTheDies) {
  auto changes = plain();
  changes.push_back({"load_line_mohm", "0.4"});
  const Chip telemetry = w9100_with(changes);
  changes.push_back({"voltage_requested", "true"});
  const Chip requested = w9100_with(changes);
  ChipTimeline measured(telemetry, 1);
  ChipTimeline shown(requested, 1);
  for (ChipTimeline* timeline : {&measured, &shown}) timeline->run(launch(telemetry, 0.5, 100.0));
  EXPECT_EQ(samples(shown).back().voltage_uv, 1168700);
  EXPECT_LT(samples(measured).back().voltage_uv, 1140000);
  EXPECT_EQ(samples(shown).back().power_uw, samples(measured).back().power_uw);
}

// The driver of an MI300 shows no voltage.
TEST(ChipTimeline, AVoltageThatIsNotShownIsZero) {
  auto changes = plain();
  changes.push_back({"voltage_requested", "false\nvoltage_shown = false"});
  const Chip chip = w9100_with(changes);
  ChipTimeline timeline(chip, 1);
  timeline.run(launch(chip, 0.5, 100.0));
  for (const ww_vgpu_sample& sample : samples(timeline)) ASSERT_EQ(sample.voltage_uv, 0);
}

TEST(ChipTimeline, LeakageGrowsFasterThanLinearlyWithTemperature) {
  auto changes = plain();
  changes.push_back({"reference_w", "30.0"});
  const Chip chip = w9100_with(changes);
  ChipTimeline timeline(chip, 1);
  timeline.run(launch(chip, 120.0, 250.0));
  const std::uint64_t hot = timeline.sample_count();
  timeline.idle_until(timeline.now_ns() + 200'000'000'000);
  const auto cooling = samples(timeline, hot + 3000);
  // Idle power against temperature while cooling: slope at the hot end above that at the cold end.
  const auto slope = [&](std::size_t a, std::size_t b) {
    return static_cast<double>(cooling[a].power_uw - cooling[b].power_uw) /
           static_cast<double>(cooling[a].temperature_mc - cooling[b].temperature_mc);
  };
  EXPECT_GT(cooling.front().temperature_mc, cooling.back().temperature_mc + 10000);
  EXPECT_GT(slope(0, 5000), 1.1 * slope(40000, 60000));
}

// So little that the chip is as warm as its surroundings everywhere.
TEST(ChipTimeline, LeakageIsThatOfItsTemperature) {
  for (const char* ambient_c : {"15.0", "45.0", "85.0"}) {
    auto changes = plain();
    changes.push_back({"reference_w", "1.0"});
    changes.push_back({"ambient_c", ambient_c});
    const Chip chip = w9100_with(changes);
    const LeakageTruth& leakage = chip.truth().leakage;
    ChipTimeline timeline(chip, 1);
    timeline.idle_until(1'000'000'000);
    const ww_vgpu_sample last = samples(timeline).back();
    const double celsius = last.temperature_mc * 1e-3;
    EXPECT_NEAR(celsius, std::stod(ambient_c), 2);
    const double grown = std::exp((celsius - leakage.reference_c) / leakage.efold_c);
    const double expected = leakage.flat_share + (1 - leakage.flat_share) * grown;
    EXPECT_NEAR(static_cast<double>(last.power_uw) * 1e-6, expected, 0.005 * expected);
  }
}

TEST(ChipTimeline, WindowDelayAndLagShapeTheRegister) {
  auto changes = plain();
  changes.push_back({"window_ns", "10000000"});
  changes.push_back({"delay_ns", "5000000"});
  const Chip chip = w9100_with(changes);
  ChipTimeline timeline(chip, 1);
  timeline.idle_until(20'000'000);
  timeline.run(launch(chip, 0.05, 100.0));
  const auto taken = samples(timeline);
  const auto watt = [&](std::size_t index) {
    return static_cast<double>(taken[index].power_uw) * 1e-6;
  };
  EXPECT_NEAR(watt(19 + 5), 0.0, 0.01);
  EXPECT_NEAR(watt(19 + 5 + 5), 50.0, 0.1);
  EXPECT_NEAR(watt(19 + 5 + 10), 100.0, 0.1);

  changes = plain();
  changes.push_back({"lag_s", "0.02"});
  const Chip lagging = w9100_with(changes);
  ChipTimeline late(lagging, 1);
  late.idle_until(20'000'000);
  late.run(launch(lagging, 0.05, 100.0));
  EXPECT_NEAR(static_cast<double>(samples(late)[39].power_uw) * 1e-6,
              100.0 * (1.0 - std::exp(-1.0)), 0.2);
}

TEST(ChipTimeline, AChipAtRestIsWarmAndShowsItsPowerBeforeTheWindowHasFilled) {
  auto changes = plain();
  changes.push_back({"reference_w", "20.0"});
  const Chip plain_chip = w9100_with(changes);
  changes.push_back({"window_ns", "10000000"});
  const Chip averaging = w9100_with(changes);
  ChipTimeline at_once(plain_chip, 1), averaged(averaging, 1);
  for (ChipTimeline* timeline : {&at_once, &averaged}) timeline->idle_until(50'000'000);
  const auto expected = samples(at_once), found = samples(averaged);
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_GT(expected.front().power_uw, 5'000'000);
  EXPECT_NEAR(expected.front().temperature_mc, expected.back().temperature_mc, 10);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found[i].power_uw), static_cast<double>(expected[i].power_uw),
                10'000)
        << i;
  }
}

TEST(ChipTimeline, SlowerStatesDrawLess) {
  const Chip chip = Chip::load({}).value();
  ChipTimeline timeline(chip, 1);
  const LaunchActivity activity = launch(chip, 1e-3, 90.0);
  timeline.run_repeated(activity, 1000);
  const double fast = mean_power_w(samples(timeline), 100);
  timeline.select_dvfs(0);
  EXPECT_EQ(timeline.dvfs_state(), 0);
  const std::uint64_t first = timeline.sample_count();
  timeline.run_repeated(activity, 1000);
  const auto slow = samples(timeline, first);
  EXPECT_LT(mean_power_w(slow, 100), 0.6 * fast);
  EXPECT_EQ(slow.back().clock_khz, 500000);
  EXPECT_NEAR(slow.back().voltage_uv, 900000, 20000);
}

TEST(ChipTimeline, LowersTheClockUntilThePowerIsThatOfTheCap) {
  auto changes = plain();
  const Chip free_chip = w9100_with(changes);
  changes.push_back({"slope", "1.0\npower_cap_w = 60.0"});
  const Chip capped_chip = w9100_with(changes);
  ChipTimeline free(free_chip, 1);
  ChipTimeline capped(capped_chip, 1);
  const LaunchActivity activity = launch(free_chip, 3.3e-3, 90.0);
  free.run_repeated(activity, 1000);
  capped.run_repeated(activity, 1000);
  const auto last = samples(capped).back();
  EXPECT_LE(mean_power_w(samples(capped), 1000), 60.5);
  EXPECT_GE(mean_power_w(samples(capped), 1000), 57.5);
  EXPECT_LT(last.clock_khz, samples(free).back().clock_khz);
  EXPECT_LT(last.voltage_uv, samples(free).back().voltage_uv);
  // Equal work takes longer by the clock, and costs less by the voltage.
  EXPECT_GT(capped.now_ns(), free.now_ns());
  const double volts = last.voltage_uv * 1e-6 / (samples(free).back().voltage_uv * 1e-6);
  EXPECT_NEAR(joules(samples(capped)) / joules(samples(free)), volts * volts, 0.03);
  // Idle, the clock comes back.
  capped.idle_until(capped.now_ns() + 1'000'000'000);
  EXPECT_EQ(samples(capped).back().clock_khz, samples(free).back().clock_khz);
}

TEST(ChipTimeline, LosesNoWorkWhereTheClockChangesWithinALaunch) {
  auto changes = plain();
  changes.push_back({"slope", "1.0\npower_cap_w = 60.0"});
  const Chip chip = w9100_with(changes);
  // Launches longer and shorter than a tick.
  for (const double seconds : {7.7e-3, 0.2e-3}) {
    ChipTimeline timeline(chip, 1);
    const LaunchActivity activity = launch(chip, seconds, 90.0);
    const auto count = std::llround(2.0 / seconds);
    timeline.run_repeated(activity, count);
    timeline.idle_until(timeline.now_ns() + 2'000'000);
    // Work at a voltage: sum over ticks of power over V^2 is the capacitance that was switched.
    double switched = 0;
    for (const ww_vgpu_sample& sample : samples(timeline)) {
      const double volt = sample.voltage_uv * 1e-6;
      switched += static_cast<double>(sample.power_uw) * 1e-6 / volt / volt * 1e-3;
    }
    const double wanted =
        static_cast<double>(count) *
        std::accumulate(activity.capacitance_f.begin(), activity.capacitance_f.end(), 0.0);
    EXPECT_NEAR(switched / wanted, 1, 2e-3) << seconds;
  }
}

// The fabric's clock stays when the core's falls; only the voltage changes.
TEST(ChipTimeline, TheFabricsClockDoesNotFollowTheCores) {
  Changes changes = plain();
  changes.emplace_back("cycle_pf", "1000.0");
  const Chip chip = w9100_with(changes);
  ChipTimeline timeline(chip, 1);
  const double fabric_hz = chip.truth().fabric.clock_hz;
  timeline.idle_until(200'000'000);
  EXPECT_NEAR(mean_power_w(samples(timeline), 100), 1e-9 * fabric_hz * 1.1687 * 1.1687, 1e-3);
  timeline.select_dvfs(0);
  const std::uint64_t first = timeline.sample_count();
  timeline.idle_until(400'000'000);
  EXPECT_NEAR(mean_power_w(samples(timeline, first), 100), 1e-9 * fabric_hz * 0.9 * 0.9, 1e-3);
}

TEST(ChipTimeline, MissingAnswersAreFlagged) {
  const Chip chip = w9100_with({{"missing_probability", "0.25"}});
  ChipTimeline timeline(chip, 1);
  timeline.idle_until(4'000'000'000);
  int missing = 0;
  for (const ww_vgpu_sample& sample : samples(timeline)) {
    missing += (sample.flags & WW_VGPU_SAMPLE_VALID) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(missing, 1000, 120);
}

TEST(ChipTimeline, ASensorWithoutAnAccumulatorSaysSo) {
  for (const bool there : {true, false}) {
    const Chip chip =
        w9100_with({{"period_ns", there ? "1000000" : "1000000\naccumulator = false"}});
    ChipTimeline timeline(chip, 1);
    timeline.idle_until(50'000'000);
    for (const ww_vgpu_sample& sample : samples(timeline)) {
      EXPECT_EQ((sample.flags & WW_VGPU_SAMPLE_NO_ENERGY) == 0, there);
      EXPECT_NE(sample.flags & WW_VGPU_SAMPLE_VALID, 0U);
    }
  }
}

// White noise averages out as the root of the number of readings; 1/f noise hardly does.
TEST(ChipTimeline, FlickerDoesNotAverageOut) {
  const auto spread = [](const char* key, const char* value) {
    Changes changes = plain();
    changes.push_back({"idle_cycle_pf", "20000.0"});
    changes.push_back({key, value});
    const Chip chip = w9100_with(changes);
    std::vector<double> means;
    ChipTimeline timeline(chip, 3);
    timeline.idle_until(64'000'000'000);
    const auto taken = samples(timeline);
    const std::size_t part = taken.size() / 16;
    for (std::size_t first = 0; first + part <= taken.size(); first += part) {
      double sum = 0;
      for (std::size_t i = first; i < first + part; ++i) {
        sum += static_cast<double>(taken[i].power_uw) / static_cast<double>(part);
      }
      means.push_back(sum);
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / 16;
    double square = 0;
    for (const double value_w : means) square += (value_w - mean) * (value_w - mean) / 16;
    return std::sqrt(square) / mean;
  };
  const double white = spread("noise_relative", "0.001");
  const double flicker = spread("gain", "1.0\nflicker_relative = 0.001");
  EXPECT_LT(white, 1e-4);
  EXPECT_GT(flicker, 2e-4);
}

TEST(ChipTimeline, GainMayFollowTheTemperature) {
  const auto last_w = [](const char* gain) {
    Changes changes = plain();
    changes.push_back({"idle_cycle_pf", "20000.0"});
    changes.push_back({"gain", gain});
    ChipTimeline timeline(w9100_with(changes), 1);
    timeline.idle_until(2'000'000'000);
    return samples(timeline).back();
  };
  const ww_vgpu_sample even = last_w("1.0");
  const ww_vgpu_sample follows = last_w("1.0\ngain_per_k = 0.001");
  const double kelvin = even.temperature_mc * 1e-3 - 45;
  EXPECT_NEAR(static_cast<double>(follows.power_uw) / static_cast<double>(even.power_uw),
              1 + 0.001 * kelvin, 1e-4);
}

TEST(ChipTimeline, SensorInfoStatesTheDataSheet) {
  const Chip chip = Chip::load({}).value();
  const ww_vgpu_sensor_info info = ChipTimeline(chip, 1).sensor_info();
  EXPECT_EQ(info.period_ns, 1'000'000);
  EXPECT_EQ(info.temperature_resolution_mc, 1000);
}

// Watts of a rail between two of its readings.
double rail_w(const ww_vgpu_rail_sample& from, const ww_vgpu_rail_sample& to, std::size_t rail) {
  return static_cast<double>(to.energy_ticks[rail] - from.energy_ticks[rail]) / 65536.0 /
         (static_cast<double>(to.time_ns - from.time_ns) * 1e-9);
}

TEST(RailsOfAPackage, EachCountsItsPartWithItsOwnGain) {
  const Chip chip = Chip::load({.chip = "mi300x"}).value();
  const Truth& truth = chip.truth();
  ChipTimeline timeline(chip, 1);
  ASSERT_EQ(timeline.rail_names().size(), 4U);
  EXPECT_STREQ(timeline.rail_names()[2], "aid_energy");
  constexpr std::int64_t kSecond = 1'000'000'000;
  timeline.idle_until(2 * kSecond);
  LaunchActivity traffic = launch(chip, 1, 50);
  traffic.rails = {.aid_j = 20, .hbm_j = 8};
  timeline.run_repeated(traffic, 4);
  std::vector<ww_vgpu_rail_sample> taken(1000);
  taken.resize(timeline.rails_since(0, taken));
  ASSERT_EQ(taken.size(), 600U);
  std::vector<ww_vgpu_rail_sample> rest(10);
  EXPECT_EQ(timeline.rails_since(599, rest), 1U);
  EXPECT_EQ(rest[0].index, 599U);
  const auto idle = [&](std::size_t rail) { return rail_w(taken[9], taken[190], rail); };
  const auto busy = [&](std::size_t rail) { return rail_w(taken[210], taken[590], rail); };
  const RailsTruth& rails = truth.rails;
  EXPECT_NEAR(idle(2), rails.aid_gain * truth.io_dies.idle_w, 0.1);
  EXPECT_NEAR(busy(2) - idle(2), rails.aid_gain * 20, 0.1);
  EXPECT_NEAR(busy(3) - idle(3), rails.hbm_gain * 8, 0.1);
  EXPECT_GT(busy(1) - idle(1), rails.xcd_gain * 49);
  // The socket has what the parts have, and the regulators' losses.
  const double parts_w =
      busy(1) / rails.xcd_gain + busy(2) / rails.aid_gain + busy(3) / rails.hbm_gain;
  const RegulatorTruth& regulator = truth.regulator;
  EXPECT_NEAR(
      busy(0) / truth.sensor.gain,
      regulator.offset_w + parts_w * (regulator.slope + regulator.quadratic_per_w * parts_w), 1.0);
}

TEST(RailsOfAPackage, AreAbsentWhereNoPartIsMeteredApart) {
  ChipTimeline timeline(Chip::load({}).value(), 1);
  timeline.idle_until(1'000'000'000);
  std::vector<ww_vgpu_rail_sample> taken(1);
  EXPECT_TRUE(timeline.rail_names().empty());
  EXPECT_EQ(timeline.rails_since(0, taken), 0U);
}

TEST(W9100, DrawsWhatSuchACardDraws) {
  const Chip chip = w9100_with({{"launch_overhead_ns", "0"}});
  ChipTimeline timeline(chip, 1);
  timeline.idle_until(2'000'000'000);
  const double idle = mean_power_w(samples(timeline), 0);
  EXPECT_GT(idle, 24.0);
  EXPECT_LT(idle, 36.0);
  StreamOptions options;
  options.beats = 16384;
  timeline.run_repeated(stream(chip, 0, 0, options), 3'000'000);
  const auto taken = samples(timeline);
  const double busy = mean_power_w(taken, taken.size() - 1000);
  RecordProperty("idle_w", std::to_string(idle));
  RecordProperty("busy_w", std::to_string(busy));
  EXPECT_GT(busy, 105.0);
  EXPECT_LT(busy, 130.0);
  EXPECT_GT(taken.back().temperature_mc, 40000);
  EXPECT_LT(taken.back().temperature_mc, 52000);
}

}  // namespace
}  // namespace ww::sim::gpu
