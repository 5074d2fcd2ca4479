// Memory that a program maps to addresses of its choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "hip_world.hpp"

namespace {

struct Location {
  int type{1}, device{};  // a device
};
struct Properties {
  int allocation_type{1};  // pinned
  int handle_type{};
  Location location{};
  void* win32{};
  unsigned char flags[8]{};
};
struct Access {
  Location location{};
  int access{3};  // to read and write
};
using Handle = struct Physical*;

}  // namespace

extern "C" {
int hipMemGetAllocationGranularity(size_t*, const Properties*, unsigned);
int hipMemAddressReserve(void**, size_t, size_t, void*, unsigned long long);
int hipMemAddressFree(void*, size_t);
int hipMemCreate(Handle*, size_t, const Properties*, unsigned long long);
int hipMemRelease(Handle);
int hipMemRetainAllocationHandle(Handle*, void*);
int hipMemGetAllocationPropertiesFromHandle(Properties*, Handle);
int hipMemMap(void*, size_t, size_t, Handle, unsigned long long);
int hipMemUnmap(void*, size_t);
int hipMemSetAccess(void*, size_t, const Access*, size_t);
int hipMemGetAccess(unsigned long long*, const Location*, void*);
int hipMemGetAddressRange(void**, size_t*, void*);
}

namespace ww::sim::driver {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

constexpr std::size_t kBytes = 16384;
constexpr std::size_t kWords = kBytes / sizeof(int);
constexpr int kOutOfMemory = 2;

class HipVirtualMemory : public Hip {
 protected:
  void SetUp() override {
    Hip::SetUp();
    ASSERT_EQ(hipMemAddressReserve(&range_, 4 * kBytes, 0, nullptr, 0), 0);
  }
  void TearDown() override {
    for (std::size_t i = 0; i < 4; ++i) static_cast<void>(hipMemUnmap(at(i), kBytes));
    EXPECT_EQ(hipMemAddressFree(range_, 4 * kBytes), 0);
    Hip::TearDown();
  }
  // Places in the range, each for a piece of memory.
  int* at(std::size_t piece) { return static_cast<int*>(range_) + piece * kWords; }
  static Handle create() {
    Handle handle{};
    const Properties properties;
    EXPECT_EQ(hipMemCreate(&handle, kBytes, &properties, 0), 0);
    return handle;
  }
  void map(std::size_t piece, Handle handle) {
    const Access all;
    ASSERT_EQ(hipMemMap(at(piece), kBytes, 0, handle, 0), 0);
    ASSERT_EQ(hipMemSetAccess(at(piece), kBytes, &all, 1), 0);
  }
  // Maps memory that goes when it is unmapped.
  void map_new(std::size_t piece) {
    Handle handle = create();
    map(piece, handle);
    ASSERT_EQ(hipMemRelease(handle), 0);
  }
  static std::vector<int> words_of(const int* pointer, std::size_t count) {
    std::vector<int> words(count, -1);
    EXPECT_EQ(hipMemcpy(words.data(), pointer, count * sizeof(int), 2), 0);
    return words;
  }
  int increment(int* pointer, unsigned pieces) {
    const int code = launch("increment", pieces * static_cast<unsigned>(kWords / 64), 64, pointer);
    return code == 0 ? hipDeviceSynchronize() : code;
  }

  void* range_{};
};

TEST_F(HipVirtualMemory, PiecesSideBySideAreOneToKernelsAndCopies) {
  int supported = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&supported, 89, 0), 0);
  EXPECT_EQ(supported, 1);
  std::size_t granularity = 0;
  const Properties properties;
  ASSERT_EQ(hipMemGetAllocationGranularity(&granularity, &properties, 0), 0);
  EXPECT_EQ(kBytes % granularity, 0U);
  map_new(0);
  map_new(1);
  EXPECT_THAT(words_of(at(0), 2 * kWords), Each(0));
  std::vector<int> words(2 * kWords);
  std::iota(words.begin(), words.end(), 0);
  ASSERT_EQ(hipMemcpy(at(0), words.data(), 2 * kBytes, 1), 0);
  ASSERT_EQ(increment(at(0), 2), 0);
  for (int& word : words) ++word;
  EXPECT_THAT(words_of(at(0), 2 * kWords), ElementsAreArray(words));
  void* base = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hipMemGetAddressRange(&base, &bytes, at(1) + 7), 0);
  EXPECT_EQ(base, at(0));
  EXPECT_EQ(bytes, 2 * kBytes);
}

TEST_F(HipVirtualMemory, WhatIsNotMappedOrNotPermittedIsNoMemory) {
  map_new(0);
  std::vector<int> words(2 * kWords);
  EXPECT_EQ(hipMemcpy(words.data(), at(0), 2 * kBytes, 2), kInvalidValue);
  EXPECT_EQ(hipMemset(at(1), 0, 4), kInvalidValue);
  ASSERT_EQ(hipMemMap(at(1), kBytes, 0, create(), 0), 0);  // no access yet
  EXPECT_EQ(hipMemcpy(at(1), words.data(), kBytes, 1), kInvalidValue);
  const Access read{{}, 1};
  ASSERT_EQ(hipMemSetAccess(at(1), kBytes, &read, 1), 0);
  EXPECT_EQ(hipMemcpy(at(1), words.data(), kBytes, 1), kInvalidValue);
  EXPECT_EQ(hipMemset(at(1), 0, kBytes), kInvalidValue);
  EXPECT_THAT(words_of(at(1), kWords), Each(0));
  unsigned long long access = 0;
  const Location here;
  ASSERT_EQ(hipMemGetAccess(&access, &here, at(1)), 0);
  EXPECT_EQ(access, 1U);
  EXPECT_EQ(hipMemGetAccess(&access, &here, at(2)), kInvalidValue);
  // A kernel that goes there is said to be out of bounds, and leaves nothing.
  EXPECT_EQ(increment(at(2), 1), 0);
  map_new(2);
  EXPECT_THAT(words_of(at(2), kWords), Each(0));
}

TEST_F(HipVirtualMemory, ResettingTheDeviceKeepsIt) {
  map_new(0);
  ASSERT_EQ(increment(at(0), 1), 0);
  ASSERT_EQ(hipDeviceReset(), 0);
  EXPECT_THAT(words_of(at(0), kWords), Each(1));
  ASSERT_EQ(hipModuleLoadData(&module_, code_object().data()), 0);
}

TEST_F(HipVirtualMemory, OnePieceCanBeAtSeveralAddresses) {
  Handle handle = create();
  map(0, handle);
  map(2, handle);
  ASSERT_EQ(hipMemRelease(handle), 0);
  ASSERT_EQ(increment(at(0), 1), 0);
  ASSERT_EQ(increment(at(2), 1), 0);
  EXPECT_THAT(words_of(at(0), kWords), Each(2));
  EXPECT_THAT(words_of(at(2), kWords), Each(2));
}

// A launch of the same kernel with the same argument, too, is not replayed then.
TEST_F(HipVirtualMemory, ContentsGoWithThePieceToAnotherAddress) {
  Handle first = create();
  Handle second = create();
  map(0, first);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(increment(at(0), 1), 0);
  ASSERT_EQ(hipMemUnmap(at(0), kBytes), 0);
  map(0, second);
  ASSERT_EQ(increment(at(0), 1), 0);
  EXPECT_THAT(words_of(at(0), kWords), Each(1));
  map(3, first);
  EXPECT_THAT(words_of(at(3), kWords), Each(3));
  EXPECT_EQ(hipMemRelease(first), 0);
  EXPECT_EQ(hipMemRelease(second), 0);
}

TEST_F(HipVirtualMemory, ThePieceIsTheProgramsUntilItIsReleasedAndUnmapped) {
  std::size_t before = 0;
  std::size_t all = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &all), 0);
  const auto used = [&] {
    std::size_t now = 0;
    EXPECT_EQ(hipMemGetInfo(&now, &all), 0);
    return before - now;
  };
  Handle handle = create();
  EXPECT_EQ(used(), kBytes);
  map(0, handle);
  ASSERT_EQ(hipMemRelease(handle), 0);
  EXPECT_EQ(hipMemRelease(handle), kInvalidValue);
  EXPECT_EQ(used(), kBytes);
  Handle again{};
  ASSERT_EQ(hipMemRetainAllocationHandle(&again, at(0) + 5), 0);
  EXPECT_EQ(again, handle);
  Properties properties;
  ASSERT_EQ(hipMemGetAllocationPropertiesFromHandle(&properties, again), 0);
  EXPECT_EQ(properties.allocation_type, 1);
  ASSERT_EQ(hipMemUnmap(at(0), kBytes), 0);
  EXPECT_EQ(used(), kBytes);
  ASSERT_EQ(hipMemRelease(again), 0);
  EXPECT_EQ(used(), 0U);
}

TEST_F(HipVirtualMemory, AddressesAreWhereTheyWereAskedForIfTheyAreFree) {
  ASSERT_EQ(hipMemAddressFree(range_, 4 * kBytes), 0);
  void* const wanted = at(1);
  void* given = nullptr;
  ASSERT_EQ(hipMemAddressReserve(&given, kBytes, 0, wanted, 0), 0);
  EXPECT_EQ(given, wanted);
  void* other = nullptr;
  ASSERT_EQ(hipMemAddressReserve(&other, kBytes, 1 << 21, wanted, 0), 0);
  EXPECT_NE(other, wanted);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other) % (1 << 21), 0U);
  EXPECT_EQ(hipMemAddressFree(other, kBytes), 0);
  EXPECT_EQ(hipMemAddressFree(given, kBytes), 0);
  ASSERT_EQ(hipMemAddressReserve(&range_, 4 * kBytes, 0, nullptr, 0), 0);
}

TEST_F(HipVirtualMemory, MistakesHaveCodesAndChangeNothing) {
  void* other = nullptr;
  EXPECT_EQ(hipMemAddressReserve(nullptr, kBytes, 0, nullptr, 0), kInvalidValue);
  EXPECT_EQ(hipMemAddressReserve(&other, kBytes - 1, 0, nullptr, 0), kOutOfMemory);
  EXPECT_EQ(hipMemAddressReserve(&other, kBytes, 3, nullptr, 0), kOutOfMemory);
  EXPECT_EQ(hipMemAddressReserve(&other, std::size_t{1} << 50, 0, nullptr, 0), kOutOfMemory);
  Handle handle{};
  Properties properties;
  EXPECT_EQ(hipMemCreate(&handle, kBytes + 1, &properties, 0), kInvalidValue);
  EXPECT_EQ(hipMemCreate(&handle, std::size_t{1} << 50, &properties, 0), kOutOfMemory);
  properties.location.device = 7;
  EXPECT_EQ(hipMemCreate(&handle, kBytes, &properties, 0), kInvalidValue);
  handle = create();
  int on_host = 0;
  EXPECT_EQ(hipMemMap(&on_host, kBytes, 0, handle, 0), kInvalidValue);
  EXPECT_EQ(hipMemMap(at(0), 2 * kBytes, 0, handle, 0), kInvalidValue);
  EXPECT_EQ(hipMemMap(at(0) + 1, kBytes, 0, handle, 0), kInvalidValue);
  map(1, handle);
  EXPECT_EQ(hipMemMap(at(1), kBytes, 0, handle, 0), kInvalidValue);
  EXPECT_EQ(hipMemMap(at(1) - 1024, kBytes, 0, handle, 0), kInvalidValue);
  EXPECT_EQ(hipMemUnmap(at(1), kBytes / 2), kInvalidValue);
  EXPECT_EQ(hipMemUnmap(at(0), 2 * kBytes), kInvalidValue);
  EXPECT_EQ(hipMemAddressFree(range_, 4 * kBytes), kInvalidValue);
  EXPECT_EQ(hipFree(at(1)), kInvalidValue);
  const Access bad{{}, 2};
  EXPECT_EQ(hipMemSetAccess(at(1), kBytes, &bad, 1), kInvalidValue);
  EXPECT_EQ(hipMemSetAccess(at(1), kBytes / 2, &bad, 1), kInvalidValue);
  EXPECT_THAT(words_of(at(1), kWords), Each(0));
  EXPECT_EQ(hipMemRelease(handle), 0);
  EXPECT_EQ(hipMemMap(at(0), kBytes, 0, handle, 0), kInvalidValue);
}

}  // namespace
}  // namespace ww::sim::driver
