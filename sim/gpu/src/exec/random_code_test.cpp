// Damaged machine code: whatever a patched binary holds, the launch ends with a result or an error.
#include <gtest/gtest.h>

#include <random>

#include "exec/test_gpu.hpp"

namespace ww::sim::gpu {
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

}  // namespace
}  // namespace ww::sim::gpu
