// Chip time: what launches cost in cycles follows from the architecture.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::memory_timing_test {
namespace {

using test::TestGpu;

// A ring of words `stride` bytes apart.
std::vector<std::uint32_t> ring(std::size_t nodes, std::size_t stride_words) {
  std::vector<std::uint32_t> next(nodes * stride_words);
  for (std::size_t i = 0; i < nodes; ++i) {
    next[i * stride_words] = static_cast<std::uint32_t>((i + 1) % nodes * stride_words);
  }
  return next;
}

double cycles_per_step(TestGpu& test, std::size_t nodes, std::size_t stride_words) {
  const auto data = test.buffer(ring(nodes, stride_words));
  const auto out = test.buffer(4);
  test.launch("chase", 1, 1, data, out, 2000U);  // warms the L2
  test.launch("chase", 1, 1, data, out, 1000U);
  const double few = test.counter("GRBM_GUI_ACTIVE");
  test.launch("chase", 1, 1, data, out, 2000U);
  return (test.counter("GRBM_GUI_ACTIVE") - few) / 1000;
}

TEST(Latency, GrowsFromL1ToL2ToMemory) {
  TestGpu test;
  const Architecture& architecture = test.gpu().chip().architecture();
  const double l1 = cycles_per_step(test, 64, 16);
  const double l2 = cycles_per_step(test, 4096, 16);  // 256 KiB: past the L1, within the L2
  const double memory = cycles_per_step(test, 4096, 16 * 64 * 4);  // one set of the L2 each 16
  EXPECT_GE(l1, architecture.l1_hit_cycles);
  EXPECT_LE(l1, architecture.l1_hit_cycles + 60);
  EXPECT_GE(l2, architecture.l2_hit_cycles);
  EXPECT_LE(l2, architecture.l2_hit_cycles + 160);
  EXPECT_GE(memory, l2 + architecture.memory_cycles * 0.9);
}

// mi210 has a tag for 128 bytes and fetches 64: what half fills its tags leaves no room, though it
// has half the bytes. Chains of 1024 work-items go through the first half of each pair of lines.
TEST(L2, HasATagForTwoLinesAndFetchesOne) {
  TestGpu test(test::TrickOptions{{.threads = 1}, {.replay = false}}, false, {},
               test::read_object(WW_EMULATOR_KERNELS_GFX90A));
  constexpr std::uint32_t kItems = 1024;
  constexpr std::uint32_t kWordsOfPair = 32;
  const auto tags =
      static_cast<std::uint32_t>(test.gpu().chip().architecture().l2_bytes / 4 / kWordsOfPair);
  const auto out = test.buffer(std::size_t{kItems} * 4);
  // Misses of the first and of the second walk through `pairs` pairs.
  const auto misses = [&](std::uint32_t pairs) {
    std::vector<std::uint32_t> next(kItems + std::size_t{pairs} * kWordsOfPair);
    for (std::uint32_t i = 0; i < kItems; ++i) next[i] = kItems + i * kWordsOfPair;
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      next[kItems + std::size_t{pair} * kWordsOfPair] = kItems + (pair + kItems) * kWordsOfPair;
    }
    const auto data = test.buffer(next);
    std::array<double, 2> walks{};
    for (double& walk : walks) {
      test.launch("chase", kItems, 64, data, out, pairs / kItems + 1);
      walk = test.counter("TCC_MISS_sum") / pairs;
    }
    return walks;
  };
  const auto few = misses(tags / 2);
  EXPECT_GT(few[0], 0.9);
  EXPECT_LT(few[1], 0.1);
  const auto many = misses(tags + tags / 2);  // three quarters of the bytes
  EXPECT_GT(many[0], 0.9);
  EXPECT_GT(many[1], 0.9);
  EXPECT_LT(many[1], 1.1);  // no line came with the one that was asked for
}

// One thread serves single lines in a way of its own. Chains of work-items that go to any line of a
// memory larger than the L2 find out what it did with the other line of each tag.
TEST(L2, WithTagsForTwoLinesIsTheSameWhoeverServesIt) {
  constexpr std::uint32_t kItems = 4096;
  constexpr std::uint32_t kWordsOfLine = 16;
  const auto run = [](unsigned threads) {
    TestGpu test(test::TrickOptions{{.threads = threads},
                                    {.replay = false, .parallel_commit_min_requests = 0}},
                 false, {}, test::read_object(WW_EMULATOR_KERNELS_GFX90A));
    const auto lines = static_cast<std::uint32_t>(test.gpu().chip().architecture().l2_bytes / 4 /
                                                  kWordsOfLine * 3 / 2);
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::shuffle(order, std::mt19937(1));
    std::vector<std::uint32_t> next(kItems + std::size_t{lines} * kWordsOfLine);
    const auto word_of = [&](std::uint32_t i) { return kItems + order[i % lines] * kWordsOfLine; };
    for (std::uint32_t i = 0; i < lines; ++i) next[word_of(i)] = word_of(i + 1);
    for (std::uint32_t i = 0; i < kItems; ++i) next[i] = word_of(i * (lines / kItems));
    const auto data = test.buffer(next);
    const auto out = test.buffer(std::size_t{kItems} * 4);
    std::vector<double> counted;
    for (int launch = 0; launch < 2; ++launch) {
      test.launch("chase", kItems, 64, data, out, 100U);
      for (const char* name : {"TCC_MISS_sum", "TCC_HIT_sum", "GRBM_GUI_ACTIVE"}) {
        counted.push_back(test.counter(name));
      }
    }
    return counted;
  };
  const std::vector<double> alone = run(1);
  EXPECT_GT(alone[0], 0);
  EXPECT_GT(alone[1], 0);
  EXPECT_EQ(run(2), alone);
}

// A CU's requests do not always stand in the order in which they depart; a late one is served at
// once, and the launch ends.
TEST(Requests, OfManyLinesFromOneLaneAllEnd) {
  TestGpu test;
  std::vector<std::uint32_t> lines(8 * 16);
  std::iota(lines.begin(), lines.end(), 1U);
  const auto in = test.buffer(lines);
  const auto out = test.buffer(lines.size() * 4);
  test.launch("copy_wide", 1, 1, out, in);
  EXPECT_EQ(test.read<std::uint32_t>(out, lines.size()), lines);
  EXPECT_LT(test.counter("GRBM_GUI_ACTIVE"), 20000);
}

// An atomic must see what the one before it left: 64 lanes on one word queue, on 64 words they do
// not.
TEST(LdsAtomics, OfAWaveOnOneWordGoOneAfterTheOther) {
  TestGpu test;
  // Eight groups of four waves on each compute unit, so that other waves work while one loads.
  const auto units = static_cast<std::uint32_t>(test.gpu().chip().architecture().compute_units());
  constexpr std::uint32_t kWaves = 32;
  constexpr std::uint32_t kRounds = 16;
  const std::uint32_t items = units * kWaves * 64;
  std::vector<std::uint32_t> apart(std::size_t{items} * kRounds);
  std::iota(apart.begin(), apart.end(), 0U);
  const auto bins = test.buffer(64 * 4);
  const auto cycles = [&](const std::vector<std::uint32_t>& words) {
    const auto data = test.buffer(words);
    test.launch("histogram", items, 256, data, bins, items * kRounds);
    return test.counter("GRBM_GUI_ACTIVE");
  };
  const double one = cycles(std::vector<std::uint32_t>(apart.size(), 5));
  EXPECT_GE(one, kWaves * kRounds * 64);  // a wave's atomics take 64 cycles instead of 2
  EXPECT_LT(cycles(apart), 0.8 * one);
}

TEST(Bandwidth, OneEngineSaturatesFourChannels) {
  TestGpu test;
  const auto data = test.buffer(std::vector<std::uint32_t>(1 << 18, 0x0F0F0F0F));
  const auto out = test.buffer(4 * 11 * 40 * 64 * 4);
  const auto run = [&](std::uint32_t rounds) {
    test.launch("pinned_stream", 4 * 11 * 40 * 64, 256, data, out, 2U, 4U, rounds);
    return std::pair{test.counter("GRBM_GUI_ACTIVE"), test.counter("TCC_READ_sum")};
  };
  run(16);
  const auto [few_cycles, few_lines] = run(16);
  const auto [cycles, lines] = run(48);
  // All traffic is on channels 4 to 7 and engine 2, and the L1 keeps none of it.
  for (std::size_t channel = 0; channel < 16; ++channel) {
    EXPECT_EQ(test.totals.channel_bytes[channel] > 0, channel / 4 == 1) << channel;
  }
  EXPECT_EQ(test.totals.engine_bytes[2], test.totals.payload_bytes);
  EXPECT_LT(test.counter("TCP_CACHE_HIT_sum") / test.counter("TCP_TOTAL_CACHE_ACCESSES_sum"), 0.01);
  EXPECT_GT(test.counter("TCC_HIT_sum") / test.counter("TCC_REQ_sum"), 0.999);
  const double share = (lines - few_lines) * 64 / ((cycles - few_cycles) * 256);
  EXPECT_GT(share, 0.95);
  EXPECT_LE(share, 1.0);
}

TEST(Bandwidth, ComputeUnitsShareAChannelFairly) {
  TestGpu test;
  const auto data = test.buffer(std::vector<std::uint32_t>(1 << 18, 0x0F0F0F0F));
  const auto out = test.buffer(4 * 11 * 40 * 64 * 4);
  test.launch("pinned_stream", 4 * 11 * 40 * 64, 256, data, out, 0U, 0U, 32U);
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  for (std::size_t cu = 0; cu < 11; ++cu) {
    shortest = std::min(shortest, test.totals.cus[cu].busy_cycles);
    longest = std::max(longest, test.totals.cus[cu].busy_cycles);
  }
  EXPECT_GT(static_cast<double>(shortest) / static_cast<double>(longest), 0.8);
}

TEST(Bandwidth, MemoryIsLimitedByItsChannels) {
  TestGpu test;
  const std::uint32_t words = 1 << 22;  // 16 MiB, far past the L2
  const auto data = test.buffer(std::vector<std::uint32_t>(words, 3));
  const auto out = test.buffer(44 * 1024 * 4);
  test.launch("stream", 44 * 1024, 256, data, out, 88U, 44U * 1024U);
  const double bytes = test.counter("TCC_MC_RDREQ_sum") * 32;
  EXPECT_GE(bytes, 44.0 * 1024 * 88 * 4);
  const Architecture& architecture = test.gpu().chip().architecture();
  const double peak = architecture.memory_bytes_per_clock_per_channel * architecture.l2_channels;
  const double share = bytes / test.counter("GRBM_GUI_ACTIVE") / peak;
  EXPECT_GT(share, 0.7);
  EXPECT_LE(share, 1.0);
}

TEST(Activity, AddsUpToTheCounters) {
  TestGpu test;
  const auto data = test.buffer(std::vector<std::uint32_t>(1 << 16, 9));
  const auto out = test.buffer(8192 * 4);
  test.launch("stream", 8192, 256, data, out, 16U, 512U);
  std::uint64_t vector = 0, lanes = 0, l1 = 0, waves = 0, accesses = 0, hits = 0, misses = 0;
  std::uint64_t busy = 0;
  for (const auto& cu : test.totals.cus) {
    vector += cu.vector_instructions;
    lanes += cu.vector_lane_operations;
    l1 += cu.l1_accesses;
    waves += cu.resident_wave_cycles;
    busy += cu.busy_cycles;
    EXPECT_LE(cu.busy_cycles, static_cast<std::uint64_t>(test.counter("GRBM_GUI_ACTIVE")));
  }
  for (const auto& channel : test.totals.channels) {
    accesses += channel.accesses;
    hits += channel.hits;
    misses += channel.misses;
  }
  EXPECT_EQ(static_cast<double>(vector), test.counter("SQ_INSTS_VALU"));
  EXPECT_EQ(lanes, vector * 64);  // no divergence in this kernel
  EXPECT_EQ(static_cast<double>(l1), test.counter("TCP_TOTAL_CACHE_ACCESSES_sum"));
  EXPECT_EQ(static_cast<double>(accesses), test.counter("TCC_REQ_sum"));
  EXPECT_EQ(hits + misses, accesses);
  EXPECT_GT(waves, 0U);
  EXPECT_EQ(static_cast<double>(busy), test.counter("SQ_BUSY_CU_CYCLES"));
  const std::uint64_t fours_of_cycles = waves / 4;
  EXPECT_EQ(static_cast<double>(fours_of_cycles), test.counter("SQ_WAVE_CYCLES"));
  EXPECT_EQ(static_cast<double>(lanes), test.counter("SQ_THREAD_CYCLES_VALU"));
  EXPECT_EQ(test.gpu().last_activity().payload_bits, test.totals.payload_bytes * 8);
}

// The threads that add are fewer by half in each step, so that lanes and instructions differ.
TEST(Activity, CountsTheLanesThatAccessLocalMemory) {
  TestGpu test;
  const auto in = test.buffer(std::vector<float>(4096, 1.0F));
  const auto out = test.buffer(16 * 4);
  test.lds_bytes = 256 * 4;
  test.launch("reduce", 4096, 256, in, out, std::uint32_t{0});
  std::uint64_t lanes = 0;
  for (const auto& cu : test.totals.cus) lanes += cu.lds_accesses;
  EXPECT_GT(lanes, 0U);
  EXPECT_EQ(static_cast<double>(lanes), test.counter("WW_LDS_LANES_sum"));
  EXPECT_LT(test.counter("WW_LDS_LANES_sum"), 60 * test.counter("SQ_INSTS_LDS"));
}

}  // namespace
}  // namespace ww::sim::gpu::memory_timing_test
