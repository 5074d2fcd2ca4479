// Damaged machine code: whatever a patched binary holds, the launch ends with a result or an error.
#include <gtest/gtest.h>

#include <random>

#include "testing/test_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu::random_code_test {
namespace {

std::vector<std::byte> object_bytes() {
  const binpatch::CodeObject object = test::read_kernels();
  return {object.bytes().begin(), object.bytes().end()};
}

// Replaces words of one kernel's code: by other kernels' words (valid ones, in odd places) or by
// flipped bits.
void damage(std::vector<std::byte>& bytes, const binpatch::Kernel& kernel, std::mt19937& random) {
  const std::size_t words = kernel.code_size / 4;
  const std::size_t text = bytes.size() / 4;
  const std::size_t count = 1 + random() % 6;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kernel.entry_file_offset + random() % words * 4;
    if (random() % 2 == 0) {
      std::memcpy(bytes.data() + at, bytes.data() + random() % text * 4, 4);
    } else {
      bytes[at + random() % 4] ^= static_cast<std::byte>(1U << random() % 8);
    }
  }
}

TEST(RandomCode, NeverCrashesTheEmulator) {
  const std::vector<std::byte> original = object_bytes();
  auto object = binpatch::CodeObject::parse(original);
  ASSERT_TRUE(object);
  std::mt19937 random(7);
  const Chip chip = test::chip_for(*object);
  test::CountingObserver::Totals totals;
  auto observer = std::make_unique<test::CountingObserver>(totals, false);
  observer->set_zones(static_cast<std::size_t>(chip.architecture().shader_engines) + 5);
  auto gpu = std::move(*VirtualGpu::create(chip, Options{.threads = 1, .watchdog_cycles = 20000},
                                           std::move(observer)));
  const auto a = *gpu->allocate(1 << 16);
  const auto b = *gpu->allocate(1 << 16);
  const auto c = *gpu->allocate(1 << 16);
  int good = 0;
  int bad = 0;
  for (int round = 0; round < 400; ++round) {
    const auto& kernels = object->kernels();
    const binpatch::Kernel& kernel = kernels[random() % kernels.size()];
    std::vector<std::byte> bytes = original;
    damage(bytes, kernel, random);
    auto damaged = binpatch::CodeObject::parse(bytes);
    if (!damaged) continue;
    const auto program = gpu->load(*damaged);
    if (!program) continue;
    const auto result = gpu->launch(*program, kernel.name, Grid{1, {256, 1, 1}, {128, 1, 1}},
                                    test::TestGpu::arguments(a, b, c, 3U), 1024);
    result ? ++good : ++bad;
    gpu->unload(*program);
  }
  EXPECT_GT(good, 10);
  EXPECT_GT(bad, 20);
}

// M0 holds all ones when a wave begins.
TEST(RelativeMoves, EndTheLaunchWhereTheyLeaveTheRegisters) {
  std::vector<std::byte> bytes = object_bytes();
  const auto object = binpatch::CodeObject::parse(bytes);
  ASSERT_TRUE(object);
  if (binpatch::to_string(object->target()) != "gfx701") GTEST_SKIP() << "words of gfx7";
  const binpatch::Kernel& kernel = object->kernels().front();
  test::CountingObserver::Totals totals;
  auto gpu =
      std::move(*VirtualGpu::create(test::load_w9100(), Options{.threads = 1},
                                    std::make_unique<test::CountingObserver>(totals, false)));
  const auto result_of = [&](const std::vector<std::uint32_t>& code) {
    std::memcpy(bytes.data() + kernel.entry_file_offset, code.data(), code.size() * 4);
    const auto program = gpu->load(*binpatch::CodeObject::parse(bytes));
    EXPECT_TRUE(program);
    const auto result = gpu->launch(*program, kernel.name, Grid{1, {64, 1, 1}, {64, 1, 1}},
                                    test::TestGpu::arguments(0ULL, 0ULL, 0ULL, 0U), 1024);
    gpu->unload(*program);
    return result ? "" : result.error().message;
  };
  constexpr std::uint32_t kEnd = 0xbf810000;
  constexpr std::uint32_t kZeroM0 = 0xbefc0380;
  for (const std::uint32_t word : {
           0xbe802e00U,  // s_movrels_b32 s0, s0
           0xbe802f00U,  // s_movrels_b64 s[0:1], s[0:1]
           0xbe803001U,  // s_movreld_b32 s0, s1
           0xbe803102U,  // s_movreld_b64 s[0:1], s[2:3]
       }) {
    EXPECT_NE(result_of({word, kEnd}).find("scalar registers"), std::string::npos)
        << std::hex << word;
    EXPECT_EQ(result_of({kZeroM0, word, kEnd}), "") << std::hex << word;
  }
  // v_movreld_b32 v1, s100: as many vector registers the wave need not have.
  EXPECT_EQ(result_of({kZeroM0, 0x7e028464U, kEnd}), "");
  // v_movreld_b32 v0, s100
  EXPECT_NE(result_of({0x7e008464U, kEnd}).find("vector registers"), std::string::npos);
}

// The wave is gone when the store of its last instruction is served.
TEST(PrivateMemory, StoreOverSeveralRowsOutlivesItsWave) {
  std::vector<std::byte> bytes = object_bytes();
  const auto object = binpatch::CodeObject::parse(bytes);
  ASSERT_TRUE(object);
  if (binpatch::to_string(object->target()) != "gfx701") GTEST_SKIP() << "words of gfx7";
  const binpatch::Kernel* kernel = object->find_kernel("private_records");
  ASSERT_NE(kernel, nullptr);
  const std::uint32_t code[] = {
      0x7e000282,              // v_mov_b32 v0, 2
      0x7e0202ff, 0x00020000,  // v_mov_b32 v1, the private aperture
      0xdc740000, 0x00000200,  // flat_store_dwordx2 v[0:1], v[2:3]
      0xbf810000,              // s_endpgm
  };
  std::memcpy(bytes.data() + kernel->entry_file_offset, code, sizeof code);
  const Chip chip = test::load_w9100();
  for (const bool timing : {false, true}) {
    Options options{.threads = 1, .watchdog_cycles = 100'000};
    if (timing) {
      options.timing = std::make_shared<const TimingConfig>(default_timing(chip.architecture()));
    }
    test::CountingObserver::Totals totals;
    auto gpu = std::move(*VirtualGpu::create(
        chip, options, std::make_unique<test::CountingObserver>(totals, false)));
    const auto program = gpu->load(*binpatch::CodeObject::parse(bytes));
    ASSERT_TRUE(program);
    const auto result = gpu->launch(*program, kernel->name, Grid{1, {4096, 1, 1}, {64, 1, 1}},
                                    test::TestGpu::arguments(0ULL, 0ULL), 0);
    EXPECT_TRUE(result) << result.error().text();
  }
}

TEST(Ranges, ThatNoCountHoldsAreRefused) {
  test::TestGpu test;
  const std::string kernel = test::read_kernels().kernels().front().name;
  constexpr std::uint32_t kHalf = 1U << 31;
  for (const Grid& grid : {Grid{3, {kHalf, kHalf, kHalf}, {1, 1, 1}},  // 2^93 work-groups
                           Grid{3, {kHalf, kHalf, 4}, {1, 1, 1}},      // 2^64
                           Grid{3, {kHalf, kHalf, 4}, {kHalf, kHalf, 4}}}) {
    const auto result = test.try_launch(kernel, grid, 0ULL, 0ULL, 0ULL, 0U);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::out_of_range);
  }
}

}  // namespace
}  // namespace ww::sim::gpu::random_code_test
