// Machine code of gfx7 that is written here, word by word: accesses as no compiler makes them.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu::written_code_test {
namespace {

constexpr std::uint32_t kItems = 64;  // of a work-group

constexpr std::uint32_t kWaitForAll = 0xbf8c0000;  // s_waitcnt vmcnt(0) lgkmcnt(0)
constexpr std::uint32_t kEnd = 0xbf810000;         // s_endpgm

std::uint32_t low(std::uint64_t address) {
  return static_cast<std::uint32_t>(address);
}
std::uint32_t high(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> 32);
}

// A kernel with 64 registers of each kind and private memory, whose code is replaced.
class WrittenCode : public ::testing::Test {
 protected:
  WrittenCode() : object_(test::read_kernels()), kernel_(*object_.find_kernel("private_records")) {
    if (binpatch::to_string(object_.target()) == "gfx701") {
      gpu_ = std::move(*VirtualGpu::create(test::chip_for(object_), Options{.threads = 1}));
    }
  }
  void SetUp() override {
    if (gpu_ == nullptr) GTEST_SKIP() << "words of gfx7";
  }

  std::uint64_t buffer(const std::vector<std::uint32_t>& words) {
    const std::uint64_t address = *gpu_->allocate(words.size() * sizeof(words[0]));
    EXPECT_TRUE(gpu_->write(address, std::as_bytes(std::span(words))));
    return address;
  }
  std::vector<std::uint32_t> read(std::uint64_t address, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    EXPECT_TRUE(gpu_->read(address, std::as_writable_bytes(std::span(words))));
    return words;
  }
  Result<LaunchResult> run(const std::vector<std::uint32_t>& code, std::uint32_t items = kItems) {
    return run_on(*gpu_, code, items);
  }
  Result<LaunchResult> run_on(VirtualGpu& gpu, const std::vector<std::uint32_t>& code,
                              std::uint32_t items) {
    std::vector<std::byte> bytes(object_.bytes().begin(), object_.bytes().end());
    std::memcpy(bytes.data() + kernel_.entry_file_offset, code.data(),
                code.size() * sizeof(code[0]));
    const auto program = gpu.load(*binpatch::CodeObject::parse(bytes));
    EXPECT_TRUE(program);
    return gpu.launch(*program, kernel_.name, Grid{1, {items, 1, 1}, {kItems, 1, 1}},
                      test::TestGpu::arguments(0ULL, 0ULL), 0);
  }

  binpatch::CodeObject object_;
  binpatch::Kernel kernel_;
  std::unique_ptr<VirtualGpu> gpu_;
};

// A flat store of v2, or of v2 and v3, `offset` bytes behind the beginning of private memory.
constexpr std::uint32_t kStoreDword = 0xdc700000;
constexpr std::uint32_t kStoreTwoDwords = 0xdc740000;
std::vector<std::uint32_t> private_store(std::uint32_t store, std::uint32_t offset) {
  return {
      0x7e0002ff, offset,      // v_mov_b32 v0, offset
      0x7e0202ff, 0x00020000,  // v_mov_b32 v1, the private aperture
      store,      0x00000200,  // v[0:1], v2
      kEnd,
  };
}

// The wave is gone when the store of its last instruction is served. Other waves in its place find
// the words, each of which a lane adds to those of its number in other waves.
TEST_F(WrittenCode, StoreOverSeveralRowsOutlivesItsWave) {
  const Chip chip = test::load_w9100();
  for (const bool timing : {false, true}) {
    Options options{.threads = 1, .watchdog_cycles = 100'000};
    if (timing) {
      options.timing = std::make_shared<const TimingConfig>(default_timing(chip.architecture()));
    }
    test::CountingObserver::Totals totals;
    auto gpu = std::move(*VirtualGpu::create(
        chip, options, std::make_unique<test::CountingObserver>(totals, false)));
    constexpr std::uint32_t kFirst = 0x00012345;
    constexpr std::uint32_t kSecond = 0x00054321;
    constexpr std::uint32_t kWaves = 64;
    std::vector<std::uint32_t> code{0x7e0402ff, kFirst,    // v_mov_b32 v2, kFirst
                                    0x7e0602ff, kSecond};  // v_mov_b32 v3, kSecond
    const auto store = private_store(kStoreTwoDwords, 2);
    code.insert(code.end(), store.begin(), store.end());
    const auto result = run_on(*gpu, code, kWaves * kItems);
    ASSERT_TRUE(result) << result.error().text();
    const std::uint64_t out = *gpu->allocate(2 * kItems * 4);
    const auto sums = run_on(*gpu,
                             {
                                 0x34020083,  // v_lshlrev_b32 v1, 3, v0
                                 0x4a0c02ff,
                                 low(out),  // v_add_i32 v6, vcc, out, v1
                                 0x7e0e02ff,
                                 high(out),   // v_mov_b32 v7, out
                                 0x4a100c84,  // v_add_i32 v8, vcc, 4, v6
                                 0x7e120307,  // v_mov_b32 v9, v7
                                 0x7e000282,  // v_mov_b32 v0, 2
                                 0x7e0202ff,
                                 0x00020000,  // v_mov_b32 v1, the private aperture
                                 0xdc340000,
                                 0x04000000,   // flat_load_dwordx2 v[4:5], v[0:1]
                                 kWaitForAll,  //
                                 0xdcc80000,
                                 0x00000406,  // flat_atomic_add v[6:7], v4
                                 0xdcc80000,
                                 0x00000508,  // flat_atomic_add v[8:9], v5
                                 kEnd,
                             },
                             kWaves * kItems);
    ASSERT_TRUE(sums) << sums.error().text();
    std::vector<std::uint32_t> words(2 * kItems);
    ASSERT_TRUE(gpu->read(out, std::as_writable_bytes(std::span(words))));
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i], kWaves * (i % 2 == 0 ? kFirst : kSecond))
          << i << (timing ? " timed" : "");
    }
  }
}

TEST_F(WrittenCode, FindsTheEndOfPrivateMemory) {
  const std::uint32_t size = kernel_.descriptor.private_segment_fixed_size;
  const auto may_store = [this](std::uint32_t store, std::uint32_t offset) {
    return run(private_store(store, offset)).has_value();
  };
  EXPECT_TRUE(may_store(kStoreDword, size - 4));
  EXPECT_FALSE(may_store(kStoreDword, size));
  EXPECT_FALSE(may_store(kStoreDword, size - 2)) << "its second half";
  EXPECT_FALSE(may_store(kStoreDword, 0xFFFFFFFC));
  EXPECT_TRUE(may_store(kStoreTwoDwords, size - 8));
  EXPECT_FALSE(may_store(kStoreTwoDwords, size - 4));
}

// The bytes of the first one are there, and those of the second one come while the wave waits.
TEST_F(WrittenCode, LoadsOfTheSameRegisterWriteItInOrder) {
  const std::uint64_t first = buffer(std::vector<std::uint32_t>(kItems, 1));
  const std::uint64_t second = buffer(std::vector<std::uint32_t>(kItems, 2));
  const std::uint64_t out = buffer(std::vector<std::uint32_t>(kItems, 3));
  const auto result = run({
      0x34020082,                 // v_lshlrev_b32 v1, 2, v0
      0x4a0402ff,  low(first),    // v_add_i32 v2, vcc, first, v1
      0x7e0602ff,  high(first),   // v_mov_b32 v3, first
      0x4a0802ff,  low(second),   // v_add_i32 v4, vcc, second, v1
      0x7e0a02ff,  high(second),  // v_mov_b32 v5, second
      0x4a0c02ff,  low(out),      // v_add_i32 v6, vcc, out, v1
      0x7e0e02ff,  high(out),     // v_mov_b32 v7, out
      0xdc300000,  0x08000002,    // flat_load_dword v8, v[2:3]
      kWaitForAll,                //
      0xdc300000,  0x08000002,    // flat_load_dword v8, v[2:3]
      0xdc300000,  0x08000004,    // flat_load_dword v8, v[4:5]
      kWaitForAll,                //
      0xdc700000,  0x00000806,    // flat_store_dword v[6:7], v8
      kEnd,
  });
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(read(out, kItems), std::vector<std::uint32_t>(kItems, 2));
}

// Each work-item stores its number through a buffer's descriptor (Sea Islands ISA, chapter 8).
constexpr std::uint32_t kNothing = 0xFFFFFFFF;  // what was there before
constexpr std::uint32_t kOffsetInRegister = 1U << 12;
constexpr std::uint32_t kIndexInRegister = 1U << 13;

TEST_F(WrittenCode, StoresThroughABufferStayInItsBytes) {
  constexpr std::uint32_t kBytes = 102;  // 25 dwords, and half of another one
  const std::uint64_t out = buffer(std::vector<std::uint32_t>(kItems, kNothing));
  const auto result = run({
      0xbe8403ff,
      low(out),  // s_mov_b32 s4, out
      0xbe8503ff,
      high(out),  // s_mov_b32 s5, out; no stride
      0xbe8603ff,
      kBytes,      // s_mov_b32 s6, kBytes
      0xbe870380,  // s_mov_b32 s7, 0
      0x34020082,  // v_lshlrev_b32 v1, 2, v0
      0xe0700000 | kOffsetInRegister,
      0x80010001,  // buffer_store_dword v0, v1, s[4:7], 0
      kEnd,
  });
  ASSERT_TRUE(result) << result.error().text();
  const auto words = read(out, kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    EXPECT_EQ(words[i], i < kBytes / 4 ? i : kNothing) << i;
  }
}

// Records of 8 bytes, whose dwords lie apart: those of eight records side by side.
TEST_F(WrittenCode, StoresThroughASwizzledBufferGoWhereItsDwordsLie) {
  constexpr std::uint32_t kStride = 8;
  constexpr std::uint32_t kRecords = 40;
  constexpr std::uint32_t kSwizzle = 1U << 31;
  constexpr std::uint32_t kElementOfFour = 1U << 19;
  constexpr std::uint32_t kSideBySide = 8;
  constexpr std::uint32_t kOffset = 4;  // the second dword of each
  const std::uint64_t out = buffer(std::vector<std::uint32_t>(2 * kItems, kNothing));
  const auto result = run({
      0xbe8403ff,
      low(out),  // s_mov_b32 s4, out
      0xbe8503ff,
      high(out) | kStride << 16 | kSwizzle,  // s_mov_b32 s5, out, ...
      0xbe8603ff,
      kRecords,  // s_mov_b32 s6, kRecords
      0xbe8703ff,
      kElementOfFour,                           // s_mov_b32 s7, ...
      0xe0700000 | kIndexInRegister | kOffset,  // buffer_store_dword v0, v0, s[4:7], 0
      0x80010000,                               //   idxen offset:kOffset
      kEnd,
  });
  ASSERT_TRUE(result) << result.error().text();
  std::vector<std::uint32_t> expected(2 * kItems, kNothing);
  for (std::uint32_t record = 0; record < kRecords; ++record) {
    const std::uint32_t row = record / kSideBySide;
    const std::uint32_t dwords_before = (row * kStride + kOffset) / 4 * kSideBySide;
    expected[dwords_before + record % kSideBySide] = record;
  }
  EXPECT_EQ(read(out, expected.size()), expected);
}

}  // namespace
}  // namespace ww::sim::gpu::written_code_test
