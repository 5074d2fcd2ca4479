#include "ww/sim/gpu/reveal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "chip_timeline.hpp"
#include "interaction.hpp"
#include "stream.hpp"
#include "test_chip.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

const RevealedConstant& constant(const Revealed& revealed, const std::string& name) {
  for (const RevealedConstant& entry : revealed.constants) {
    if (entry.name == name) {
      return entry;
    }
  }
  ADD_FAILURE() << "no constant " << name;
  return revealed.constants.front();
}

TEST(Reveal, FindsTheWiresOfAChipWithoutSideEffects) {
  // No flops, strobes or variation: random bits cost (Cg + 2 Cc) / 4 V^2 a bit and mm, and the
  // ledger's narrow wires and parking come on top, a few percent each.
  const Chip chip = w9100_with({{"trunk_capacitance", "0"},
                                {"trunk_detour", "0"},
                                {"flop_data_ff", "0"},
                                {"flop_clock_ff", "0"},
                                {"strobe_transitions", "0"},
                                {"request_strobes", "0"},
                                {"regrant_beats", "1000000"}});
  const Revealed revealed = reveal(chip).value();
  const double wires = (214.0 + 2 * 173.0) / 4 * 1.1687 * 1.1687;
  EXPECT_GT(revealed.energy_fj_per_bit_mm, wires);
  EXPECT_LT(revealed.energy_fj_per_bit_mm, 1.05 * wires);
}

TEST(Reveal, IsNearTheLiteratureForTheW9100) {
  // Keckler et al. 2011: 240 fJ a transition and mm at 0.9 V; 121 fJ a random bit.
  const Revealed revealed = reveal(Chip::load({}).value()).value();
  const double at_0v9 = revealed.energy_fj_per_bit_mm * 0.81 / (1.1687 * 1.1687);
  EXPECT_NEAR(at_0v9, 121.0, 18.0);
  RecordProperty("fj_per_bit_mm", std::to_string(revealed.energy_fj_per_bit_mm));
  RecordProperty("sensed", std::to_string(revealed.sensed_fj_per_bit_mm));
  RecordProperty(
      "residual",
      std::to_string(
          interaction(Chip::load({}).value(), StreamPattern::random, 1024).residual_ratio));
}

TEST(Reveal, GivesTheSharesOfEnergyThatFollowTheData) {
  const Changes shares{{"idle_cycle_pf", "0.0\nalu_value_share = 0.4\nsram_value_share = 0.2"}};
  const RevealedValues values = reveal_values(w9100_with(shares));
  EXPECT_EQ(values.alu_share, 0.4);
  EXPECT_EQ(values.sram_share, 0.2);
}

// Half of the distance's price in stages along the way: the wires stay what they are.
TEST(Reveal, SealsTheWiresApartFromWhatStandsAlongThem) {
  const Changes even{
      {"trunk_capacitance", "0"}, {"trunk_detour", "0"}, {"regrant_beats", "1000000"}};
  const double wires = (214.0 + 2 * 173.0) / 4 * 1.1687 * 1.1687;
  const Revealed bare = reveal(w9100_with(even)).value();
  EXPECT_NEAR(bare.wire_fj_per_bit_mm / wires, 1.0, 0.01);
  EXPECT_GT(bare.energy_fj_per_bit_mm, 1.02 * bare.wire_fj_per_bit_mm);  // flops and requests
  Changes staged = even;
  staged.push_back({"flop_pitch_mm", "3.7\nstage_pitch_mm = 2.0\nstage_beat_pf = 143"});
  const Revealed with_stages = reveal(w9100_with(staged)).value();
  EXPECT_DOUBLE_EQ(with_stages.wire_fj_per_bit_mm, bare.wire_fj_per_bit_mm);
  EXPECT_NEAR((with_stages.energy_fj_per_bit_mm - bare.energy_fj_per_bit_mm) / wires, 1.0, 0.25);
  EXPECT_DOUBLE_EQ(constant(with_stages, "wire_energy_fj_per_bit_mm").truth,
                   with_stages.wire_fj_per_bit_mm);
}

TEST(Reveal, SealsWiresThatCostNothing) {
  const Revealed revealed =
      reveal(w9100_with({{"ground_ff_per_mm", "0"},
                         {"coupling_ff_per_mm", "0"},
                         {"flop_pitch_mm", "3.7\nstage_pitch_mm = 2.0\nstage_beat_pf = 280"}}))
          .value();
  EXPECT_EQ(revealed.wire_fj_per_bit_mm, 0);
  EXPECT_GT(revealed.energy_fj_per_bit_mm, 200);
}

// Links that are dearer per mm the longer they are: the extra millimetres cost more than the mean.
TEST(Reveal, SealsTheMeanMillimetreWhereLongLinksCostMore) {
  const Revealed even = reveal(w9100_with({{"trunk_capacitance", "0"}})).value();
  const Revealed growing = reveal(w9100_with({{"trunk_capacitance", "0"},
                                              {"flop_pitch_mm", "3.7\ngrowth_per_mm = 0.03"}}))
                               .value();
  EXPECT_GT(growing.energy_fj_per_bit_mm, 1.15 * even.energy_fj_per_bit_mm);
  EXPECT_NEAR(growing.wire_fj_per_bit_mm / even.wire_fj_per_bit_mm, 1.0, 0.1);
}

TEST(Reveal, SensesThroughGainSlopeAndPublishedDistance) {
  const Revealed plain_chip = reveal(w9100_with({{"gain", "1.0"}})).value();
  const Revealed gained = reveal(w9100_with({{"gain", "1.03"}})).value();
  EXPECT_DOUBLE_EQ(plain_chip.energy_fj_per_bit_mm, gained.energy_fj_per_bit_mm);
  EXPECT_NEAR(gained.sensed_fj_per_bit_mm / plain_chip.sensed_fj_per_bit_mm, 1.03, 1e-4);
  const Revealed sloped = reveal(w9100_with({{"gain", "1.0"}, {"slope", "0.9"}})).value();
  EXPECT_NEAR(sloped.sensed_fj_per_bit_mm / plain_chip.sensed_fj_per_bit_mm, 0.9 / 1.004, 2e-3);
}

TEST(Reveal, NamesItsConstants) {
  const Revealed revealed = reveal(Chip::load({}).value()).value();
  const double random = constant(revealed, "energy_fj_per_bit_mm").truth;
  const double zeros = constant(revealed, "zero_toggle_intercept_fj_per_bit_mm").truth;
  const double slope = constant(revealed, "toggle_slope_fj_per_transition_mm").truth;
  EXPECT_DOUBLE_EQ(random, revealed.energy_fj_per_bit_mm);
  EXPECT_GT(zeros, 0.04 * random);
  EXPECT_LT(zeros, 0.15 * random);
  EXPECT_GT(slope, 1.2 * random);
  EXPECT_LT(slope, 2.4 * random);
}

TEST(Reveal, DoesNotDependOnEngineAndSliceOffsets) {
  const Revealed none = reveal(w9100_with({{"engine_offset", "0"}, {"slice_offset", "0"}})).value();
  const Revealed large =
      reveal(w9100_with({{"engine_offset", "0.4"}, {"slice_offset", "0.4"}})).value();
  EXPECT_NEAR(none.energy_fj_per_bit_mm, large.energy_fj_per_bit_mm,
              1e-6 * none.energy_fj_per_bit_mm);
}

TEST(Reveal, IsWhatAnIdealCampaignFinds) {
  // Power readings of a chip without leakage or droop, engine by engine and quadrant by quadrant,
  // regressed on published distance as a fit would.
  Changes changes = plain();
  changes.push_back({"gain", "1.02"});
  changes.push_back({"slope", "0.95"});
  changes.push_back({"launch_overhead_ns", "0"});
  const Chip chip = w9100_with(changes);
  const Truth& truth = chip.truth();
  const double clock_hz = chip.architecture().dvfs.back().clock_hz;
  std::vector<double> watt;
  std::vector<double> distance;
  for (int engine = 0; engine < 4; ++engine) {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      ChipTimeline timeline(chip, 1);
      timeline.run_repeated(stream(chip, engine, quadrant, {.beats = 16384, .seed = 99}), 2000);
      ww_vgpu_sample last{};
      timeline.samples_since(timeline.sample_count() - 1, {&last, 1});
      watt.push_back(static_cast<double>(last.power_uw) * 1e-6);
      distance.push_back(truth.published.geometry.mean_distance_mm(engine, quadrant));
    }
  }
  double_centre(watt, 4, 4);
  double_centre(distance, 4, 4);
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < watt.size(); ++i) {
    product += watt[i] * distance[i];
    square += distance[i] * distance[i];
  }
  const double bits_per_second = 4 * 512 * clock_hz;
  const double fj = product / square / bits_per_second * 1e15;
  const double sensed = reveal(chip).value().sensed_fj_per_bit_mm;
  EXPECT_NEAR(fj / sensed, 1.0, 2e-3);
}

TEST(Reveal, AgreesWithASecondSetOfRandomBits) {
  const Chip chip = Chip::load({.chip = "random", .seed = 4}).value();
  const double a = interaction(chip, StreamPattern::random, 8192).per_true_mm;
  const double b = interaction(chip, StreamPattern::random, 16384).per_true_mm;
  EXPECT_NEAR(a / b, 1.0, 1e-3);
}

TEST(Reveal, FindsTheWiresOfLegs) {
  // Legs and trunks are of the same wires; legs have no flops and as many strobes.
  const Chip chip = w9100_with({{"leg_capacitance", "0"},
                                {"strobe_transitions", "0"},
                                {"regrant_beats", "1000000"},
                                {"park_after_cycles", "100000"}});
  const double wires = (214.0 + 2 * 173.0) / 4 * 1.1687 * 1.1687;
  EXPECT_NEAR(constant(reveal(chip).value(), "legs_energy_fj_per_bit_mm").truth / wires, 1.0, 0.01);
}

// Programs see engines of two shader arrays each. Their flights are what the table has.
TEST(Reveal, TakesOneRowOfFlightsForEachPairOfShaderArrays) {
  const Chip chip = Chip::load({.chip = "rx6800"}).value();
  ASSERT_EQ(chip.truth().engines(), 6);
  const FlightTable of_engines{{1, 2, 3, 4}, {2, 1, 1, 2}, {4, 3, 2, 1}};
  EXPECT_GT(reveal(chip, of_engines).value().sensed_fj_per_bit_ns, 0);
  EXPECT_FALSE(reveal(chip, FlightTable(6, {1, 2, 3, 4})));
}

TEST(Reveal, HasBothArraysOfAnEngineStream) {
  const Chip chip = Chip::load({.chip = "rx6800"}).value();
  const LaunchActivity activity = stream(chip, 1, 2, {});
  const auto& zones = activity.capacitance_f;
  EXPECT_NEAR(zones[2] / zones[3], 1, 0.2);
  for (const std::size_t idle : {0U, 1U, 4U, 5U}) {
    EXPECT_LT(zones[idle], 0.5 * std::min(zones[2], zones[3])) << idle;
  }
}

double uniform_over_random_toggles(const Chip& chip) {
  const auto toggles = [&](StreamPattern pattern) {
    const StreamOptions options{.pattern = pattern, .beats = 16 * 8192, .with_cores = false};
    return static_cast<double>(stream(chip, 0, 0, options).monitors.trunks.toggles);
  };
  return toggles(StreamPattern::uniform_lines) / toggles(StreamPattern::random);
}

TEST(Reveal, TakesUniformLinesThatToggleLikeRandomBits) {
  const Chip chip = Chip::load({.chip = "random", .seed = 4}).value();
  EXPECT_NEAR(uniform_over_random_toggles(chip), 1.0, 1e-3);
}

// A bus that rests after `regrant_beats` lines meets every 64th again and again.
TEST(Reveal, TakesUniformLinesThatARestingBusDoesNotFavour) {
  for (const char* regrant : {"16", "17", "32", "48", "1000000"}) {
    EXPECT_NEAR(uniform_over_random_toggles(w9100_with({{"regrant_beats", regrant}})), 1.0, 2e-3)
        << regrant;
  }
}

TEST(Reveal, SensesEnergyPerNanosecondByTheTimesThatWereMeasured) {
  const Chip chip = Chip::load({}).value();
  FlightTable times(static_cast<std::size_t>(chip.truth().engines()));
  for (int e = 0; e < chip.truth().engines(); ++e) {
    for (int q = 0; q < chip.truth().quadrants(); ++q) {
      // Places and homes take times of their own.
      times[static_cast<std::size_t>(e)].push_back(100 + e + 2 * q +
                                                   0.5 * chip.truth().routed_distance_mm(e, q));
    }
  }
  const Revealed slow = reveal(chip, times).value();
  for (auto& row : times) {
    for (double& time : row) time *= 2;
  }
  const Revealed slower = reveal(chip, times).value();
  EXPECT_NEAR(slower.sensed_fj_per_bit_ns, slow.sensed_fj_per_bit_ns / 2,
              1e-9 * slow.sensed_fj_per_bit_ns);
  EXPECT_DOUBLE_EQ(slower.sensed_fj_per_bit_mm, slow.sensed_fj_per_bit_mm);
  times.pop_back();
  EXPECT_EQ(reveal(chip, times).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ww::sim::gpu
