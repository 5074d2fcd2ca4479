#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chip_timeline.hpp"
#include "interaction.hpp"
#include "truth.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::sim::gpu {
namespace {

class RandomChip : public ::testing::TestWithParam<ChipClass> {};

Result<Chip> draw(std::uint64_t seed, ChipClass chip_class) {
  return Chip::load({.chip = "random", .seed = seed, .chip_class = chip_class});
}

TEST_P(RandomChip, IsValidAndPlausibleForTwoHundredSeeds) {
  double least_residual = 1e9;
  int warmer = 0;
  double most_residual = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto chip = draw(seed, GetParam());
    ASSERT_TRUE(chip) << "seed " << seed << ": " << chip.error().text();
    const Architecture& architecture = chip->architecture();
    const Truth& truth = chip->truth();
    EXPECT_EQ(truth.chip_class, GetParam());
    const DvfsState& top = architecture.dvfs.back();
    EXPECT_GE(top.voltage_v, 0.75);
    EXPECT_LE(top.voltage_v, 1.2);
    EXPECT_GE(top.clock_hz, 0.6e9);
    EXPECT_LE(top.clock_hz, 1.8e9);
    EXPECT_TRUE(std::is_sorted(
        architecture.dvfs.begin(), architecture.dvfs.end(),
        [](const DvfsState& a, const DvfsState& b) { return a.voltage_v < b.voltage_v; }));
    const double total = truth.wires.ground_f_per_mm + 2 * truth.wires.coupling_f_per_mm;
    EXPECT_GE(total, 149e-15);
    EXPECT_LE(total, 651e-15);
    for (int engine = 0; engine < architecture.shader_engines; ++engine) {
      for (int cu = 0; cu < architecture.cus_per_engine; ++cu) {
        for (int channel = 0; channel < architecture.l2_channels; ++channel) {
          ASSERT_GT(chip->crossbar_cycles(engine, cu, channel), 0);
          ASSERT_LT(chip->crossbar_cycles(engine, cu, channel), 100);
        }
      }
    }
    const Interaction found = interaction(*chip, StreamPattern::random, 64);
    EXPECT_GT(found.per_true_mm, 0.0) << seed;
    if (GetParam() != ChipClass::strong) {
      EXPECT_EQ(truth.thermal.dynamic_per_k, 0) << seed;
    }
    if (truth.thermal.dynamic_per_k > 0) {  // wrong in another way
      ++warmer;
      continue;
    }
    least_residual = std::min(least_residual, found.residual_ratio);
    most_residual = std::max(most_residual, found.residual_ratio);
  }
  RecordProperty("least_residual", std::to_string(least_residual));
  RecordProperty("most_residual", std::to_string(most_residual));
  switch (GetParam()) {
    case ChipClass::nested: EXPECT_LT(most_residual, 0.002); break;
    case ChipClass::mild: EXPECT_LT(most_residual, 0.29); break;
    case ChipClass::strong:
      EXPECT_GT(least_residual, 0.27);
      EXPECT_GT(warmer, 0);
      break;
  }
}

TEST_P(RandomChip, IsTheSameForTheSameSeed) {
  const Chip a = draw(11, GetParam()).value();
  const Chip b = draw(11, GetParam()).value();
  const Chip other = draw(12, GetParam()).value();
  EXPECT_EQ(a.public_floorplan_toml(), b.public_floorplan_toml());
  EXPECT_NE(a.public_floorplan_toml(), other.public_floorplan_toml());
  EXPECT_EQ(a.truth().wires.ground_f_per_mm, b.truth().wires.ground_f_per_mm);
  EXPECT_EQ(a.truth().sensor.gain, b.truth().sensor.gain);
  EXPECT_EQ(a.truth().trunks[5].scale, b.truth().trunks[5].scale);
}

// Two arrays an engine, and what a Radeon's driver offers for its power.
TEST(RandomRdnaChips, HaveEnginesOfArraysAndARegisterOfWholeWatts) {
  for (const ChipClass chip_class : {ChipClass::nested, ChipClass::mild, ChipClass::strong}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto chip = Chip::load({.chip = "random_rdna", .seed = seed, .chip_class = chip_class});
      ASSERT_TRUE(chip) << "seed " << seed << ": " << chip.error().text();
      const Truth& truth = chip->truth();
      EXPECT_EQ(chip->architecture().gfx_target, "gfx1030");
      EXPECT_EQ(truth.engines() % chip->architecture().arrays_per_engine(), 0);
      EXPECT_GE(truth.engines(), 4);
      EXPECT_LE(truth.engines(), 8);
      EXPECT_TRUE(chip->public_floorplan_toml().empty());
      EXPECT_FALSE(truth.sensor.accumulator);
      EXPECT_EQ(truth.sensor.resolution_w, 1.0);
      for (const Point cu : truth.geometry.compute_units.back()) {
        EXPECT_GT(cu.y_mm, 0);
        EXPECT_LT(cu.y_mm, truth.geometry.height_mm);
      }
    }
  }
}

// A chip just beyond the limit of a class is hardly worse than one just within it.
TEST(RandomChips, LeaveNoGapBetweenMildAndStrong) {
  double most_mild = 0;
  double least_strong = 1;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Chip strong = draw(seed, ChipClass::strong).value();
    if (strong.truth().thermal.dynamic_per_k > 0) continue;
    least_strong =
        std::min(least_strong, interaction(strong, StreamPattern::random, 64).residual_ratio);
    most_mild = std::max(
        most_mild,
        interaction(draw(seed, ChipClass::mild).value(), StreamPattern::random, 64).residual_ratio);
  }
  EXPECT_LT(least_strong - most_mild, 0.08);
}

TEST(RandomChips, HaveSensorsThatCardsHave) {
  int alone = 0, part = 0, lagging = 0, quiet_watts = 0, requested = 0, none = 0;
  constexpr int kChips = 80;
  for (std::uint64_t seed = 1; seed <= kChips; ++seed) {
    const Chip chip = draw(seed, ChipClass::mild).value();
    const SensorTruth& sensor = chip.truth().sensor;
    const bool whole_watts = sensor.resolution_w == 1.0;
    alone += sensor.accumulator ? 0 : 1;
    part += sensor.window_ns < sensor.period_ns ? 1 : 0;
    lagging += whole_watts && sensor.lag_s > 0.09 && sensor.lag_s < 0.11 ? 1 : 0;
    quiet_watts += whole_watts && !sensor.accumulator && sensor.noise_relative < 0.002 ? 1 : 0;
    requested += sensor.voltage_requested ? 1 : 0;
    none += sensor.voltage_shown ? 0 : 1;
  }
  EXPECT_GE(alone, kChips / 4);
  EXPECT_LE(alone, 3 * kChips / 4);
  for (const int count : {part, lagging, quiet_watts, requested, none}) EXPECT_GT(count, 0);
}

TEST(RandomChips, HaveStagesAlongTheWayAndSomeHaveNone) {
  int without = 0;
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Chip chip = draw(seed, ChipClass::mild).value();
    const WireTruth& wires = chip.truth().wires;
    const double wire = (wires.ground_f_per_mm + 2 * wires.coupling_f_per_mm) / 4 * 512;
    const double stages = (wires.stage_beat_f + 256 * wires.stage_data_f) / wires.stage_pitch_mm;
    without += stages == 0 ? 1 : 0;
    most = std::max(most, stages / wire);
  }
  EXPECT_GE(without, 8);
  EXPECT_LE(without, 36);
  EXPECT_GT(most, 0.6);
  EXPECT_LE(most, 0.9 + 1e-9);
}

TEST_P(RandomChip, DeclaresPositionsThatItsErrorsKeep) {
  int outside = 0;
  constexpr int kChips = 100;
  for (std::uint64_t seed = 1; seed <= kChips; ++seed) {
    const Chip chip = draw(seed, GetParam()).value();
    const Truth& truth = chip.truth();
    EXPECT_LE(std::abs(truth.sensor.gain - 1.0), 0.05 * 2.5 / 1.96 + 1e-9);
    const auto published = model::parse_floorplan(chip.public_floorplan_toml(), "drawn");
    ASSERT_TRUE(published) << published.error().text();
    // Distances as they are, found by the published ones: what no sensor and no wire adds to.
    const auto centred = [](const Geometry& geometry) {
      std::vector<double> mm;
      mm.reserve(16);
      for (int pair = 0; pair < 16; ++pair)
        mm.push_back(geometry.mean_distance_mm(pair / 4, pair % 4));
      double_centre(mm, 4, 4);
      return mm;
    };
    const auto exact = centred(truth.geometry);
    const auto drawn = centred(truth.published.geometry);
    const double scale = std::inner_product(exact.begin(), exact.end(), drawn.begin(), 0.0) /
                         std::inner_product(drawn.begin(), drawn.end(), drawn.begin(), 0.0);
    outside += std::abs(scale - 1.0) > published->scale_error_95() ? 1 : 0;
  }
  EXPECT_LE(outside, kChips / 8);
}

TEST_P(RandomChip, KeepsItsTemperatureInASaneRange) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Chip chip = draw(seed, GetParam()).value();
    LaunchActivity activity = stream(chip, 0, 0, {});
    activity.cycles *= 1000;
    for (double& zone : activity.capacitance_f) {
      zone *= 2500;  // a furnace: 2.5 times the stream's power
    }
    ChipTimeline timeline(chip, seed);
    while (timeline.now_ns() < 120'000'000'000) {
      timeline.run(activity);
    }
    ww_vgpu_sample last{};
    timeline.samples_since(timeline.sample_count() - 1, {&last, 1});
    EXPECT_GT(last.temperature_mc, 30000) << seed;
    EXPECT_LT(last.temperature_mc, 110000) << seed;
  }
}

std::string class_name(const ::testing::TestParamInfo<ChipClass>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(Classes, RandomChip,
                         ::testing::Values(ChipClass::nested, ChipClass::mild, ChipClass::strong),
                         class_name);

}  // namespace
}  // namespace ww::sim::gpu
