// The scalar data cache of a chip that has one: what hits, what misses, and who shares it.
#include <gtest/gtest.h>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::scalar_cache_test {
namespace {

using test::TestGpu;

constexpr std::uint32_t kWordsOfLine = 16;

// virtual:mi210, with its kernels.
TestGpu mi210(unsigned threads = 1) {
  return {test::TrickOptions{{.threads = threads}, {.replay = false}},
          true,
          {},
          test::read_object(WW_EMULATOR_KERNELS_GFX90A)};
}

// A ring with a word in each line.
std::vector<std::uint32_t> ring(std::uint32_t lines) {
  std::vector<std::uint32_t> next(std::size_t{lines} * kWordsOfLine);
  for (std::uint32_t i = 0; i < lines; ++i) {
    next[std::size_t{i} * kWordsOfLine] = (i + 1) % lines * kWordsOfLine;
  }
  return next;
}

double cycles_per_step(TestGpu& test, std::uint32_t lines) {
  const auto data = test.buffer(ring(lines));
  const auto out = test.buffer(64 * 4);
  const auto cycles = [&](std::uint32_t steps) {
    test.launch("scalar_chase", 64, 64, data, out, steps, 0U);
    return test.counter("GRBM_GUI_ACTIVE");
  };
  cycles(lines);  // brings the ring to the L2
  const double few = cycles(lines);
  return (cycles(lines + 1000) - few) / 1000;
}

TEST(ScalarCache, MakesLoadsSlowOnceTheyDoNotFit) {
  TestGpu test = mi210();
  const Architecture& architecture = test.gpu().chip().architecture();
  const auto lines = static_cast<std::uint32_t>(architecture.scalar_cache_bytes / 64);
  const double fits = cycles_per_step(test, lines - 16);  // the arguments need some, too
  EXPECT_GE(fits, architecture.scalar_load_cycles);
  EXPECT_LE(fits, architecture.scalar_load_cycles + 40);
  const double misses = cycles_per_step(test, 2 * lines);
  EXPECT_GE(misses, architecture.scalar_miss_cycles);
  EXPECT_LE(misses, architecture.scalar_miss_cycles + 100);
}

// Every ninth group goes to the neighbour of the first one's compute unit. It begins in the middle
// of the ring, so that each brings one half, which the other then finds.
TEST(ScalarCache, IsSharedByNeighbours) {
  constexpr std::uint32_t kLines = 128;
  TestGpu test = mi210();
  const auto engines = static_cast<std::uint32_t>(test.gpu().chip().architecture().shader_engines);
  const auto data = test.buffer(ring(kLines));
  const auto out = test.buffer(std::size_t{2} * engines * 64 * 4);
  const auto reads = [&](std::uint32_t units) {
    const std::uint32_t half = kLines / 2 * kWordsOfLine;
    test.launch("scalar_chase", units * engines * 64, 64, data, out, 2 * kLines, half);
    return test.counter("TCC_READ_sum") / engines;
  };
  const double alone = reads(1);
  EXPECT_GE(alone, kLines);
  EXPECT_LE(alone, kLines + 8);  // arguments and the dispatch packet
  EXPECT_LE(reads(2), kLines + 16);
  const std::vector<std::uint32_t> ends =
      test.read<std::uint32_t>(out, std::size_t{2} * engines * 64);
  EXPECT_EQ(ends.front(), 0U);
  EXPECT_EQ(ends.back(), kLines / 2 * kWordsOfLine);
}

TEST(ScalarCache, DoesTheSameOnAnyNumberOfThreads) {
  const auto run = [](unsigned threads) {
    TestGpu test = mi210(threads);
    const auto data = test.buffer(ring(400));
    const auto out = test.buffer(104 * 64 * 4);
    test.launch("scalar_chase", 104 * 64, 64, data, out, 600U, 16U);
    return std::pair{test.totals.hash, test.counters(0)};
  };
  EXPECT_EQ(run(1), run(3));
}

// Their scalar loads leave nothing in the L2.
TEST(ScalarCache, IsAbsentWhereTheChipFileHasNone) {
  TestGpu test;
  if (test.gpu().chip().architecture().scalar_cache_bytes != 0) GTEST_SKIP() << "mi210's kernels";
  const auto data = test.buffer(ring(1024));
  const auto out = test.buffer(64 * 4);
  test.launch("scalar_chase", 64, 64, data, out, 2048U, 0U);
  EXPECT_EQ(test.counter("TCC_READ_sum"), 0);
}

}  // namespace
}  // namespace ww::sim::gpu::scalar_cache_test
