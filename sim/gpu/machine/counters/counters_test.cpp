// Counts a kernel of known traffic on a chip of 128-byte lines as recordings from MI300 cards do:
// L1 reads of 128 bytes and writes of 64, fabric reads of 128 ("bubbles"), and no dirty line behind
// a kernel. And on one of gfx1030, whose L2 counts lines of 128 bytes. And on one of gfx701, loads
// of three patterns as CodeXL's counters of GCN 1.1 see them (docs/applications.md).
#include "machine/counters/counters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::counters_test {
namespace {

using test::TestGpu;

bool is_gfx942() {
  return binpatch::to_string(test::read_kernels().target()) == "gfx942";
}
bool is_gfx1030() {
  return binpatch::to_string(test::read_kernels().target()) == "gfx1030";
}

bool is_gfx701() {
  return binpatch::to_string(test::read_kernels().target()) == "gfx701";
}

// y = a x + y of this many floats: twice their bytes are read, once are written.
constexpr std::uint32_t kFloats = 1U << 18;
constexpr double kBytes = 4.0 * kFloats;

struct Saxpy {
  TestGpu test;
  std::uint64_t x{}, y{};

  Saxpy() : x(aligned()), y(aligned()) {}
  std::uint64_t aligned() {
    const std::uint64_t address = test.buffer(std::vector<float>(kFloats, 1.0F));
    EXPECT_EQ(address % 128, 0U);
    return address;
  }
  void run() { test.launch("saxpy", kFloats, 256, y, x, 2.0F); }
};

TEST(CountersOfGfx942, RequestsTimesTheirSizesAreTheBytes) {
  if (!is_gfx942()) GTEST_SKIP() << "counters of gfx942";
  Saxpy saxpy;
  for (int run = 0; run < 2; ++run) {
    saxpy.run();
    const auto of = [&](const char* name) { return saxpy.test.counter(name); };
    EXPECT_EQ(128 * of("TCP_TCC_READ_REQ_sum"), 2 * kBytes);
    EXPECT_EQ(64 * of("TCP_TCC_WRITE_REQ_sum"), kBytes);
    EXPECT_EQ(128 * of("TCC_READ_sum") + 64 * of("TCC_WRITE_sum"), 3 * kBytes);
    EXPECT_EQ(of("TCC_HIT_sum") + of("TCC_MISS_sum"), of("TCC_REQ_sum"));
    EXPECT_EQ(saxpy.test.totals.payload_bytes, static_cast<std::uint64_t>(3 * kBytes));
    // All of it fits into the L2. Both runs write what they changed back.
    const double missed = run == 0 ? 2 * kBytes : 0;
    EXPECT_EQ(128 * of("TCC_MISS_sum"), missed);
    const double reads = of("TCC_EA0_RDREQ_sum");
    const double bubbles = of("TCC_BUBBLE_sum");
    const double small = of("TCC_EA0_RDREQ_32B_sum");
    EXPECT_EQ(128 * bubbles + 64 * (reads - bubbles - small) + 32 * small, missed);
    EXPECT_EQ(64 * of("TCC_EA0_WRREQ_64B_sum") +
                  32 * (of("TCC_EA0_WRREQ_sum") - of("TCC_EA0_WRREQ_64B_sum")),
              kBytes);
  }
}

// A wave on each compute unit loads next[id] and then the word that this names, which lies where
// the pattern puts it, in a part of the table that nothing else reads.
class TwoLoads {
 public:
  static constexpr std::uint32_t kWaves = 44;
  static constexpr std::uint32_t kItems = kWaves * 64;
  static constexpr std::uint32_t kWordsOfLine = 16;
  static constexpr double kFirstLines = kWaves * 4;  // of the coalesced first load
  static constexpr double kStoredLines = kWaves * 4;

  explicit TwoLoads(const std::function<std::uint32_t(std::uint32_t item)>& second)
      : out_(test_.buffer(4 * kItems)) {
    std::vector<std::uint32_t> next(kItems * (1 + kWordsOfLine));
    std::set<std::uint32_t> all;
    for (std::uint32_t wave = 0; wave < kWaves; ++wave) {
      std::set<std::uint32_t> lines;
      for (std::uint32_t item = 64 * wave; item < 64 * (wave + 1); ++item) {
        next[item] = kItems + second(item) % (kItems * kWordsOfLine);
        lines.insert(next[item] / kWordsOfLine);
      }
      of_waves += static_cast<double>(lines.size());
      all.merge(lines);
    }
    of_all = static_cast<double>(all.size());
    next_ = test_.buffer(next);
    EXPECT_EQ(next_ % 64, 0U);
    EXPECT_EQ(out_ % 64, 0U);
  }
  void run() { test_.launch("chase", kItems, 64, next_, out_, 2U); }
  double of(const char* counter) { return test_.counter(counter); }

  double of_waves{};  // different lines of the second load, summed over the waves
  double of_all{};    // different lines of it over all waves

 private:
  TestGpu test_;
  std::uint64_t out_{}, next_{};
};

void expect_codexls_counters(TwoLoads& loads) {
  for (const bool cold : {true, false}) {
    SCOPED_TRACE(cold ? "the L2 is empty" : "the L2 has the table");
    loads.run();
    // Instructions a wave (VFetchInsts, VWriteInsts) say nothing of the pattern.
    EXPECT_EQ(loads.of("SQ_INSTS_VMEM_RD"), 2.0 * TwoLoads::kWaves);
    EXPECT_EQ(loads.of("SQ_INSTS_VMEM_WR"), TwoLoads::kWaves);
    // The L1 looks up a line for all lanes of a load that lie in it; here it has none of them yet.
    const double loaded = TwoLoads::kFirstLines + loads.of_waves;
    EXPECT_EQ(loads.of("TCP_TOTAL_CACHE_ACCESSES_sum"), loaded + TwoLoads::kStoredLines);
    EXPECT_EQ(loads.of("TCP_CACHE_HIT_sum"), 0);
    EXPECT_EQ(loads.of("TCP_TCC_READ_REQ_sum"), loaded);
    // CacheHit: each line misses the L2 once, whichever wave asks first.
    const double brought = cold ? TwoLoads::kFirstLines + loads.of_all : 0;
    const double misses = brought + (cold ? TwoLoads::kStoredLines : 0);
    EXPECT_EQ(loads.of("TCC_MISS_sum"), misses);
    EXPECT_EQ(loads.of("TCC_HIT_sum"), loaded + TwoLoads::kStoredLines - misses);
    // FetchSize: two requests of 32 B a line, where the paper counts 32 B a miss.
    EXPECT_EQ(32 * loads.of("TCC_MC_RDREQ_sum"), 64 * brought);
  }
}

TEST(CountersOfGfx701, CoalescedLoadsAskForALineOnceForSixteenLanes) {
  if (!is_gfx701()) GTEST_SKIP() << "counters of gfx701";
  TwoLoads loads([](std::uint32_t item) { return item; });
  EXPECT_EQ(loads.of_waves, 4 * TwoLoads::kWaves);
  expect_codexls_counters(loads);
}

TEST(CountersOfGfx701, StridedLoadsAskForALineALane) {
  if (!is_gfx701()) GTEST_SKIP() << "counters of gfx701";
  TwoLoads loads([](std::uint32_t item) { return TwoLoads::kWordsOfLine * item; });
  EXPECT_EQ(loads.of_waves, 64 * TwoLoads::kWaves);
  expect_codexls_counters(loads);
}

// Some lanes of a wave share a line, and some waves do.
TEST(CountersOfGfx701, GatheredLoadsAskForEachLineOfAWaveOnce) {
  if (!is_gfx701()) GTEST_SKIP() << "counters of gfx701";
  std::mt19937 random(701);
  TwoLoads loads([&](std::uint32_t) { return static_cast<std::uint32_t>(random()); });
  EXPECT_LT(loads.of_waves, 64 * TwoLoads::kWaves);
  EXPECT_GT(loads.of_waves, 60 * TwoLoads::kWaves);
  EXPECT_LT(loads.of_all, 0.8 * loads.of_waves);
  expect_codexls_counters(loads);
}

// Whatever the wave's size: a store of 32 lanes writes a whole line as well.
TEST(CountersOfGfx1030, LookupsTimesTheLineAreTheBytes) {
  if (!is_gfx1030()) GTEST_SKIP() << "counters of gfx1030";
  Saxpy saxpy;
  for (int run = 0; run < 2; ++run) {
    saxpy.run();
    const auto of = [&](const char* name) { return saxpy.test.counter(name); };
    EXPECT_EQ(128 * of("GL2C_READ_128_REQ_sum") + 64 * of("GL2C_WRITE_64_REQ_sum"), 3 * kBytes);
    EXPECT_EQ(128 * of("GL2C_REQ_sum"), 3 * kBytes);
    EXPECT_EQ(of("GL2C_HIT_sum") + of("GL2C_MISS_sum"), of("GL2C_REQ_sum"));
    const double missed = run == 0 ? 2 * kBytes : 0;  // all of it fits into the L2
    EXPECT_EQ(128 * of("GL2C_MISS_sum"), missed);
    EXPECT_EQ(128 * of("GL2C_EA_RDREQ_128B_sum") + 64 * of("GL2C_EA_RDREQ_64B_sum"), missed);
  }
}

// Every compute unit reads the same 8 KiB, which its L1 then has: the caches of the arrays ask the
// L2 for a line once each. Loads around them ask for all.
TEST(CountersOfGfx1030, AShaderArrayAsksForALineOnce) {
  if (!is_gfx1030()) GTEST_SKIP() << "counters of gfx1030";
  constexpr std::uint32_t kShared = 2048;  // words that all groups read
  constexpr std::uint32_t kGroups = kShared / 64;
  constexpr std::uint32_t kLines = kShared * 4 / 128;
  TestGpu test;
  std::vector<std::uint32_t> next(kShared);
  for (std::uint32_t i = 0; i < kShared; ++i) next[i] = (i + 64) % kShared;
  const auto out = test.buffer(kShared * 4);
  test.launch("chase", kShared, 64, test.buffer(next), out, kGroups);
  const auto of = [&](const char* name) { return test.counter(name); };
  const double writes = 2.0 * kGroups;
  const double asked_by_cus = of("GL1C_REQ_sum") - writes;
  EXPECT_EQ(asked_by_cus, kGroups * kLines);  // a group on each of as many compute units
  const double asked_by_arrays = of("GL1C_REQ_MISS_sum") - writes;
  EXPECT_EQ(asked_by_arrays, of("GL2C_READ_128_REQ_sum"));
  EXPECT_EQ(asked_by_arrays, 6 * kLines);
  // Counts payload on the ways to the compute units.
  EXPECT_EQ(test.totals.payload_bytes, 128U * kGroups * kLines + 4U * kShared);

  test.launch("stream", kShared, 64, test.buffer(next), out, 8U, 0U);
  const auto around = test.counter("GL1C_REQ_sum");
  EXPECT_GT(around, 0);
  EXPECT_EQ(around, test.counter("GL1C_REQ_MISS_sum"));
}

// With 4 GiB, 100 KiB a work-item are enough for 20 waves of 32 on each of 60 compute units, or 8
// of 64.
TEST(CountersOfGfx1030, PrivateMemoryIsAsWideAsTheWave) {
  if (!is_gfx1030()) GTEST_SKIP() << "waves of 32";
  TestGpu test;
  constexpr std::uint32_t kItems = 61 * 64;  // one more group than compute units
  const auto out = test.buffer(kItems * 4);
  test.launch("private_100k", kItems, 64, test.buffer(std::vector<std::uint32_t>(8, 0)), out);
  const auto sums = test.read<std::uint32_t>(out, kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) ASSERT_EQ(sums[i], 8 * 7 + i % 64) << i;
  const double waves_per_group = test.counter("SQ_WAVES") / 61;
  EXPECT_EQ(test.gpu().groups_per_cu(test.program(), "private_100k", {64, 1, 1}, 0),
            waves_per_group == 2 ? 20 / 2 : 8);
}

// Three times what the L2 has: a second pass misses it and finds all in the Infinity Cache.
TEST(CountersOfGfx1030, TheInfinityCacheKeepsWhatTheL2GaveUp) {
  if (!is_gfx1030()) GTEST_SKIP() << "counters of gfx1030";
  TestGpu test;
  constexpr std::uint32_t kWords = 3U << 20U;
  constexpr double kAll = 4.0 * kWords;
  const auto data = test.buffer(std::vector<std::uint32_t>(kWords, 7));
  const auto out = test.buffer(kWords / 8 * 4);
  const auto run = [&] { test.launch("stream", kWords / 8, 256, data, out, 8U, kWords / 8); };
  run();
  EXPECT_GE(test.counter("WW_INFINITY_CACHE_BYTES_sum"), kAll);
  EXPECT_GE(test.counter("WW_MEMORY_BYTES_sum"), kAll);
  run();
  EXPECT_GE(test.counter("WW_INFINITY_CACHE_BYTES_sum"), kAll);
  EXPECT_EQ(test.counter("WW_MEMORY_BYTES_sum"), 0.0);
}

// Loads that pass by the L1 ask for whole lines too: eight values of 4 bytes for 64 work-items.
TEST(CountersOfGfx942, LoadsAroundTheL1AskForWholeLines) {
  if (!is_gfx942()) GTEST_SKIP() << "counters of gfx942";
  TestGpu test;
  constexpr std::uint32_t kItems = 4096;
  const auto data = test.buffer(std::vector<std::uint32_t>(kItems * 8UL, 3));
  const auto out = test.buffer(kItems * 4);
  test.launch("stream", kItems, 64, data, out, 8U, kItems);
  EXPECT_EQ(128 * test.counter("TCP_TCC_READ_REQ_sum"), kItems * 8 * 4);
  EXPECT_EQ(64 * test.counter("TCP_TCC_WRITE_REQ_sum"), kItems * 4);
  for (const std::uint32_t sum : test.read<std::uint32_t>(out, kItems)) EXPECT_EQ(sum, 0U);
}

// Each work-item's word lies in a line of its own: what crosses is the line.
TEST(CountersOfGfx942, AScatteredReadBringsTheLine) {
  if (!is_gfx942()) GTEST_SKIP() << "counters of gfx942";
  TestGpu test;
  constexpr std::uint32_t kSteps = 16;
  std::vector<std::uint32_t> next(64UL * 64);
  for (std::size_t i = 0; i < next.size(); ++i) {
    next[i] = static_cast<std::uint32_t>((i + 64) % next.size());
  }
  const auto out = test.buffer(4 * 64);
  test.launch("chase", 1, 1, test.buffer(next), out, kSteps);
  EXPECT_EQ(test.counter("TCP_TCC_READ_REQ_sum"), kSteps);
  EXPECT_EQ(test.totals.payload_bytes, kSteps * 128U + 4U);
}

// Divisions begin with a reciprocal, the same number in each wave; a sum of products has none.
TEST(Counters, KnowInstructionsWhoseLastBitsMayBeOthersOnACard) {
  TestGpu test;
  const auto x = test.buffer(std::vector<int>(256, 7));
  const auto y = test.buffer(std::vector<int>(256, 3));
  test.launch("integers", 256, 64, x, y, test.buffer(256 * 16 * 4));
  const double of_division = test.counter("WW_INSTS_APPROXIMATED_sum");
  EXPECT_GT(of_division, 0);
  EXPECT_LT(of_division, test.counter("SQ_INSTS_VALU") / 4);
  EXPECT_EQ(std::fmod(of_division, test.counter("SQ_WAVES")), 0);
  Saxpy saxpy;
  saxpy.run();
  EXPECT_EQ(saxpy.test.counter("WW_INSTS_APPROXIMATED_sum"), 0);
}

}  // namespace
}  // namespace ww::sim::gpu::counters_test
