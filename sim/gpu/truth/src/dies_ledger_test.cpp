#include "dies_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "builtin_chips.hpp"
#include "chip_timeline.hpp"
#include "energy_ledger.hpp"
#include "truth.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::gpu {
namespace {

constexpr double kBits = 512;  // of a line

Chip mi300x() {
  return Chip::load({.chip = "mi300x"}).value();
}

// Energy of a line that a compute die reads from a home, from the Infinity Cache, on the I/O dies.
double aid_j(const Chip& chip, std::size_t die, std::size_t home) {
  IoDieActivity activity;
  activity.reads[die][home] = 1;
  const auto rails = energy_of_rails(io_die_energy(activity, chip));
  EXPECT_EQ(rails.hbm_j, 0.0);
  return rails.aid_j;
}

TEST(IoDieEnergy, GrowsWithTheHopsAndNotWithTheCorner) {
  const Chip chip = mi300x();
  const IoDieTruth& truth = chip.truth().io_dies;
  const double own = kBits * (truth.compute_die_j + truth.infinity_cache_j);
  for (std::size_t die = 0; die < 8; ++die) {
    const std::size_t at = die / 2;
    EXPECT_DOUBLE_EQ(aid_j(chip, die, at), own);
    // 0-1 and 2-3 are rows of the ring, 1-2 and 3-0 are columns.
    EXPECT_DOUBLE_EQ(aid_j(chip, die, at ^ 1U), own + kBits * truth.row_hop_j);
    EXPECT_DOUBLE_EQ(aid_j(chip, die, 3 - at), own + kBits * truth.column_hop_j);
    EXPECT_DOUBLE_EQ(aid_j(chip, die, (at + 2) % 4),
                     own + kBits * (truth.row_hop_j + truth.column_hop_j));
  }
}

TEST(IoDieEnergy, OfMemoryIsTheStackAndItsPhy) {
  const Chip chip = mi300x();
  const IoDieTruth& truth = chip.truth().io_dies;
  IoDieActivity activity;
  activity.memory_reads[2] = 3;
  activity.memory_writes[1] = 2;
  const auto rails = energy_of_rails(io_die_energy(activity, chip));
  EXPECT_DOUBLE_EQ(rails.aid_j, 5 * kBits * truth.memory_phy_j);
  EXPECT_DOUBLE_EQ(rails.hbm_j, 5 * kBits * truth.memory_j);
}

TEST(XgmiEnergy, FollowsTheLinesThatCrossALink) {
  const Chip chip = Chip::load({.chip = "mi250x"}).value();
  IoDieActivity activity;
  activity.memory_reads = {100, 7, 0, 0};
  EXPECT_EQ(io_die_energy(activity, chip).xgmi, 0);
  activity.xgmi_reads = {3, 0, 2, 1};
  activity.xgmi_writes = {0, 5, 0, 0};
  const LaunchActivity::Ways ways = io_die_energy(activity, chip);
  EXPECT_DOUBLE_EQ(ways.xgmi, 11 * kBits * chip.truth().xgmi.bit_j);
  EXPECT_DOUBLE_EQ(energy_of_rails(ways).aid_j, ways.xgmi);
  EXPECT_EQ(energy_of_rails(ways).hbm_j, 0);
}

TEST(DiesLedger, LetsTheClocksOfADeviceWithoutALaunchStandStill) {
  const Chip chip = Chip::load({.chip = "mi250x"}).value();
  const Architecture& architecture = chip.architecture();
  const auto ledger = make_dies_ledger(chip);
  std::vector<CuActivity> cus(static_cast<std::size_t>(architecture.cu_places()));
  const std::vector<ChannelActivity> channels(
      static_cast<std::size_t>(architecture.dies * architecture.l2_channels));
  const auto clocks = [&] {
    ledger->begin_launch();
    return ledger->end_launch(1000, cus, channels).parts_f.clock;
  };
  const double none = clocks();
  cus.front().busy_cycles = 1;
  const double one = clocks();
  cus.back().busy_cycles = 1;
  EXPECT_NEAR(one - none, 1000 * chip.truth().events.active_cycle, 0.01 * (one - none));
  EXPECT_NEAR(clocks() - none, 2 * (one - none), 1e-9 * one);
}

// All that a launch's activity says of wires, caches and cores but lengths, which are not known
// here.
std::vector<double> figures(const LaunchActivity& activity) {
  const LaunchActivity::Parts& parts = activity.parts_f;
  const WireMonitors& monitors = activity.monitors;
  std::vector<double> all{
      std::accumulate(activity.capacitance_f.begin(), activity.capacitance_f.end(), 0.0),
      parts.crossbar_wires,
      parts.crossbar_control,
      parts.registers_l1,
      parts.l2_memory,
      parts.caches,
      parts.alu,
      parts.clock,
      parts.crossbar_arbiters,
      static_cast<double>(activity.payload_bits),
      static_cast<double>(monitors.crossbar_slot_bits),
      static_cast<double>(monitors.memory_slot_bits),
      static_cast<double>(monitors.register_bytes)};
  for (const auto* bundle :
       {&monitors.trunks, &monitors.legs, &monitors.memory, &monitors.control}) {
    for (const std::uint64_t count : {bundle->toggles, bundle->adjacent, bundle->opposite}) {
      all.push_back(static_cast<double>(count));
    }
  }
  return all;
}

TEST(DiesLedger, CountsEachDieByItself) {
  const Chip chip = mi300x();
  const Architecture& architecture = chip.architecture();
  const auto ledger = make_dies_ledger(chip);
  const auto one_die = make_energy_ledger(chip);
  // Neighbouring wires that go opposite ways from one line to the next, and from one half to the
  // next.
  std::array<std::array<std::byte, 64>, 2> payloads{};
  payloads[0][5] = payloads[1][37] = std::byte{0x55};
  payloads[1][5] = payloads[0][37] = std::byte{0xAA};
  const auto cross = [&](ActivityObserver& to, int die) {
    for (std::int64_t beat = 0; beat < 4; ++beat) {
      const std::byte* payload = payloads[static_cast<std::size_t>(beat % 2)].data();
      CrossbarTransfer transfer;
      transfer.cycle = 100 + beat;
      transfer.address = 4096 + static_cast<std::uint64_t>(beat) * 64;
      transfer.engine = static_cast<std::uint16_t>(die * architecture.shader_engines + 2);
      transfer.cu = 3;
      transfer.channel = 7;
      transfer.bytes = 64;
      transfer.payload = payload;
      to.crossbar(transfer);
      to.memory({100 + beat, static_cast<std::uint16_t>(die * architecture.l2_channels + 7), false,
                 payload});
    }
  };
  const auto places = static_cast<std::size_t>(architecture.cu_places());
  const auto dies = static_cast<std::size_t>(architecture.dies);
  CuActivity busy;
  busy.busy_cycles = 1000;
  busy.scalar_instructions = 20;
  busy.vector_instructions = 50;
  busy.vector_lane_operations = 3200;
  busy.l1_accesses = 40;
  busy.register_bytes = 4096;
  const std::vector<ChannelActivity> channels(dies *
                                              static_cast<std::size_t>(architecture.l2_channels));
  const auto with_busy = [&](std::size_t first, std::size_t count) {
    std::vector<CuActivity> cus(places);
    std::fill_n(cus.begin() + static_cast<std::ptrdiff_t>(first), count, busy);
    return cus;
  };
  const std::size_t of_die = places / dies;
  one_die->begin_launch();
  cross(*one_die, 0);
  const std::vector<double> one = figures(one_die->end_launch(0, with_busy(0, of_die), channels));
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_GT(one[i], 0) << "figure " << i;
  for (int die = 0; die < architecture.dies; ++die) {
    ledger->begin_launch();
    cross(*ledger, die);
    const auto here = with_busy(static_cast<std::size_t>(die) * of_die, of_die);
    const std::vector<double> found = figures(ledger->end_launch(0, here, channels));
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(found[i], one[i], 1e-9 * one[i]) << "figure " << i << ", die " << die;
    }
  }
  ledger->begin_launch();
  for (int die = 0; die < architecture.dies; ++die) cross(*ledger, die);
  const auto all = figures(ledger->end_launch(0, with_busy(0, places), channels));
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(all[i], architecture.dies * one[i], 1e-9 * architecture.dies * one[i])
        << "figure " << i;
  }
}

// Lanes that sleep draw while a launch crosses a link, and once more each time they wake.
TEST(Timeline, WakesTheLinksOfTwoDiesForALaunchThatCrossesThem) {
  std::string text(*builtin_chip_toml("mi250x"));
  const auto put = [&text](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  put("wake_w = 0.0", "wake_w = 30.0");
  put("training_uj = 0.0", "training_uj = 20000.0");
  const auto scratch = ScratchFolder::create("chip").value();
  const std::string own = scratch.path() / "sleepy_pair.toml";
  std::ofstream(own) << text;
  const Chip chip = Chip::load({.chip = own}).value();
  const double clock_hz = chip.architecture().dvfs.back().clock_hz;
  const auto joules = [&](double xgmi_j) {
    LaunchActivity activity;
    activity.cycles = static_cast<std::int64_t>(clock_hz * 1e-3);
    activity.capacitance_f.assign(static_cast<std::size_t>(chip.truth().zones()), 0.0);
    activity.ways_j.xgmi = xgmi_j;
    activity.rails.aid_j = xgmi_j;
    ChipTimeline timeline(chip, 1);
    timeline.run_repeated(activity, 1000);
    std::vector<ww_vgpu_sample> samples(timeline.sample_count());
    timeline.samples_since(0, samples);
    return static_cast<double>(samples.back().energy_ticks) / 65536;
  };
  // 1000 launches of 1 ms: 30 J awake and 20 J of training, and some percent of gain and slope.
  EXPECT_NEAR(joules(1e-9) - joules(0), 50.0, 4.0);
}

TEST(Timeline, AddsTheRailsOfIoDiesAndMemoryToTheSocket) {
  const Chip chip = mi300x();
  const double clock_hz = chip.architecture().dvfs.back().clock_hz;
  // Energy of 10 s in which launches of 1 ms draw 40 W and 20 W on the two rails, or nothing.
  const auto joules = [&](double aid_w, double hbm_w) {
    LaunchActivity activity;
    activity.cycles = static_cast<std::int64_t>(clock_hz * 1e-3);
    activity.capacitance_f.assign(static_cast<std::size_t>(chip.truth().zones()), 0.0);
    activity.rails = {.aid_j = aid_w * 1e-3, .hbm_j = hbm_w * 1e-3};
    ChipTimeline timeline(chip, 1);
    timeline.run_repeated(activity, 10'000);
    std::vector<ww_vgpu_sample> samples(timeline.sample_count());
    timeline.samples_since(0, samples);
    return static_cast<double>(samples.back().energy_ticks) / 65536;
  };
  // The sensor's gain and slope, and the leakage of warmer dies, are within some percent.
  EXPECT_NEAR(joules(40, 20) - joules(0, 0), 600.0, 60.0);
}

}  // namespace
}  // namespace ww::sim::gpu
