// A chip of several compute dies: homes of addresses, the Infinity Cache, links of the I/O dies,
// and whole launches against arithmetic.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>

#include "machine/caches/infinity_cache.hpp"
#include "machine/memory/io_dies.hpp"
#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu::dies_test {
namespace {

using exec::InfinityCache;
using exec::IoDies;
using test::TestGpu;

constexpr std::uint32_t kLinesPerBlock = 4;  // lines of 64 bytes that one slice has in a row

TEST(MemoryHome, ChangesTheChannelEvery256BytesAndTheIoDieEvery4KiB) {
  for (const std::uint64_t page : {0x0ULL, 0x1000ULL, 0x12345000ULL, 0x2FEDCB7000ULL}) {
    std::set<int> channels;
    for (std::uint64_t at = page; at < page + 4096; at += 64) {
      const MemoryHome home = memory_home(at);
      EXPECT_EQ(home, memory_home(at / 256 * 256));
      EXPECT_EQ(home.io_die, memory_home(page).io_die);
      EXPECT_EQ(home.stack, memory_home(page).stack);
      channels.insert(home.channel);
    }
    EXPECT_EQ(channels.size(), 16U);
  }
  // The kernel's parities, by hand: bits 12 and 20 name the same bit of the I/O die.
  EXPECT_EQ(memory_home(1ULL << 12), (MemoryHome{.io_die = 1, .stack = 0, .channel = 1}));
  EXPECT_EQ(memory_home(1ULL << 13), (MemoryHome{.io_die = 2, .stack = 0, .channel = 2}));
  EXPECT_EQ(memory_home(1ULL << 14), (MemoryHome{.io_die = 0, .stack = 1, .channel = 4}));
  EXPECT_EQ(memory_home(1ULL << 20 | 1ULL << 12),
            (MemoryHome{.io_die = 0, .stack = 0, .channel = 1}));
}

TEST(MemoryHome, SpreadsEachMebibyteOverAllSlicesAlike) {
  for (const std::uint64_t first : {0ULL, 5ULL << 20, 77ULL << 30}) {
    std::array<int, MemoryHome::kSlices> blocks{};
    for (std::uint64_t at = first; at < first + (1 << 20); at += 256) {
      ++blocks[static_cast<std::size_t>(memory_home(at).slice())];
    }
    for (const int count : blocks) EXPECT_EQ(count, (1 << 20) / 256 / MemoryHome::kSlices);
  }
}

TEST(InfinityCache, KeepsWhatFitsAndWritesBackTheOldest) {
  constexpr int kWays = 2;
  // 4 sets of 2 ways in each slice.
  InfinityCache cache(std::int64_t{64} * MemoryHome::kSlices * kWays * 4, kWays,
                      MemoryHome::kSlices);
  constexpr std::uint32_t kNext = 512;  // lines from a block to the slice's next one
  const auto block = [](std::uint32_t n) { return std::pair{n * kNext, std::size_t{4} * n}; };
  const auto read = [&](std::uint32_t n, std::size_t slice) {
    return cache.read(block(n).first, slice, block(n).second);
  };
  EXPECT_FALSE(cache.write(0, 3, 0).hit);
  EXPECT_TRUE(read(0, 3).hit);
  EXPECT_FALSE(read(0, 4).hit);  // another slice
  EXPECT_FALSE(read(1, 3).hit);
  EXPECT_TRUE(read(0, 3).hit);  // which does not make it younger
  const auto third = read(2, 3);
  EXPECT_FALSE(third.hit);
  EXPECT_TRUE(third.writeback);
  EXPECT_FALSE(read(3, 3).writeback);
  EXPECT_FALSE(read(0, 3).hit);
}

TEST(InfinityCache, HasTheHashOfWhatWillBeGivenUpInTurn) {
  InfinityCache cache(MemoryHome::kSlices * 2 * 64, 2, MemoryHome::kSlices);  // one set of two ways
  const std::uint64_t empty = cache.hash();
  cache.read(0, 0, 0);
  cache.read(1U << 9U, 0, 4);
  const std::uint64_t full = cache.hash();
  EXPECT_NE(full, empty);
  cache.read(0, 0, 0);  // a hit changes nothing
  EXPECT_EQ(cache.hash(), full);
  cache.read(1U << 10U, 0, 8);  // instead of line 0; now in other ways
  EXPECT_NE(cache.hash(), full);
  cache.read(0, 0, 0);
  cache.read(1U << 9U, 0, 4);
  EXPECT_EQ(cache.hash(), full);
  cache.write(0, 0, 0);
  EXPECT_NE(cache.hash(), full);
}

TEST(IoDies, TakeAHopToANeighbourAndTwoAcross) {
  EXPECT_EQ(IoDies::hops(0, 0), 0);
  EXPECT_EQ(IoDies::hops(0, 1), 1);
  EXPECT_EQ(IoDies::hops(0, 2), 2);
  EXPECT_EQ(IoDies::hops(0, 3), 1);
  EXPECT_EQ(IoDies::hops(3, 0), 1);
  const Chip chip = test::load_chip("mi300x");
  const Architecture& architecture = chip.architecture();
  IoDies io_dies(architecture);
  io_dies.begin_launch();
  for (std::uint32_t page = 0; page < 8; ++page) {
    const std::uint32_t line = page * 64;
    const int home = memory_home(std::uint64_t{line} * 64).io_die;
    for (int die = 0; die < architecture.dies; ++die) {
      // Long after one another, so that nothing is busy. The first one brings the line from memory.
      const std::int64_t cycle = 100000LL * (page * 8 + die + 1);
      const int hops = IoDies::hops(die / 2, home);
      const int latency =
          die == 0 ? architecture.memory_cycles : architecture.infinity_cache_cycles;
      EXPECT_NEAR(static_cast<double>(io_dies.read(die, line, cycle) - cycle),
                  latency + hops * architecture.io_die_hop_cycles, 1.0);
    }
  }
  const IoDieActivity& activity = io_dies.activity();
  for (const auto& reads : activity.reads) {
    EXPECT_EQ(std::accumulate(reads.begin(), reads.end(), std::uint64_t{0}), 8U);
  }
  EXPECT_EQ(
      std::accumulate(activity.memory_reads.begin(), activity.memory_reads.end(), std::uint64_t{0}),
      8U);
}

TEST(IoDies, KeepALinkBusyForALineAtATime) {
  const Chip chip = test::load_chip("mi300x");
  const Architecture& architecture = chip.architecture();
  IoDies io_dies(architecture);
  io_dies.begin_launch();
  constexpr std::uint32_t kPages = 512;
  std::int64_t last = 0;
  std::uint64_t lines = 0;
  for (std::uint32_t page = 0; page < kPages; ++page) {
    if (memory_home(std::uint64_t{page} * 4096).io_die != 1) continue;
    for (std::uint32_t line = page * 64; line < (page + 1) * 64; ++line) {
      last = std::max(last, io_dies.read(0, line, 0));
      ++lines;
    }
  }
  ASSERT_EQ(lines, kPages / 4 * 64);
  // All cross one link, which gives the time but for the latency of the last one.
  EXPECT_GE(static_cast<double>(last),
            64.0 * static_cast<double>(lines) / architecture.io_die_link_bytes_per_clock);
}

// The chip with the kernels of test/dies.cl.
class DiesGpu : public TestGpu {
 public:
  explicit DiesGpu(unsigned threads = 1)
      : TestGpu(Options{.threads = threads}, true, "mi300x",
                test::read_object(WW_EMULATOR_DIES_KERNELS)) {}
};

TEST(SemanticsOfDies, WorkGroupsGoToTheDiesInTurn) {
  DiesGpu test;
  constexpr std::uint32_t kGroups = 1001;
  const auto out = test.buffer(4 * kGroups);
  test.launch("die_of_group", kGroups * 64, 64, out);
  const auto dies = test.read<std::uint32_t>(out, kGroups);
  for (std::uint32_t group = 0; group < kGroups; ++group) ASSERT_EQ(dies[group], group % 8);
  const auto& cus = test.totals.cus;
  ASSERT_EQ(cus.size(), 320U);
  std::size_t used = 0;
  for (std::size_t place = 0; place < cus.size(); ++place) {
    const std::size_t engine = place / 10 % 4;
    const bool off = place % 10 == 9 && engine >= 2;
    EXPECT_FALSE(off && cus[place].busy_cycles != 0) << place;
    used += cus[place].busy_cycles != 0 ? 1 : 0;
  }
  EXPECT_EQ(used, 304U);
}

// y = a x + y: each byte has one home, each die has its own eighth of the work-groups.
TEST(SemanticsOfDies, RequestsTimesTheirSizesAreTheBytesOfAllDies) {
  DiesGpu test;
  constexpr std::uint32_t kFloats = 1U << 18;
  constexpr double kBytes = 4.0 * kFloats;
  const auto x = test.buffer(std::vector<float>(kFloats, 1.0F));
  const auto y = test.buffer(std::vector<float>(kFloats, 1.0F));
  test.launch("axpy", kFloats, 256, y, x, 2.0F);
  EXPECT_EQ(128 * test.counter("TCP_TCC_READ_REQ_sum"), 2 * kBytes);
  EXPECT_EQ(64 * test.counter("TCP_TCC_WRITE_REQ_sum"), kBytes);
  EXPECT_EQ(128 * test.counter("TCC_BUBBLE_sum"), 2 * kBytes);
  for (const float value : test.read<float>(y, kFloats)) ASSERT_EQ(value, 3.0F);
  IoDieActivity::ByHome wanted{};
  for (const std::uint64_t buffer : {x, y}) {
    for (std::uint64_t at = buffer; at < buffer + 4 * kFloats; at += 64) {
      ++wanted[static_cast<std::size_t>(memory_home(at - kDeviceBase).io_die)];
    }
  }
  const IoDieActivity& io_dies = test.totals.io_dies;
  IoDieActivity::ByHome of_home{};
  for (const auto& of_die : io_dies.reads) {
    std::uint64_t reads = 0;
    for (std::size_t home = 0; home < of_die.size(); ++home) {
      reads += of_die[home];
      of_home[home] += of_die[home];
    }
    EXPECT_EQ(64.0 * static_cast<double>(reads), 2 * kBytes / 8);
  }
  EXPECT_EQ(of_home, wanted);
  EXPECT_EQ(io_dies.memory_reads, wanted);
  // The monitors sort the same lines by the links that they took.
  double by_way[4]{};
  for (int die = 0; die < 8; ++die) {
    for (int home = 0; home < MemoryHome::kIoDies; ++home) {
      const int turned = (home - die / 2 + 4) % 4;
      const bool row = (die / 2) % 2 == 0 ? turned == 1 : turned == 3;
      const auto d = static_cast<std::size_t>(die);
      const auto h = static_cast<std::size_t>(home);
      by_way[turned == 0   ? 0
             : turned == 2 ? 3
             : row         ? 1
                   : 2] += 64.0 * static_cast<double>(io_dies.reads[d][h] + io_dies.writes[d][h]);
    }
  }
  EXPECT_EQ(test.counter("WW_IO_DIE_OWN_BYTES_sum"), by_way[0]);
  EXPECT_EQ(test.counter("WW_IO_DIE_ROW_BYTES_sum"), by_way[1]);
  EXPECT_EQ(test.counter("WW_IO_DIE_COLUMN_BYTES_sum"), by_way[2]);
  EXPECT_EQ(test.counter("WW_IO_DIE_ACROSS_BYTES_sum"), by_way[3]);
  EXPECT_EQ(by_way[0] + by_way[1] + by_way[2] + by_way[3], 3 * kBytes);
  EXPECT_EQ(test.counter("WW_MEMORY_STACK_BYTES_sum"), 2 * kBytes);
  // The second time the Infinity Cache has all of it.
  test.launch("axpy", kFloats, 256, y, x, 2.0F);
  for (const std::uint64_t reads : test.totals.io_dies.memory_reads) EXPECT_EQ(reads, 0U);
}

std::uint64_t reads_of(const IoDieActivity& activity) {
  std::uint64_t reads = 0;
  for (const auto& of_die : activity.reads) {
    reads += std::accumulate(of_die.begin(), of_die.end(), std::uint64_t{0});
  }
  return reads;
}

TEST(SemanticsOfDies, AWordThatADieWritesLeavesTheOtherL2s) {
  DiesGpu test;
  constexpr std::uint32_t kGroups = 16;
  const auto word = test.buffer(std::vector<std::uint32_t>(64, 7));
  const auto out = test.buffer(4 * kGroups * 64);
  const auto look = [&](std::uint32_t wanted) {
    test.launch("look", kGroups * 64, 64, out, word);
    const auto seen = test.read<std::uint32_t>(out, kGroups * 64);
    for (std::uint32_t group = 0; group < kGroups; ++group) EXPECT_EQ(seen[group * 64], wanted);
    return reads_of(test.totals.io_dies);
  };
  EXPECT_EQ(look(7), 8U * 2U);  // each die brings 128 bytes
  EXPECT_EQ(look(7), 0U);
  test.launch("set", 64, 64, word, 9U);  // on die 0
  EXPECT_EQ(look(9), 7U);                // the written 64 bytes, by each other die
  EXPECT_EQ(look(9), 0U);
}

TEST(SemanticsOfDies, ALaunchThatLeavesAllCachesAsTheyWereIsReplayed) {
  DiesGpu test;
  constexpr std::uint32_t kGroups = 16;
  const auto word = test.buffer(std::vector<std::uint32_t>(64, 7));
  const auto out = test.buffer(4 * kGroups * 64);
  const auto look = [&] { return test.launch("look", kGroups * 64, 64, out, word).replayed; };
  EXPECT_FALSE(look());  // changes memory
  int executed = 0;
  while (!look() && executed < 8) ++executed;
  EXPECT_LT(executed, 4);
  EXPECT_TRUE(look());
  // Another launch brings other lines: the first one is executed again.
  const auto other = test.buffer(std::vector<float>(1U << 20, 1.0F));
  const auto sum = test.buffer(std::vector<float>(1U << 20, 1.0F));
  test.launch("axpy", 1U << 20, 256, sum, other, 2.0F);
  EXPECT_FALSE(look());
}

TEST(SemanticsOfDies, OneThreadAndTwoDoTheSame) {
  std::uint64_t hash[2]{};
  for (const unsigned threads : {1U, 2U}) {
    DiesGpu test(threads);
    constexpr std::uint32_t kFloats = 1U << 15;
    const auto x = test.buffer(std::vector<float>(kFloats, 1.0F));
    const auto y = test.buffer(std::vector<float>(kFloats, 1.0F));
    test.launch("axpy", kFloats, 64, y, x, 2.0F);
    hash[threads - 1] = test.totals.hash;
  }
  EXPECT_EQ(hash[0], hash[1]);
}

}  // namespace
}  // namespace ww::sim::gpu::dies_test
