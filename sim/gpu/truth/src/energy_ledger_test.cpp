#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "draw.hpp"
#include "energy_ledger.hpp"
#include "stream.hpp"
#include "test_chip.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

Chip w9100() {
  return Chip::load({}).value();
}

double total(const LaunchActivity& activity) {
  return std::accumulate(activity.capacitance_f.begin(), activity.capacitance_f.end(), 0.0);
}

// Watt of a launch at the chip's reference state.
double watts(const Chip& chip, double capacitance_f, std::int64_t cycles) {
  const Architecture& architecture = chip.architecture();
  const DvfsState state = architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)];
  return capacitance_f * state.voltage_v * state.voltage_v * state.clock_hz /
         static_cast<double>(cycles);
}

// Sends lines over one link at one a cycle.
LaunchActivity send(const Chip& chip, const std::vector<std::array<std::uint64_t, 8>>& lines,
                    std::int64_t gap = 1) {
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CrossbarTransfer transfer;
    transfer.cycle = static_cast<std::int64_t>(i) * gap;
    transfer.bytes = 64;
    transfer.payload = reinterpret_cast<const std::byte*>(lines[i].data());
    ledger->crossbar(transfer);
  }
  return ledger->end_launch(0, {}, {});
}

std::array<std::uint64_t, 8> filled(std::uint64_t word) {
  std::array<std::uint64_t, 8> line;
  line.fill(word);
  return line;
}

double wires(const LaunchActivity& activity) {
  return activity.parts_f.crossbar_wires;
}

TEST(EnergyLedger, ChargesNothingForAnEmptyLaunch) {
  const Chip chip = w9100();
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  EXPECT_EQ(total(ledger->end_launch(0, {}, {})), 0.0);
}

TEST(EnergyLedger, ChargesNoPayloadSwitchingWhenNoBitToggles) {
  // A bus at rest holds ones: lines of ones move no payload wire, however many there are. What is
  // left is clocked: flops along the trunk and the leg's strobes.
  const Chip chip = w9100();
  const double ones = wires(send(chip, std::vector(1000, filled(~0ULL))));
  const WireTruth& truth = chip.truth().wires;
  const Truth::Link& trunk = chip.truth().trunks[0];
  const Truth::Link& leg = chip.truth().legs[0];
  const double flops =
      std::floor(trunk.length_mm / truth.flop_pitch_mm) * truth.flop_clock_f * 512 * 1000;
  const double strobes = 1000 * truth.strobe_transitions * leg.length_mm * leg.scale *
                         (truth.ground_f_per_mm / 2 + truth.coupling_f_per_mm);
  EXPECT_NEAR(ones, flops + strobes, 1e-9 * ones);
}

TEST(EnergyLedger, ChargesMoreForMoreToggles) {
  const Chip chip = w9100();
  double previous = -1;
  for (unsigned bits = 0; bits <= 32; bits += 4) {
    // Every second wire at most, so that neighbours stay quiet and only the count grows.
    std::uint64_t word = ~0ULL;
    for (unsigned bit = 0; bit < bits; ++bit) {
      word &= ~(1ULL << (2 * bit));
    }
    const double energy = wires(send(chip, {filled(word), filled(~0ULL), filled(word)}));
    EXPECT_GT(energy, previous);
    previous = energy;
  }
}

TEST(EnergyLedger, AddsOverIndependentWindows) {
  // Two links used in one launch cost what they cost in two.
  const Chip chip = w9100();
  const auto run = [&](bool first, bool second) {
    const auto ledger = make_energy_ledger(chip);
    ledger->begin_launch();
    Draw a(1);
    Draw b(2);
    for (std::int64_t i = 0; i < 500; ++i) {
      for (const std::uint16_t engine : {std::uint16_t{0}, std::uint16_t{1}}) {
        std::array<std::uint64_t, 8> line;
        for (auto& word : line) {
          word = engine == 0 ? a.bits() : b.bits();
        }
        CrossbarTransfer transfer;
        transfer.cycle = i;
        transfer.engine = engine;
        transfer.bytes = 64;
        transfer.payload = reinterpret_cast<const std::byte*>(line.data());
        if (engine == 0 ? first : second) {
          ledger->crossbar(transfer);
        }
      }
    }
    return total(ledger->end_launch(0, {}, {}));
  };
  EXPECT_NEAR(run(true, true), run(true, false) + run(false, true), 1e-9 * run(true, true));
}

TEST(EnergyLedger, ParksAnIdleBusAtOnes) {
  const Chip chip = w9100();
  const int park = chip.truth().wires.park_after_cycles;
  const auto zeros = std::vector(20, filled(0));
  const double busy = wires(send(chip, zeros, 1));
  const double slow = wires(send(chip, zeros, park));
  const double idle = wires(send(chip, zeros, park + 1));
  EXPECT_EQ(busy, slow);
  EXPECT_GT(idle, 10 * busy);
}

TEST(EnergyLedger, PartsSumToZones) {
  const Chip chip = w9100();
  const LaunchActivity activity = stream(chip, 1, 2, {});
  const auto& parts = activity.parts_f;
  const double sum = parts.crossbar_wires + parts.crossbar_control + parts.registers_l1 +
                     parts.l2_memory + parts.caches + parts.alu + parts.clock +
                     parts.crossbar_arbiters;
  EXPECT_NEAR(sum, total(activity), 1e-9 * sum);
}

// A stage of the crossbar that every path has is an expense of its ends: it grows with no distance,
// and no contrast of distance sees it.
TEST(EnergyLedger, CountsWhatAllPairsShareWithTheArbitersAndNotWithTheWays) {
  const LaunchActivity plain_chip = stream(w9100(), 1, 2, {});
  const std::string every = "[300, 300, 300, 300]";
  const LaunchActivity shared =
      stream(w9100_with({{"flop_pitch_mm", "3.7\npair_extra_pf = [" + every + ", " + every + ", " +
                                               every + ", " + every + "]"}}),
             1, 2, {});
  EXPECT_DOUBLE_EQ(shared.parts_f.crossbar_wires, plain_chip.parts_f.crossbar_wires);
  EXPECT_DOUBLE_EQ(shared.parts_f.crossbar_control, plain_chip.parts_f.crossbar_control);
  EXPECT_GT(shared.parts_f.crossbar_arbiters, 1.05 * plain_chip.parts_f.crossbar_arbiters);
  EXPECT_NEAR(total(shared) - total(plain_chip),
              shared.parts_f.crossbar_arbiters - plain_chip.parts_f.crossbar_arbiters,
              1e-9 * total(shared));
  // One pair that has none of it: now it is a property of the others.
  const LaunchActivity apart =
      stream(w9100_with({{"flop_pitch_mm", "3.7\npair_extra_pf = [" + every + ", " + every + ", " +
                                               every + ", [300, 300, 300, 0]]"}}),
             1, 2, {});
  EXPECT_GT(apart.parts_f.crossbar_control, plain_chip.parts_f.crossbar_control);
  EXPECT_DOUBLE_EQ(apart.parts_f.crossbar_arbiters, plain_chip.parts_f.crossbar_arbiters);
}

TEST(EnergyLedger, CountsAHopOfAllTrunksWithTheArbiters) {
  const auto hop = [](const char* after_mm) {
    return stream(w9100_with({{"flop_pitch_mm", std::string("3.7\nhop_data_ff = 500\n"
                                                            "hop_clock_ff = 100\nhop_after_mm = ") +
                                                    after_mm}}),
                  1, 2, {});
  };
  const LaunchActivity none = stream(w9100(), 1, 2, {});
  const LaunchActivity all = hop("0.001");
  EXPECT_DOUBLE_EQ(all.parts_f.crossbar_wires, none.parts_f.crossbar_wires);
  EXPECT_GT(all.parts_f.crossbar_arbiters, none.parts_f.crossbar_arbiters);
}

// A stream is of all places of an engine, as its distances are.
TEST(EnergyLedger, StreamsAlikeWhereUnitsAreSwitchedOff) {
  const LaunchActivity whole = stream(w9100(), 3, 2, {});
  const LaunchActivity without =
      stream(w9100_with({{"cus_per_engine", "11\ncus_off_per_die = 2"}}), 3, 2, {});
  EXPECT_DOUBLE_EQ(without.parts_f.clock, whole.parts_f.clock);
  EXPECT_DOUBLE_EQ(total(without), total(whole));
}

TEST(EnergyLedger, CountsPayloadBitsBothWays) {
  const Chip chip = w9100();
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  const auto line = filled(5);
  CrossbarTransfer transfer;
  transfer.payload = reinterpret_cast<const std::byte*>(line.data());
  transfer.bytes = 64;
  transfer.kind = TransferKind::write;
  ledger->crossbar(transfer);
  transfer.kind = TransferKind::atomic;
  transfer.bytes = 4;
  transfer.reply = transfer.payload;
  ledger->crossbar(transfer);
  EXPECT_EQ(ledger->end_launch(1, {}, {}).payload_bits, 512U + 64U);
}

TEST(EnergyLedger, ChargesALineOfTheShaderArraysCacheToTheLegAlone) {
  const Chip chip = Chip::load({.chip = "rx6800"}).value();
  const auto ledger = make_energy_ledger(chip);
  const auto line = filled(0x5555555555555555ULL);
  CrossbarTransfer transfer;
  transfer.bytes = 64;
  transfer.payload = reinterpret_cast<const std::byte*>(line.data());
  transfer.from_gl1 = true;
  ledger->begin_launch();
  ledger->crossbar(transfer);
  std::vector<CuActivity> cus(static_cast<std::size_t>(chip.architecture().cu_places()));
  cus[0].gl1_hits = 1;
  const LaunchActivity activity = ledger->end_launch(0, cus, {});
  EXPECT_EQ(activity.payload_bits, 0U);  // nothing crossed to the L2
  EXPECT_EQ(activity.parts_f.crossbar_control, 0.0);
  EXPECT_EQ(activity.parts_f.crossbar_arbiters, 0.0);
  EXPECT_GT(activity.parts_f.crossbar_wires, 0.0);
  EXPECT_DOUBLE_EQ(activity.parts_f.caches, chip.truth().events.gl1_hit);

  transfer.from_gl1 = false;
  ledger->begin_launch();
  ledger->crossbar(transfer);
  EXPECT_GT(wires(ledger->end_launch(0, {}, {})), wires(activity));
}

TEST(EnergyLedger, ChargesTheLinkToAMemoryDieAndWhatIsBehindIt) {
  const Chip chip = Chip::load({.chip = "rx7900"}).value();
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  IoDieActivity behind;
  behind.reads[0][0] = 3;
  behind.writes[0][0] = 1;
  behind.memory_reads[0] = 2;
  ledger->io_dies(behind);
  const LaunchActivity activity = ledger->end_launch(0, {}, {});
  const MemorySideTruth& truth = chip.truth().memory_side;
  EXPECT_DOUBLE_EQ(activity.ways_j.die_link, 4 * 512 * truth.die_link_j);
  EXPECT_DOUBLE_EQ(activity.ways_j.infinity_cache, 4 * 512 * truth.infinity_cache_j);
  EXPECT_DOUBLE_EQ(activity.ways_j.memory_phy, 2 * 512 * truth.memory_phy_j);
  EXPECT_DOUBLE_EQ(activity.rails.aid_j, activity.ways_j.die_link + activity.ways_j.infinity_cache +
                                             activity.ways_j.memory_phy);
  EXPECT_EQ(Chip::load({.chip = "rx6800"}).value().truth().memory_side.die_link_j, 0.0);
}

TEST(EnergyLedger, WeighsEventsByTheLengthOfTheirOwnLink) {
  const Chip chip = w9100();
  const Geometry& geometry = chip.truth().published.geometry;
  const auto zeros = filled(0);
  const auto send_to = [&](std::uint16_t channel) {
    const auto ledger = make_energy_ledger(chip);
    ledger->begin_launch();
    CrossbarTransfer transfer;
    transfer.channel = channel;
    transfer.bytes = 64;
    transfer.payload = reinterpret_cast<const std::byte*>(zeros.data());
    ledger->crossbar(transfer);
    return ledger->end_launch(0, {}, {}).monitors;
  };
  for (const std::uint16_t channel : {std::uint16_t{0}, std::uint16_t{15}}) {
    const WireMonitors monitors = send_to(channel);
    const double mm = manhattan_mm(geometry.compute_units[0][0], geometry.l2_channels[channel]);
    EXPECT_NEAR(monitors.crossbar_bit_mm, 512 * mm, 1e-9);
    EXPECT_EQ(monitors.trunks.toggles, 1024U);  // down from rest at ones, and back
    EXPECT_EQ(monitors.legs.toggles, 1024U);
    EXPECT_NEAR(monitors.trunks.toggle_mm + monitors.legs.toggle_mm, 1024 * mm, 1e-9);
    EXPECT_GT(monitors.control.toggle_mm, 0);
  }
}

TEST(EnergyLedger, ChargesMemoryTransfersToTheirSegment) {
  const Chip chip = w9100();
  const auto ledger = make_energy_ledger(chip);
  const auto zeros = filled(0);
  const auto cost = [&](int count) {
    ledger->begin_launch();
    for (int i = 0; i < count; ++i) {
      ledger->memory({i, 3, false, reinterpret_cast<const std::byte*>(zeros.data())});
    }
    return ledger->end_launch(0, {}, {}).parts_f.l2_memory;
  };
  const double one = cost(1);
  EXPECT_GT(one, 0.0);
  // Zeros after zeros toggle nothing; only strobes are left.
  EXPECT_LT(cost(2), 1.1 * one);
}

// Vector work and a bank's accesses beside lines of these words.
LaunchActivity work_beside(const Chip& chip, std::uint64_t word) {
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  const auto even = filled(word), odd = filled(~0ULL);
  for (std::int64_t i = 0; i < 2000; ++i) {
    CrossbarTransfer transfer;
    transfer.cycle = i;
    transfer.bytes = 64;
    transfer.payload = reinterpret_cast<const std::byte*>((i % 2 == 0 ? even : odd).data());
    ledger->crossbar(transfer);
  }
  CuActivity cu;
  cu.vector_instructions = 1000;
  cu.vector_lane_operations = 64000;
  cu.l1_accesses = 500;
  ChannelActivity channel;
  channel.accesses = 2000;
  return ledger->end_launch(0, std::array{cu}, std::array{channel});
}

TEST(Values, ChangeWhatVectorUnitsAndMemoriesCost) {
  const Changes shares{{"idle_cycle_pf", "0.0\nalu_value_share = 0.4\nsram_value_share = 0.2"}};
  const Chip chip = w9100_with(shares);
  // No wire toggles where ones follow ones, and every second one in every beat of alternate 0s.
  const auto quiet = work_beside(chip, ~0ULL).parts_f;
  const auto loud = work_beside(chip, 0).parts_f;
  const auto same = work_beside(w9100(), ~0ULL).parts_f;
  EXPECT_NEAR(quiet.alu, (1 - 0.4) * same.alu, 1e-9 * same.alu);
  EXPECT_NEAR(quiet.caches, (1 - 0.2) * same.caches, 1e-9 * same.caches);
  EXPECT_NEAR(loud.alu, (1 + 0.4) * same.alu, 0.05 * same.alu);  // a beat in 24 rests
  EXPECT_NEAR(loud.caches, (1 + 0.2) * same.caches, 0.05 * same.caches);
}

TEST(Values, ChangeNothingOnTheBuiltInChips) {
  const Chip chip = w9100();
  const auto quiet = work_beside(chip, ~0ULL).parts_f;
  const auto loud = work_beside(chip, 0).parts_f;
  EXPECT_EQ(quiet.alu, loud.alu);
  EXPECT_EQ(quiet.caches, loud.caches);
}

TEST(W9100, LongPathDrawsAboutFourWattsMore) {
  const Chip chip = w9100();
  StreamOptions options;
  const double near = watts(chip, total(stream(chip, 0, 0, options)), options.beats);
  const double far = watts(chip, total(stream(chip, 0, 3, options)), options.beats);
  RecordProperty("near_w", std::to_string(near));
  RecordProperty("far_w", std::to_string(far));
  EXPECT_GT(far - near, 3.4);
  EXPECT_LT(far - near, 5.0);
  // IISWC'16 section V.A: 5% of the chip's dynamic power.
  EXPECT_GT((far - near) / near, 0.035);
  EXPECT_LT((far - near) / near, 0.075);
}

TEST(W9100, DataPatternsComeInThePapersOrder) {
  // IISWC'16 Fig. 7a, as differences of long and short path: As > zeros > ones, about a tenth of
  // random.
  const Chip chip = w9100();
  const auto extra = [&](StreamPattern pattern) {
    StreamOptions options;
    options.pattern = pattern;
    return total(stream(chip, 0, 3, options)) - total(stream(chip, 0, 0, options));
  };
  const double random = extra(StreamPattern::random);
  const double alternating = extra(StreamPattern::alternating) / random;
  const double zeros = extra(StreamPattern::zeros) / random;
  const double ones = extra(StreamPattern::ones) / random;
  EXPECT_GT(alternating, zeros);
  EXPECT_GT(zeros, ones);
  EXPECT_GT(ones, 0.02);
  EXPECT_LT(alternating, 0.16);
  EXPECT_GT(zeros, 0.05);
  EXPECT_LT(zeros, 0.15);
  const double half = extra(StreamPattern::half_random) / random;
  EXPECT_GT(half, 0.4);
  EXPECT_LT(half, 0.65);
}

TEST(W9100, FillsTheDistanceMatrixWithInteraction) {
  const Chip chip = w9100();
  const Truth& truth = chip.truth();
  for (int engine = 0; engine < 4; ++engine) {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      const double true_mm = truth.routed_distance_mm(engine, quadrant);
      const double published = truth.published.geometry.mean_distance_mm(engine, quadrant);
      EXPECT_NEAR(true_mm, published, 0.08 * published);
      if (quadrant != engine) {
        EXPECT_GT(true_mm, truth.routed_distance_mm(engine, engine) + 2.0);
      }
    }
  }
  EXPECT_NEAR(truth.published.geometry.mean_distance_mm(0, 3) -
                  truth.published.geometry.mean_distance_mm(0, 0),
              10.5, 1e-6);
}

}  // namespace
}  // namespace ww::sim::gpu
