#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "chip_timeline.hpp"
#include "interaction.hpp"
#include "truth.hpp"

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
    EXPECT_EQ(truth.thermal.dynamic_per_k > 0,
              GetParam() == ChipClass::strong && found.residual_ratio < 0.25)
        << seed;
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
    case ChipClass::mild: EXPECT_LT(most_residual, 0.21); break;
    case ChipClass::strong:
      EXPECT_GT(least_residual, 0.33);
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

TEST_P(RandomChip, DeclaresTolerancesThatItsErrorsKeep) {
  int outside = 0;
  constexpr int kChips = 100;
  for (std::uint64_t seed = 1; seed <= kChips; ++seed) {
    const Chip chip = draw(seed, GetParam()).value();
    const Truth& truth = chip.truth();
    const double gain = std::abs(truth.sensor.gain - 1.0) / truth.sensor.gain_tolerance_95;
    EXPECT_LE(gain, 2.5 / 1.96 + 1e-9);
    outside += gain > 1.0 ? 1 : 0;
    const Interaction found = interaction(chip, StreamPattern::random, 32);
    if (GetParam() != ChipClass::strong) {
      const double scale = std::abs(found.per_published_mm / found.per_true_mm - 1.0) /
                           truth.published.distance_tolerance_95;
      EXPECT_LT(scale, 2.0) << seed;
      outside += scale > 1.0 ? 1 : 0;
    }
  }
  // Two declared tolerances, each missed by one chip in twenty.
  EXPECT_LT(outside, kChips / 5);
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
