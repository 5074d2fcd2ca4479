// Memory that host and device share: the host's own, registered; advice on managed memory; what
// pools count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <vector>

#include "hip_world.hpp"

extern "C" {
int hipHostGetFlags(unsigned*, void*);
int hipMemAdvise(const void*, std::size_t, int, int);
int hipMemPoolCreate(hipMemPool_t*, const void*);
int hipMemPoolDestroy(hipMemPool_t);
int hipMemPoolSetAttribute(hipMemPool_t, int, const void*);
int hipMemPrefetchAsync(const void*, std::size_t, int, hipStream_t);
int hipMemRangeGetAttribute(void*, std::size_t, int, const void*, std::size_t);
}

namespace ww::sim::driver {
namespace {

class HipRegistered : public Hip {
 protected:
  // The device's address of the words.
  void* place_of(void* host) {
    void* place = nullptr;
    EXPECT_EQ(hipHostGetDevicePointer(&place, host, 0), 0);
    return place;
  }
  std::vector<int> words_ = std::vector<int>(128);
};

TEST_F(HipRegistered, KernelsReadAndWriteTheHostsMemory) {
  ASSERT_EQ(hipHostRegister(words_.data(), 512, 2), 0);
  void* place = place_of(words_.data());
  EXPECT_NE(place, words_.data());
  for (int round = 1; round <= 3; ++round) {
    for (int& word : words_) word = 10 * round;  // no call says so
    ASSERT_EQ(launch("increment", 2, 64, place), 0);
    EXPECT_THAT(words_, ::testing::Each(10 * round + 1));
  }
  // The middle of it, through its own address.
  ASSERT_EQ(launch("increment", 1, 64, place_of(&words_[32])), 0);
  EXPECT_EQ(words_[31], 31);
  EXPECT_EQ(words_[32], 32);
  EXPECT_EQ(words_[95], 32);
  unsigned flags = 0;
  EXPECT_EQ(hipHostGetFlags(&flags, &words_[1]), 0);
  EXPECT_EQ(flags, 2);
  EXPECT_EQ(hipHostUnregister(words_.data()), 0);
  EXPECT_EQ(hipHostUnregister(words_.data()), 713);
  EXPECT_EQ(hipHostGetDevicePointer(&place, words_.data(), 0), kInvalidValue);
}

TEST_F(HipRegistered, CopiesAndFillsGoToTheHostsMemory) {
  ASSERT_EQ(hipHostRegister(words_.data(), 512, 0), 0);
  auto* place = static_cast<int*>(place_of(words_.data()));
  const int seven = 7;
  ASSERT_EQ(hipMemcpy(place + 3, &seven, 4, hipMemcpyHostToDevice), 0);
  EXPECT_EQ(words_[3], 7);
  ASSERT_EQ(hipMemsetD32(place + 4, 9, 2), 0);
  EXPECT_THAT(std::vector<int>(words_.begin() + 3, words_.begin() + 7),
              ::testing::ElementsAre(7, 9, 9, 0));
  ASSERT_EQ(hipMemset(&words_[6], 1, 4), 0);  // by the host's own address
  EXPECT_EQ(words_[6], 0x01010101);
  words_[0] = 5;
  int back = 0;
  ASSERT_EQ(hipMemcpy(&back, place, 4, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(back, 5);
  EXPECT_EQ(hipMemset(place + 127, 0, 8), kInvalidValue);
  EXPECT_EQ(hipFree(place), kInvalidValue);
  EXPECT_EQ(hipHostUnregister(words_.data()), 0);
}

TEST_F(HipRegistered, CopiesTakeTheHostsOwnAddressForTheDevices) {
  std::vector<int> plain(128, 3);
  int* const words = words_.data();
  EXPECT_EQ(hipMemcpy(words, plain.data(), 16, hipMemcpyHostToDevice), kInvalidValue);
  ASSERT_EQ(hipHostRegister(words, 512, 0), 0);
  for (const auto kind : {hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice}) {
    words[0] = 0;
    EXPECT_EQ(hipMemcpy(words, plain.data(), 16, kind), 0) << kind;
    EXPECT_EQ(words[0], 3) << kind;
    EXPECT_EQ(hipMemcpy(words + 127, plain.data(), 8, kind), kInvalidValue) << kind;
    EXPECT_EQ(hipMemcpy(plain.data(), words + 127, 8, kind), kInvalidValue) << kind;
  }
  // Rows go by the kind.
  EXPECT_EQ(hipMemcpy2D(words, 64, plain.data(), 16, 16, 2, hipMemcpyHostToDevice), 0);
  EXPECT_EQ(words[16], 3);
  EXPECT_EQ(hipMemcpy2D(words, 64, plain.data(), 16, 16, 2, hipMemcpyDeviceToHost), kInvalidValue);
  EXPECT_EQ(hipMemset2D(words, 64, 0, 4, 2), 0);
  EXPECT_EQ(words[16], 0);
  EXPECT_EQ(words[17], 3);
  EXPECT_EQ(hipHostUnregister(words), 0);
}

TEST_F(HipRegistered, RefusesMemoryThatTheHostDoesNotHave) {
  EXPECT_EQ(hipHostRegister(nullptr, 512, 0), kInvalidValue);
  EXPECT_EQ(hipHostRegister(words_.data(), 0, 0), kInvalidValue);
  EXPECT_EQ(hipHostRegister(words_.data(), 512, 16), kInvalidValue);
  EXPECT_EQ(hipHostRegister(words_.data(), std::size_t{1} << 50, 0), kInvalidValue);
  EXPECT_EQ(hipHostUnregister(nullptr), kInvalidValue);
  EXPECT_EQ(hipHostUnregister(words_.data()), 713);
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(page) + 4096, 4096), 0);
  EXPECT_EQ(hipHostRegister(page, 4097, 0), kInvalidValue);
  ASSERT_EQ(hipHostRegister(page, 4096, 0), 0);
  ASSERT_NE(place_of(page), nullptr);
  // Registering again is a new word about the same memory.
  EXPECT_EQ(hipHostRegister(static_cast<char*>(page) + 64, 128, 0), 0);
  EXPECT_EQ(hipHostUnregister(page), 713);
  ASSERT_EQ(hipHostRegister(page, 4096, 0), 0);
  ASSERT_NE(place_of(page), nullptr);
  // The program forgets to say that it is gone.
  ASSERT_EQ(munmap(page, 4096), 0);
  auto* other = allocate<int>(64);
  EXPECT_EQ(launch("increment", 1, 64, other), 0);
  EXPECT_EQ(hipFree(other), 0);
  EXPECT_EQ(hipHostUnregister(page), 0);
}

class HipManaged : public Hip {
 protected:
  static constexpr std::size_t kPage = 4096;
  static constexpr int kReadMostly = 1, kPreferred = 2, kAccessedBy = 3, kPrefetched = 4;
  void SetUp() override {
    Hip::SetUp();
    int managed = 0;
    ASSERT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
    if (managed == 0) GTEST_SKIP() << "this process uses the addresses (a sanitizer does)";
    void* memory = nullptr;
    ASSERT_EQ(hipMallocManaged(&memory, 4 * kPage, 1), 0);
    data_ = static_cast<char*>(memory);
  }
  int said(int attribute, std::size_t first, std::size_t pages) {
    int value = 99;
    EXPECT_EQ(hipMemRangeGetAttribute(&value, sizeof value, attribute, data_ + first * kPage,
                                      pages * kPage),
              0);
    return value;
  }
  char* data_{};
};

TEST_F(HipManaged, TellsWhatAllPagesOfARangeHaveInCommon) {
  EXPECT_EQ(said(kReadMostly, 0, 4), 0);
  EXPECT_EQ(said(kPreferred, 0, 4), -2);
  ASSERT_EQ(hipMemAdvise(data_ + kPage, 2 * kPage, 1, 0), 0);
  ASSERT_EQ(hipMemAdvise(data_, 4 * kPage, 3, 0), 0);
  ASSERT_EQ(hipMemAdvise(data_ + 1, 1, 5, -1), 0);  // the first page, by the host
  EXPECT_EQ(said(kReadMostly, 1, 2), 1);
  EXPECT_EQ(said(kReadMostly, 0, 2), 0);
  EXPECT_EQ(said(kPreferred, 0, 4), 0);
  std::array<int, 3> places{};
  ASSERT_EQ(hipMemRangeGetAttribute(places.data(), sizeof places, kAccessedBy, data_, kPage), 0);
  EXPECT_THAT(places, ::testing::ElementsAre(-1, -2, -2));
  ASSERT_EQ(hipMemRangeGetAttribute(places.data(), sizeof places, kAccessedBy, data_, 2 * kPage),
            0);
  EXPECT_THAT(places, ::testing::Each(-2));
  ASSERT_EQ(hipMemAdvise(data_ + kPage, kPage, 2, 0), 0);
  EXPECT_EQ(said(kReadMostly, 1, 1), 0);
  EXPECT_EQ(said(kReadMostly, 2, 1), 1);
  EXPECT_EQ(said(kPrefetched, 0, 4), -2);
  ASSERT_EQ(hipMemPrefetchAsync(data_, 2 * kPage, 0, nullptr), 0);
  EXPECT_EQ(said(kPrefetched, 0, 2), 0);
  EXPECT_EQ(said(kPrefetched, 0, 3), -2);
  // The next one to get these pages has said nothing.
  ASSERT_EQ(hipFree(data_), 0);
  void* again = nullptr;
  ASSERT_EQ(hipMallocManaged(&again, 4 * kPage, 1), 0);
  EXPECT_EQ(again, data_);
  EXPECT_EQ(said(kReadMostly, 2, 1), 0);
  EXPECT_EQ(said(kPreferred, 0, 4), -2);
  EXPECT_EQ(hipFree(again), 0);
}

TEST_F(HipManaged, RefusesAdviceOnOtherMemory) {
  auto* device = allocate<char>(kPage);
  int value = 0;
  EXPECT_EQ(hipMemAdvise(device, kPage, 1, 0), kInvalidValue);
  EXPECT_EQ(hipMemAdvise(&value, 4, 1, 0), kInvalidValue);
  EXPECT_EQ(hipMemAdvise(data_, 0, 1, 0), kInvalidValue);
  EXPECT_EQ(hipMemAdvise(data_, 5 * kPage, 1, 0), kInvalidValue);
  EXPECT_EQ(hipMemAdvise(data_, kPage, 7, 0), kInvalidValue);
  EXPECT_EQ(hipMemAdvise(data_, kPage, 3, 1), kInvalidDevice);
  EXPECT_EQ(hipMemPrefetchAsync(data_, kPage, 1, nullptr), kInvalidDevice);
  EXPECT_EQ(hipMemPrefetchAsync(data_, 5 * kPage, 0, nullptr), kInvalidValue);
  EXPECT_EQ(hipMemRangeGetAttribute(&value, 8, kPreferred, data_, kPage), kInvalidValue);
  EXPECT_EQ(hipMemRangeGetAttribute(&value, 3, kAccessedBy, data_, kPage), kInvalidValue);
  EXPECT_EQ(hipMemRangeGetAttribute(nullptr, 4, kPreferred, data_, kPage), kInvalidValue);
  EXPECT_EQ(hipMemRangeGetAttribute(&value, 4, 5, data_, kPage), kInvalidValue);
  EXPECT_EQ(hipMemRangeGetAttribute(&value, 4, kPreferred, device, kPage), kInvalidValue);
  EXPECT_EQ(hipFree(device), 0);
}

struct PoolProperties {
  int allocation_type{1}, handle_types{}, location_type{1}, location{};
  void* security{};
  std::size_t most_bytes{};
  unsigned char reserved[56]{};
};

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(Hip, PoolsCountWhatTheyGave) {
  hipMemPool_t pool = nullptr;
  PoolProperties properties;
  properties.most_bytes = 1 << 20;
  ASSERT_EQ(hipMemPoolCreate(&pool, &properties), 0);
  const auto attribute = [&](int name) {
    std::uint64_t value = 99;
    EXPECT_EQ(hipMemPoolGetAttribute(pool, name, &value), 0);
    return value;
  };
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(hipMallocFromPoolAsync(&first, 600'000, pool, nullptr), 0);
  EXPECT_EQ(attribute(7), 600'000);
  EXPECT_EQ(hipMallocFromPoolAsync(&second, 600'000, pool, nullptr), 2);  // out of its memory
  ASSERT_EQ(hipFreeAsync(first, nullptr), 0);
  EXPECT_EQ(attribute(7), 0);
  EXPECT_EQ(attribute(8), 600'000);  // the most so far
  const std::uint64_t none = 0, some = 5;
  EXPECT_EQ(hipMemPoolSetAttribute(pool, 8, &some), kInvalidValue);
  EXPECT_EQ(hipMemPoolSetAttribute(pool, 7, &none), kInvalidValue);
  EXPECT_EQ(hipMemPoolSetAttribute(pool, 8, &none), 0);
  EXPECT_EQ(attribute(8), 0);
  const int off = 0, strange = 2;
  EXPECT_EQ(hipMemPoolSetAttribute(pool, 2, &off), 0);
  int reuse = 1;
  EXPECT_EQ(hipMemPoolGetAttribute(pool, 2, &reuse), 0);
  EXPECT_EQ(reuse, 0);
  EXPECT_EQ(hipMemPoolSetAttribute(pool, 2, &strange), kInvalidValue);
  EXPECT_EQ(hipMemPoolGetAttribute(pool, 9, &reuse), kInvalidValue);
  // Memory outlives its pool.
  ASSERT_EQ(hipMallocFromPoolAsync(&first, 600'000, pool, nullptr), 0);
  ASSERT_EQ(hipMemPoolDestroy(pool), 0);
  EXPECT_EQ(hipFree(first), 0);
  properties.allocation_type = 0;
  EXPECT_EQ(hipMemPoolCreate(&pool, &properties), kInvalidValue);
}
#endif

}  // namespace
}  // namespace ww::sim::driver
