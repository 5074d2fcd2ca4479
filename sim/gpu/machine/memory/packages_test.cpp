// Packages that are several devices to a program: homes of their memory, links between two dies,
// and whole launches against arithmetic.
#include <gtest/gtest.h>

#include <array>

#include "machine/compute_unit/device_memory.hpp"
#include "machine/memory/die_links.hpp"
#include "machine/memory/io_dies.hpp"
#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu::packages_test {
namespace {

using exec::DeviceMemory;
using exec::DieLinks;
using exec::IoDies;
using test::TestGpu;

std::uint32_t line_of(std::uint64_t address) {
  return static_cast<std::uint32_t>((address - kDeviceBase) / 64);
}

TEST(MemoryDomains, APageIsAtHomeWhereItWasAllocatedOrMoved) {
  const auto memory = DeviceMemory::create(1 << 20, false, 2).value();
  const auto first = memory->allocate(5000, 0).value();
  const auto second = memory->allocate(5000, 1).value();
  const auto nowhere = memory->allocate(5000).value();
  for (const std::uint64_t at : {0, 4999}) {
    EXPECT_EQ(memory->home(first + at), 0);
    EXPECT_EQ(memory->home(second + at), 1);
    EXPECT_EQ(memory->home(nowhere + at), DeviceMemory::kNowhere);
  }
  ASSERT_TRUE(memory->move(first, 1));
  EXPECT_EQ(memory->home(first), 1);
  EXPECT_FALSE(memory->move(first + 64, 0));  // no allocation begins there
  ASSERT_TRUE(memory->release(second));
  EXPECT_EQ(memory->home(second), DeviceMemory::kNowhere);
}

TEST(MemoryDomains, EachHasRoomForItsPartAlone) {
  constexpr std::uint64_t kBytes = 1 << 20;
  const auto memory = DeviceMemory::create(kBytes, false, 2).value();
  EXPECT_FALSE(memory->allocate(kBytes / 2 + 1, 0));
  const auto half = memory->allocate(kBytes / 2, 0);
  ASSERT_TRUE(half);
  EXPECT_FALSE(memory->allocate(1, 0));
  const auto other = memory->allocate(4096, 1);
  ASSERT_TRUE(other);
  EXPECT_FALSE(memory->move(*other, 0));
  EXPECT_EQ(memory->home(*other), 1);
  ASSERT_TRUE(memory->release(*half));
  EXPECT_TRUE(memory->move(*other, 0));
}

// The kernel's table with the die's parities dropped: the I/O die is the page's, and its 32
// channels share the addresses equally.
TEST(MemoryDomains, InNps4AllSlicesOfOneIoDieHaveABufferAlike) {
  const Chip chip = test::load_chip("mi300x_nps4");
  const auto memory = DeviceMemory::create(1 << 24, false, 4).value();
  IoDies io_dies(chip.architecture(), memory.get());
  for (const int domain : {2, 0}) {
    const std::uint64_t buffer = memory->allocate(1 << 20, domain).value();
    io_dies.begin_launch();
    std::array<int, MemoryHome::kSlices> blocks{};
    for (std::uint64_t at = buffer; at < buffer + (1 << 20); at += 256) {
      MemoryHome home = memory_home(at - kDeviceBase);
      home.io_die = io_dies.domain(0, line_of(at));
      ++blocks[static_cast<std::size_t>(home.slice())];
      io_dies.read(0, line_of(at), 0);
    }
    for (int slice = 0; slice < MemoryHome::kSlices; ++slice) {
      EXPECT_EQ(blocks[static_cast<std::size_t>(slice)], slice / 32 == domain ? 128 : 0);
    }
    IoDieActivity::ByHome wanted{};
    wanted[static_cast<std::size_t>(domain)] = (1 << 20) / 256;
    EXPECT_EQ(io_dies.activity().reads[0], wanted);
  }
}

// 64 MB of the Infinity Cache stand before a domain: a buffer as large is there the second time.
TEST(MemoryDomains, InNps4ABufferOfAQuarterOfTheInfinityCacheFitsIt) {
  const Chip chip = test::load_chip("mi300x_nps4");
  constexpr std::uint64_t kBytes = 64 << 20;
  const auto memory = DeviceMemory::create(4 * kBytes, false, 4).value();
  IoDies io_dies(chip.architecture(), memory.get());
  const std::uint64_t buffer = memory->allocate(kBytes, 3).value();
  for (int pass = 0; pass < 2; ++pass) {
    io_dies.begin_launch();
    for (std::uint64_t at = buffer; at < buffer + kBytes; at += 64) {
      io_dies.read(6, line_of(at), 0);
    }
    EXPECT_EQ(io_dies.activity().memory_reads[3], pass == 0 ? kBytes / 64 : 0U);
  }
}

TEST(DieLinks, TakeALongerWayToTheOtherDie) {
  const Chip chip = test::load_chip("mi250x");
  const Architecture& architecture = chip.architecture();
  const auto memory = DeviceMemory::create(1 << 20, false, 2).value();
  const auto of_second = memory->allocate(4096, 1).value();
  const auto code = memory->allocate(4096).value();
  DieLinks links(architecture, *memory);
  links.begin_launch();
  const auto latency = [&](int die, std::uint64_t address, std::int64_t cycle) {
    return links.read(die, line_of(address), cycle) - cycle;
  };
  EXPECT_EQ(latency(1, of_second, 1000), architecture.memory_cycles);
  EXPECT_EQ(latency(0, of_second, 2000), architecture.memory_cycles + architecture.xgmi_cycles);
  for (const int die : {0, 1}) EXPECT_EQ(latency(die, code, 3000), architecture.memory_cycles);
  links.write(0, line_of(of_second) + 4, 4000);
  links.write(1, line_of(of_second), 4000);
  EXPECT_EQ(links.activity().xgmi_reads, (IoDieActivity::ByLink{1, 0, 0, 0}));
  EXPECT_EQ(links.activity().xgmi_writes, (IoDieActivity::ByLink{0, 1, 0, 0}));
}

TEST(DieLinks, KeepEachLinkBusyForALineAtATime) {
  const Chip chip = test::load_chip("mi250x");
  const Architecture& architecture = chip.architecture();
  constexpr std::uint64_t kBytes = 1 << 20;
  const auto memory = DeviceMemory::create(4 * kBytes, false, 2).value();
  const auto of_second = memory->allocate(kBytes, 1).value();
  DieLinks links(architecture, *memory);
  links.begin_launch();
  std::int64_t last = 0;
  for (std::uint64_t at = 0; at < kBytes; at += 64) {
    last = std::max(last, links.read(0, line_of(of_second + at), 0));
  }
  const double cycles = kBytes / (4 * architecture.xgmi_bytes_per_clock_per_link);
  EXPECT_NEAR(static_cast<double>(last - architecture.memory_cycles - architecture.xgmi_cycles),
              cycles, 0.01 * cycles);
  // The opposite direction of the link is free.
  EXPECT_LT(links.read(1, line_of(of_second), last) - last, 2 * architecture.memory_cycles);
}

class PairGpu : public TestGpu {
 public:
  PairGpu() : TestGpu(Options{.threads = 1}, true, "mi250x", test::read_object(kKernels)) {}
  std::uint64_t buffer_of(int device, const std::vector<std::uint32_t>& values) {
    gpu().select_device(device);
    return buffer(values);
  }
  double over_links(const std::string& what) {
    double bytes = 0;
    for (int link = 0; link < 4; ++link) {
      bytes += counter("WW_XGMI_LINK" + std::to_string(link) + "_" + what + "_BYTES_sum");
    }
    return bytes;
  }

 private:
  static constexpr const char* kKernels = WW_EMULATOR_PACKAGE_KERNELS;
};

TEST(SemanticsOfPackages, ADeviceRunsOnItsOwnDieAlone) {
  PairGpu test;
  const auto out = test.buffer_of(0, std::vector<std::uint32_t>(4096));
  for (const int device : {0, 1}) {
    test.gpu().select_device(device);
    test.launch("set_all", 4096, 64, out, 3U);
    const auto& cus = test.totals.cus;
    ASSERT_EQ(cus.size(), 224U);
    for (std::size_t place = 0; place < cus.size(); ++place) {
      EXPECT_EQ(cus[place].busy_cycles != 0 && static_cast<int>(place / 112) != device, false);
    }
  }
}

TEST(SemanticsOfPackages, WordsOfTheOtherDeviceCrossTheLinksInEveryLaunch) {
  PairGpu test;
  constexpr std::uint32_t kWords = 1U << 16;
  constexpr double kBytes = 4.0 * kWords;
  const auto near = test.buffer_of(0, std::vector<std::uint32_t>(kWords, 5));
  const auto far = test.buffer_of(1, std::vector<std::uint32_t>(kWords, 7));
  test.gpu().select_device(0);
  test.launch("copy_all", kWords, 256, near, far);
  EXPECT_EQ(test.over_links("READ"), kBytes);
  EXPECT_EQ(test.over_links("WRITE"), 0);
  for (const std::uint32_t word : test.read<std::uint32_t>(near, kWords)) ASSERT_EQ(word, 7U);
  // They fit the L2, and are read anew.
  test.launch("copy_all", kWords, 256, near, far);
  EXPECT_EQ(test.over_links("READ"), kBytes);
  // A launch's writes to that memory are there when it ends.
  test.launch("set_all", kWords, 256, far, 9U);
  EXPECT_EQ(test.over_links("WRITE"), kBytes);
  EXPECT_EQ(test.over_links("READ"), 0);
  test.gpu().select_device(1);
  test.launch("copy_all", kWords, 256, near, far);
  EXPECT_EQ(test.over_links("READ"), 0);
  EXPECT_EQ(test.over_links("WRITE"), kBytes);
  for (const std::uint32_t word : test.read<std::uint32_t>(near, kWords)) ASSERT_EQ(word, 9U);
  // Nothing crosses once the memory has moved.
  ASSERT_TRUE(test.gpu().move(near));
  test.launch("copy_all", kWords, 256, near, far);
  EXPECT_EQ(test.over_links("READ") + test.over_links("WRITE"), 0);
}

TEST(SemanticsOfPackages, AReadOfFarMemoryIsReplayed) {
  PairGpu test;
  constexpr std::uint32_t kWords = 1U << 16;
  const auto near = test.buffer_of(0, std::vector<std::uint32_t>(kWords, 5));
  const auto far = test.buffer_of(1, std::vector<std::uint32_t>(kWords, 7));
  test.gpu().select_device(0);
  const auto copy = [&] { return test.launch("copy_all", kWords, 256, near, far).replayed; };
  int executed = 0;
  while (!copy() && executed < 8) ++executed;
  EXPECT_LT(executed, 5);
  // The kernel is another launch on the other device.
  test.gpu().select_device(1);
  EXPECT_FALSE(copy());
}

}  // namespace
}  // namespace ww::sim::gpu::packages_test
