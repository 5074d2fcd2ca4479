#include "machine/compute_unit/device_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::exec::device_memory_test {
namespace {

using test::TestGpu;

TEST(DeviceMemory, GivesZeroedPagesBackAndRefusesWhatIsOutside) {
  TestGpu test;
  auto& gpu = test.gpu();
  const auto a = *gpu.allocate(10000);
  EXPECT_EQ(a % 4096, 0U);
  const std::vector<std::byte> data(10000, std::byte{7});
  EXPECT_TRUE(gpu.write(a, data));
  EXPECT_FALSE(gpu.write(a + 1, data));
  EXPECT_FALSE(gpu.host_pointer(a, 10001));
  EXPECT_TRUE(gpu.release(a));
  EXPECT_FALSE(gpu.release(a));
  EXPECT_FALSE(gpu.read(a, std::span<std::byte>(const_cast<std::byte*>(data.data()), 1)));
  const auto b = *gpu.allocate(10000);
  EXPECT_EQ(test.read<std::uint32_t>(b, 2500), std::vector<std::uint32_t>(2500));
  EXPECT_FALSE(gpu.allocate(std::uint64_t{1} << 40));
  const std::vector<std::byte> pattern{std::byte{1}, std::byte{2}};
  EXPECT_TRUE(gpu.fill(b, 100, pattern));
  EXPECT_EQ(test.read<std::uint16_t>(b, 50), std::vector<std::uint16_t>(50, 0x0201));
}

// Tolerated accesses also reach the rest of the last page and the one behind it.
TEST(DeviceMemory, IsZeroAgainWhateverWasWrittenBefore) {
  const auto memory = DeviceMemory::create(64 << 20).value();
  for (const std::uint64_t bytes : {1, 4096, 5000, 300'000, 1 << 20, 3'000'000}) {
    const std::uint64_t reached = (bytes + 4095) / 4096 * 4096 + 4096;
    const auto first = memory->allocate(bytes).value();
    std::memset(memory->host(first), 7, reached);
    ASSERT_TRUE(memory->release(first));
    const auto again = memory->allocate(reached).value();
    ASSERT_EQ(again, first);
    const std::byte* const begin = memory->host(again);
    EXPECT_TRUE(std::all_of(begin, begin + reached, [](std::byte b) { return b == std::byte{}; }))
        << bytes;
    ASSERT_TRUE(memory->release(again));
  }
}

// A chip's memory is larger than the host's.
TEST(DeviceMemory, TakesLittleOfTheHostForSmallBuffersThatNobodyUses) {
  constexpr std::uint64_t kBytes = 1'000'000;
  constexpr std::size_t kBuffers = 400;
  constexpr std::uint64_t kMax = (256 << 20) + (4 << 20);  // ends lie in large pages, if need be
  for (const bool keep_released : {false, true}) {
    const auto memory = DeviceMemory::create(std::uint64_t{1} << 30).value();
    memory->keep_released(keep_released);
    const std::byte* const base = memory->host(kDeviceBase);
    const auto taken = [&] {  // bytes
      std::vector<unsigned char> pages((std::uint64_t{1} << 30) / 4096);
      EXPECT_EQ(::mincore(const_cast<std::byte*>(base), pages.size() * 4096, pages.data()), 0);
      return 4096 *
             std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
    };
    std::vector<std::uint64_t> buffers;
    for (std::size_t i = 0; i < kBuffers; ++i) buffers.push_back(memory->allocate(kBytes).value());
    EXPECT_LT(taken(), kMax);
    for (const std::uint64_t buffer : buffers) ASSERT_TRUE(memory->release(buffer));
    EXPECT_LT(taken(), keep_released ? 1 : kMax);
  }
}

TEST(DeviceMemory, GivesAlignedMemoryAndUsesWhatLiesBefore) {
  TestGpu test;
  auto& gpu = test.gpu();
  const auto first = *gpu.allocate(4096);
  constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;
  const auto aligned = *gpu.allocate(5 << 20, kAlignment);
  EXPECT_EQ(aligned % kAlignment, 0U);
  const auto next = *gpu.allocate(4096);
  EXPECT_GT(next, first);
  EXPECT_LT(next, aligned);
  const auto other = *gpu.allocate(1, kAlignment);
  EXPECT_EQ(other % kAlignment, 0U);
  EXPECT_GE(other, aligned + (5 << 20));
  EXPECT_TRUE(gpu.release(aligned));
  EXPECT_EQ(*gpu.allocate(5 << 20, kAlignment), aligned);
}

TEST(DeviceMemory, SaysWhereToLookWhenTheAddressSpaceIsTooSmall) {
  const auto memory = DeviceMemory::create(std::uint64_t{1} << 60);
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.error().text(), testing::HasSubstr("ulimit -v"));
}

std::vector<std::byte> mixed_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint32_t next = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((next = next * 1664525U + 1) >> 24);
  return bytes;
}

// Fills with patterns shorter and longer than blocks of 64 KiB.
TEST(DeviceMemory, IsFilledWithPatternsOfAnySize) {
  const auto memory = DeviceMemory::create(8 << 20).value();
  const std::uint64_t address = memory->allocate(2 << 20).value();
  for (const std::size_t size : {1, 2, 3, 16, 128, 4096, 65536, 65537, 200'000}) {
    const std::vector<std::byte> pattern = mixed_bytes(size);
    for (const std::size_t times : {std::size_t{1}, std::size_t{3}, 600'000 / size + 1}) {
      const std::size_t bytes = size * times;
      std::vector<std::byte> expected(bytes + 1, std::byte{7});
      std::byte* const place = memory->host(address);
      std::memset(place, 7, bytes + 1);
      place[bytes / 2] = std::byte{8};
      const std::uint64_t before = memory->version().value();
      memory->fill(address, bytes, pattern);
      for (std::size_t i = 0; i < bytes; ++i) expected[i] = pattern[i % size];
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), place)) << size << " x " << times;
      const std::uint64_t filled = memory->version().value();
      EXPECT_NE(filled, before) << size << " x " << times;
      memory->fill(address, bytes, pattern);  // is there already
      EXPECT_EQ(memory->version().value(), filled) << size << " x " << times;
    }
  }
}

// A program that sets a counter to 0 before each launch can have its launches replayed.
TEST(DeviceMemory, HasItsOldVersionAgainAfterASmallFill) {
  const auto memory = DeviceMemory::create(1 << 20).value();
  const std::uint64_t address = memory->allocate(4096).value();
  const std::uint64_t zeros = memory->version().value();
  const std::vector<std::byte> one{std::byte{1}};
  const std::vector<std::byte> zero{std::byte{0}};
  memory->fill(address + 100, 200, one);
  EXPECT_NE(memory->version().value(), zeros);
  memory->fill(address + 100, 200, zero);
  EXPECT_EQ(memory->version().value(), zeros);
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Tests with large pages of the host, as far as its settings give them, and without.
class ZeroedMemory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (::access("/proc/self/pagemap", R_OK) != 0) {
      GTEST_SKIP() << "needs /proc/self/pagemap, which names the pages that nobody has used";
    }
    if (!GetParam()) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  }
  void TearDown() override { ::prctl(PR_SET_THP_DISABLE, before_, 0, 0, 0); }

  static constexpr std::uint64_t kBytes = 64 << 20;
  static constexpr std::uint64_t kMaxTaken = kBytes / 16;
  const std::unique_ptr<DeviceMemory> memory_ =
      DeviceMemory::create(std::uint64_t{1} << 30).value();

 private:
  const int before_ = ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
};
INSTANTIATE_TEST_SUITE_P(DeviceMemory, ZeroedMemory, testing::Bool(), [](const auto& info) {
  return info.param ? "WithLargePages" : "WithSmallPages";
});

TEST_P(ZeroedMemory, TakesLittleOfTheHostForZerosWhereThereWereZeros) {
  const std::uint64_t address = memory_->allocate(kBytes).value();
  const std::uint64_t version = memory_->version().value();
  const std::uint64_t before = resident_bytes();
  const std::vector<std::byte> zero{std::byte{0}};
  memory_->fill(address, kBytes, zero);
  EXPECT_LT(resident_bytes(), before + kMaxTaken);
  EXPECT_EQ(memory_->version().value(), version);
  const std::vector<std::byte> one{std::byte{1}};
  memory_->fill(address, kBytes, one);
  EXPECT_GE(resident_bytes(), before + kBytes);
  EXPECT_NE(memory_->version().value(), version);
}

TEST_P(ZeroedMemory, TakesLittleOfTheHostForCopiesOfZeros) {
  std::vector<std::byte> zeros(kBytes);
  std::fill(zeros.begin(), zeros.end(), std::byte{0});  // its pages are there
  const std::uint64_t address = memory_->allocate(kBytes).value();
  const std::uint64_t before = resident_bytes();
  memory_->replace(address, zeros.data(), kBytes);
  memory_->read(address, zeros);
  EXPECT_LT(resident_bytes(), before + kMaxTaken);
  EXPECT_TRUE(std::ranges::all_of(zeros, [](std::byte byte) { return byte == std::byte{}; }));
}

// Around bytes that were written, in part of a large page, nothing is taken for unused.
TEST_P(ZeroedMemory, IsReadAndClearedWhereItWasWritten) {
  constexpr std::uint64_t kPart = 16 << 20;
  const std::uint64_t address = memory_->allocate(kPart).value();
  std::vector<std::byte> expected(kPart);
  std::uint64_t at = 1000;
  for (; at < kPart; at += at) {
    *memory_->host(address + at) = expected[at] = std::byte{7};
  }
  std::vector<std::byte> found(kPart, std::byte{9});
  memory_->read(address, found);
  EXPECT_TRUE(found == expected);
  const std::uint64_t version = memory_->version().value();
  const std::vector<std::byte> zeros(kPart);
  for (const std::uint64_t from : {0, 5000}) {
    memory_->fill(address + from, kPart - from, std::span(zeros).first(4));
    EXPECT_NE(memory_->version().value(), version);
    memory_->read(address, found);
    EXPECT_TRUE(
        std::equal(found.begin() + static_cast<std::ptrdiff_t>(from), found.end(), zeros.begin()));
    memory_->replace(address, expected.data(), kPart);
    memory_->read(address, found);
    EXPECT_TRUE(found == expected) << from;
    memory_->replace(address, zeros.data(), kPart);
    memory_->read(address, found);
    EXPECT_TRUE(found == zeros) << from;
    memory_->replace(address, expected.data(), kPart);
  }
}

// A part of the file that was written through another address was never used by this one.
TEST_P(ZeroedMemory, IsClearedThroughAnyOfTheAddressesThatAFileIsMappedTo) {
  constexpr std::uint64_t kPart = 4 << 20;
  const int file = ::memfd_create("memory", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, kPart), 0);
  std::vector<std::uint64_t> addresses;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t address = memory_->reserve(kPart, kPageBytes, 0).value();
    ASSERT_TRUE(memory_->map(address, kPart, file, DeviceMemory::kNowhere));
    memory_->permit(address, kPart, true);
    addresses.push_back(address);
  }
  ::close(file);
  std::memset(memory_->host(addresses[0]), 7, kPart);
  std::vector<std::byte> found(kPart);
  memory_->read(addresses[1], found);
  EXPECT_TRUE(std::ranges::all_of(found, [](std::byte byte) { return byte == std::byte{7}; }));
  const std::vector<std::byte> zero{std::byte{0}};
  memory_->fill(addresses[2], kPart, zero);
  memory_->read(addresses[0], found);
  EXPECT_TRUE(std::ranges::all_of(found, [](std::byte byte) { return byte == std::byte{}; }));
}

}  // namespace
}  // namespace ww::sim::gpu::exec::device_memory_test
