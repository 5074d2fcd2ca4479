// Predictors and laser controller against GPUOPT's equations (1) to (3).
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "network/photonic/laser_control.hpp"
#include "network/photonic/predictor.hpp"
#include "ww/sim/net/photonic_config.hpp"
#include "ww/sim/net/random.hpp"

namespace ww::sim::net::photonic {
namespace {

// alpha 0.5, beta 0.25, RT 128, WT 1000: section 8.2.
const PhotonicConfig kKeys;

struct PsiCase {
  std::uint64_t received, sent, waited;
  bool expected;
};

TEST(RestrPred, FollowsItsTruthTable) {
  const PsiCase cases[] = {
      {0, 0, 0, false},       // F3 asks for less than nothing sent
      {0, 0, 999, false},     // just below WT
      {0, 0, 1000, true},     // F2
      {128, 64, 0, true},     // F1, both bounds included; F3 is false: 64 is not below 64
      {128, 65, 0, false},    // F1 fails on what was sent
      {127, 63, 0, true},     // F3: 63 < 63.5
      {127, 64, 0, false},    // F3 fails, F1 has too few
      {129, 64, 0, true},     // F1 alone
      {129, 65, 0, false},    // F1 fails; F3 has too many received
      {1, 0, 0, true},        // F3
      {1, 1, 0, false},       //
      {500, 400, 1000, true}  // F2 whatever the traffic
  };
  for (const PsiCase& one : cases) {
    EXPECT_EQ(restr_pred({one.received, one.sent, one.waited, 0}, kKeys), one.expected)
        << one.received << " received, " << one.sent << " sent, waited " << one.waited;
  }
}

struct ZetaCase {
  std::uint64_t received, waited, pending;
  bool guarded, literal;
};

TEST(FlexPred, FollowsItsTruthTable) {
  const ZetaCase cases[] = {
      {0, 0, 0, false, true},     // as printed, G3 holds for an idle station
      {0, 499, 0, false, true},   // just below alpha WT
      {0, 500, 0, true, true},    // G2
      {64, 0, 0, true, true},     // G1
      {63, 0, 0, false, false},   // 0 < 15.75 pending
      {63, 0, 15, false, false},  // G3 needs 15.75
      {63, 0, 16, true, true},    // G3
      {4, 0, 1, true, true},      // G3, bound included
      {5, 0, 1, false, false},    //
  };
  PhotonicConfig literal = kKeys;
  literal.flex_literal = true;
  for (const ZetaCase& one : cases) {
    const StationCounts counts{one.received, 0, one.waited, one.pending};
    EXPECT_EQ(flex_pred(counts, kKeys), one.guarded) << one.received << " received";
    EXPECT_EQ(flex_pred(counts, literal), one.literal) << one.received << " received";
  }
}

TEST(LaserControl, CapsTheSumOfTheSmBitsAtThreeBits) {
  for (int count = 0; count <= 8; ++count) {
    EXPECT_EQ(sm_units((std::uint64_t{1} << count) - 1, 7), std::min(count, 7));
  }
}

TEST(LaserControl, UpdatesTheTableByEquationThree) {
  for (int in_use = 0; in_use <= 7; ++in_use) {
    for (int wanted = 0; wanted <= 8; ++wanted) {
      const int expected = wanted >= in_use         ? in_use + 1
                           : wanted >= 0.5 * in_use ? in_use
                                                    : in_use - 1;
      EXPECT_EQ(updated_entry(in_use, wanted, 7), std::min(expected, 7)) << in_use << wanted;
    }
  }
}

constexpr std::uint64_t kLlc = 0xAAAA;  // every other of 16 stations

TEST(LaserControl, UpdatesTheEntryThatChoseTheEpochInUse) {
  PhotonicConfig keys;
  keys.table_start = 7;
  LaserControl control(keys, kLlc);
  EXPECT_EQ(control.first(), 14);
  // Nobody asks: index 0, whose entry comes down a unit in every epoch that it has chosen.
  EXPECT_EQ(control.decide(0), 6);  // the first epoch had all 7
  EXPECT_EQ(control.decide(0), 5);
  // One LLC station and two SM stations: another entry, as it began, and two units.
  const std::uint64_t bits = (std::uint64_t{1} << 1) | 0b101;
  EXPECT_EQ(control.decide(bits), 2 + 7);
  EXPECT_EQ(control.table_entry(0), 4);
  EXPECT_EQ(control.table_entry(1), 7);
  EXPECT_EQ(control.decide(bits), 2 + 6);  // 1 asks, 7 were lit: fewer than half
}

TEST(LaserControl, GivesPowerAgainWithinTwoEpochsOfSilence) {
  LaserControl control(kKeys, kLlc);
  for (int epoch = 0; epoch < 50; ++epoch) {
    control.decide(0);
  }
  // The printed rule raises an entry of 0 whenever it was in use: no pattern is dark for good.
  int lit = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    lit = std::max(lit, control.decide(0));
  }
  EXPECT_GE(lit, 1);
}

TEST(LaserControl, LightsAtMostSevenAndSevenAndNeverLessThanItsFloor) {
  Random random(7);
  for (const int floor : {0, 3}) {
    PhotonicConfig keys;
    keys.floor_units = floor;
    LaserControl control(keys, kLlc);
    for (int epoch = 0; epoch < 20000; ++epoch) {
      const int units = control.decide(random.bits() & random.bits() & 0xFFFF);
      ASSERT_LE(units, 7 + 7);
      ASSERT_GE(units, floor);
    }
    for (std::uint32_t index = 0; index < 256; ++index) {
      ASSERT_LE(control.table_entry(index), 7);
    }
  }
}

TEST(TuningTable, GivesEveryLitWaveguideTheSameLight) {
  for (int lit = 1; lit <= 16; ++lit) {
    const auto ratios = split_ratios(lit, 16);
    ASSERT_EQ(ratios.size(), 16u);  // 16 x 16 x 6 bits are the 192 bytes of section 6.2.3
    double left = 1;
    for (int i = 0; i < 16; ++i) {
      const double ratio = ratios[static_cast<std::size_t>(i)] / 63.0;
      const double light = left * ratio;
      left -= light;
      if (i < lit) {
        EXPECT_NEAR(light * lit, 1, 0.16) << lit << " lit, waveguide " << i;
      } else {
        EXPECT_EQ(light, 0);
      }
    }
    EXPECT_NEAR(left, 0, 1e-12);
  }
}

}  // namespace
}  // namespace ww::sim::net::photonic
