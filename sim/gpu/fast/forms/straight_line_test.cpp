// Executing straight-line code ahead of its turn changes nothing that anyone can see.
#include "fast/forms/straight_line.hpp"

#include <gtest/gtest.h>

#include <random>

#include "machine/isa/wave.hpp"
#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::straight_line_test {
namespace {

// Outcome of a kernel with some of its waits and jumps damaged: results, or the error.
struct Damaged {
  std::string error;
  std::vector<double> counters;
  std::vector<std::uint32_t> memory;
  bool operator==(const Damaged&) const = default;
};

Damaged run_damaged(const binpatch::CodeObject& object, const std::string& kernel, bool run_ahead) {
  test::CountingObserver::Totals totals;
  const auto gpu = test::create(
      test::load_w9100(),
      {{.threads = 1, .watchdog_cycles = 20'000}, {.replay = false, .run_ahead = run_ahead}},
      std::make_unique<test::CountingObserver>(totals, false));
  std::vector<std::uint32_t> words(1 << 14);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U;
  const std::uint64_t bytes = words.size() * 4;
  const auto a = *gpu->allocate(bytes);
  const auto b = *gpu->allocate(bytes);
  static_cast<void>(gpu->write(a, std::as_bytes(std::span<const std::uint32_t>(words))));
  Damaged damaged;
  const auto program = gpu->load(object);
  if (!program) return damaged;
  const auto result = gpu->launch(*program, kernel, Grid{1, {512, 1, 1}, {128, 1, 1}},
                                  test::TestGpu::arguments(a, b, a, 3U), 1024);
  if (!result) {
    damaged.error = result.error().text();
    return damaged;  // how far the others came is not part of an error
  }
  damaged.counters.resize(gpu->counter_names().size());
  static_cast<void>(gpu->counters(result->dispatch, damaged.counters));
  damaged.memory.resize(words.size());
  static_cast<void>(gpu->read(b, std::as_writable_bytes(std::span(damaged.memory))));
  return damaged;
}

// Without its s_waitcnt a kernel reads registers before their loads have come.
TEST(StraightLine, ChangesNothingForCodeThatDoesNotWait) {
  const binpatch::CodeObject original = test::read_kernels();
  std::mt19937 random(11);
  int finished = 0;
  for (int round = 0; round < 60; ++round) {
    const auto& kernel = original.kernels()[random() % original.kernels().size()];
    std::vector<std::byte> bytes(original.bytes().begin(), original.bytes().end());
    for (std::uint64_t at = 0; at + 4 <= kernel.code_size; at += 4) {
      std::byte* const word = bytes.data() + kernel.entry_file_offset + at;
      // s_waitcnt becomes s_nop.
      if (word[3] == std::byte{0xBF} && word[2] == std::byte{0x8C} && random() % 2 == 0) {
        word[2] = std::byte{0x80};
        word[0] = word[1] = std::byte{0};
      }
    }
    const auto object = binpatch::CodeObject::parse(bytes);
    ASSERT_TRUE(object);
    const Damaged ahead = run_damaged(*object, kernel.name, true);
    finished += ahead.error.empty() ? 1 : 0;
    ASSERT_TRUE(ahead == run_damaged(*object, kernel.name, false)) << kernel.name;
  }
  EXPECT_GT(finished, 5);
}

exec::MicroOp straight(exec::Unit unit, std::uint8_t dwords) {
  exec::MicroOp op;
  op.unit = unit;
  op.dwords = dwords;
  op.straight = true;
  return op;
}

TEST(StraightLine, EndsAtTheFirstInstructionThatIsNot) {
  std::vector<exec::MicroOp> code{straight(exec::Unit::valu, 2), straight(exec::Unit::valu, 1),
                                  straight(exec::Unit::salu, 1), exec::MicroOp{},
                                  straight(exec::Unit::valu, 2)};
  std::vector<exec::RegisterSet> registers(code.size());
  registers[0].add_vector(3, 2);
  registers[1].add_vector(100, 1);
  registers[2].add_scalar(7, 1);
  const auto lines = exec::find_straight_lines(code, registers);
  EXPECT_EQ(lines.run[0].count, 2U);  // its second dword is not an instruction of this run
  EXPECT_EQ(lines.run[0].vectors, 1U);
  EXPECT_TRUE(lines.run[0].registers.has_vector(4, 1));
  EXPECT_FALSE(lines.run[0].registers.has_vector(100, 1));
  EXPECT_TRUE(lines.run[0].registers.has_scalar(0, 8));
  EXPECT_EQ(lines.run[1].count, 2U);
  EXPECT_EQ(lines.run[3].count, 0U);
  EXPECT_EQ(lines.run[4].count, 1U);  // the code ends within it
}

TEST(StraightLine, WaitsForRegistersThatAreOnTheirWay) {
  exec::Wave wave{};
  exec::MemoryOperation load{};
  load.words = 2;
  load.destination = 8;
  wave.vector_queue.push(&load);
  exec::RegisterSet registers;
  registers.add_vector(10, 4);
  EXPECT_FALSE(exec::awaits(wave, registers));
  registers.add_vector(9, 1);
  EXPECT_TRUE(exec::awaits(wave, registers));
  load.scalar = true;
  EXPECT_FALSE(exec::awaits(wave, registers));
  registers.add_scalar(8, 1);
  EXPECT_TRUE(exec::awaits(wave, registers));
}

}  // namespace
}  // namespace ww::sim::gpu::straight_line_test
