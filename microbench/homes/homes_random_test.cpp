// The homes of random chips, from what their wires and channels would show a probe: which lines
// share a channel, and how many whole cycles each compute unit waits for each channel. Everything
// that finds homes is the campaign's own; the chip's truth is what it is compared with.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "channels/address_map.hpp"
#include "latency/homes_of_lines.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::microbench {
namespace {

using sim::gpu::Chip;

constexpr std::size_t kPages = 4;

struct Outcome {
  bool found{}, exact{};
  std::string reason;
};

Outcome homes_of(const Chip& chip) {
  const auto& architecture = chip.architecture();
  const sim::gpu::ChannelLookup lookup(architecture.channel_map, architecture.l2_channels,
                                       architecture.channel_interleave_bytes);
  // An allocation somewhere in memory, as a driver would give it.
  const std::uint64_t base = sim::gpu::kDeviceBase + 37 * kHomePage;
  const auto channel = [&](std::uint64_t offset) {
    return static_cast<int>(
        lookup.channel((base + offset - sim::gpu::kDeviceBase) /
                       static_cast<std::uint64_t>(architecture.channel_interleave_bytes)));
  };
  const SameChannel same = [&](std::uint64_t a, std::uint64_t b) -> Result<bool> {
    return channel(a) == channel(b);
  };
  const AddressMap address = find_address_map(same, {}, 120, 1).value();
  std::vector<TopologyPlace> places;
  for (int engine = 0; engine < architecture.shader_engines; ++engine) {
    for (int cu = 0; cu < architecture.cus_per_engine; ++cu) places.push_back({engine, cu, 0});
  }
  const HomeLines lines = home_lines(address, kPages);
  std::vector<LatencyTable> repeats(2);
  for (const TopologyPlace& place : places) {
    std::vector<double> row;
    for (const std::uint32_t offset : lines.all()) {
      row.push_back(architecture.l2_hit_cycles +
                    chip.crossbar_cycles(place.engine, place.cu, channel(offset)));
    }
    for (LatencyTable& repeat : repeats) repeat.push_back(row);
  }
  const LatencyMap latency = latency_map(repeats).value();
  const Homes homes = homes_of_lines(address, places, lines, latency);
  Outcome outcome{homes.found, true, homes.reason};
  if (!homes.found) return outcome;
  const sim::gpu::TrueHomes truth(chip);
  std::map<int, std::set<int>> true_of, found_of;
  for (std::uint64_t offset = 0; offset < kPages * kHomePage; offset += 256) {
    const int real = truth.home_of(base + offset);
    true_of[homes.home_of(offset)].insert(real);
    found_of[real].insert(homes.home_of(offset));
  }
  for (const auto& sets : {true_of, found_of}) {
    for (const auto& [home, others] : sets) outcome.exact = outcome.exact && others.size() == 1;
  }
  return outcome;
}

// WW_HOMES_CHIPS: how many.
void expect_exact_or_refused(const char* name, std::uint64_t first_seed) {
  const char* const wanted = std::getenv("WW_HOMES_CHIPS");
  const int chips = wanted != nullptr ? std::atoi(wanted) : 20;
  int exact = 0;
  for (int i = 0; i < chips; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const auto chip = Chip::load({.chip = name, .seed = seed});
    ASSERT_TRUE(chip) << chip.error().text();
    const Outcome outcome = homes_of(*chip);
    EXPECT_TRUE(!outcome.found || outcome.exact) << "seed " << seed << ": homes are mixed";
    if (!outcome.found)
      std::printf("seed %llu refused: %s\n", static_cast<unsigned long long>(seed),
                  outcome.reason.c_str());
    exact += outcome.found && outcome.exact ? 1 : 0;
  }
  std::printf("%d of %d chips: homes exactly right\n", exact, chips);
  EXPECT_GE(exact, (98 * chips + 99) / 100);
}

TEST(HomesOfRandomChips, AreExactlyTheTrueOnesOrRefused) {
  expect_exact_or_refused("random", 940'000);
}

TEST(HomesOfRandomChips, AreExactlyTheTrueOnesOrRefusedOnRdna) {
  expect_exact_or_refused("random_rdna", 641'000);
}

TEST(HomesOfTwins, AreExactlyTheTrueOnes) {
  for (const char* name : {"w9100", "vega10", "vega20", "mi100", "mi210", "rx6800", "rx7900"}) {
    const auto chip = Chip::load({.chip = name});
    ASSERT_TRUE(chip) << chip.error().text();
    const Outcome outcome = homes_of(*chip);
    EXPECT_TRUE(outcome.found) << name << ": " << outcome.reason;
    EXPECT_TRUE(outcome.exact) << name;
  }
}

}  // namespace
}  // namespace ww::microbench
