// Executing straight-line code ahead of its turn changes nothing that anyone can see.
#include "isa/straight_line.hpp"

#include <gtest/gtest.h>

#include <random>

#include "isa/wave.hpp"
#include "testing/test_gpu.hpp"

namespace ww::sim::gpu::straight_line_test {
namespace {

using test::TestGpu;

struct Outcome {
  std::vector<std::vector<double>> counters;
  std::vector<std::uint64_t> hashes;  // of every transfer and its time
  std::vector<std::uint64_t> lane_operations;
  std::vector<std::uint32_t> memory;

  bool operator==(const Outcome&) const = default;
};

// Kernels with loops, divergence, loads that overlap arithmetic, barriers, atomics, private memory.
Outcome outcome(bool run_ahead, bool translate = false) {
  TestGpu gpu(Options{.threads = 1,
                      .replay = false,
                      .run_ahead = run_ahead,
                      .translate = translate,
                      .translate_after = 2});
  std::mt19937 random(7);
  std::vector<std::uint32_t> words(1 << 16);
  for (auto& word : words) word = static_cast<std::uint32_t>(random());
  std::vector<float> floats(1 << 14);
  for (auto& value : floats) value = static_cast<float>(random() % 10'000) / 37.0F - 50.0F;
  const auto data = gpu.buffer(words);
  const auto numbers = gpu.buffer(floats);
  const std::uint64_t out_bytes = 1 << 20;
  const auto out = gpu.buffer(out_bytes);
  const auto bins = gpu.buffer(std::vector<std::uint32_t>(1024, 0));
  Outcome outcome;
  const auto launch = [&](const char* kernel, std::uint32_t global, std::uint32_t local,
                          auto... arguments) {
    gpu.launch(kernel, global, local, arguments...);
    outcome.counters.push_back(gpu.counters(gpu.gpu().dispatch_count() - 1));
    outcome.hashes.push_back(gpu.totals.hash);
    for (const CuActivity& cu : gpu.totals.cus) {
      outcome.lane_operations.push_back(cu.vector_lane_operations);
    }
  };
  launch("stream", 4096, 256, data, out, 8U, 64U);
  launch("pinned_stream", 8192, 256, data, out, 1U, 2U, 8U);
  launch("histogram", 2048, 256, data, bins, 9000U);
  launch("scatter_private", 512, 64, data, out);
  launch("math_f32", 1024, 128, numbers, out);
  launch("divide_f32", 1024, 128, numbers, data, out);
  launch("integers", 512, 64, data, data, out);
  launch("longs", 512, 64, data, data, out);
  launch("wide_vectors", 512, 64, data, out, data);
  launch("narrow", 1000, 100, data, data, out, out + 8192);
  gpu.lds_bytes = 256 * 4;
  launch("reduce", 2048, 256, numbers, out, 0U);
  // Starts as many waves as the chip takes: a SIMD's turns may then precede those of the others.
  constexpr std::uint32_t kAllWaves = 44 * 40 * 64;
  const auto many = gpu.buffer(std::vector<float>(kAllWaves, 0.75F));
  launch("reduce", kAllWaves, 256, many, out, 0U);
  launch("math_f32", kAllWaves, 256, many, gpu.buffer(std::uint64_t{kAllWaves} * 32));
  // Long enough that whole rounds of their turns may be taken at once: with `waves` waves on each
  // SIMD, and with more groups to come than there is room for.
  const auto sums = gpu.buffer(std::uint64_t{kAllWaves} * 12);
  for (const std::uint32_t waves : {5U, 6U, 7U, 8U, 9U}) {
    launch("multiply_adds", 44 * waves * 256, 256, sums, 5U);
  }
  launch("multiply_adds", 2 * kAllWaves + 256, 256, sums, 9U);
  outcome.memory = gpu.read<std::uint32_t>(out, out_bytes / 4);
  const auto counted = gpu.read<std::uint32_t>(bins, 1024);
  outcome.memory.insert(outcome.memory.end(), counted.begin(), counted.end());
  return outcome;
}

TEST(StraightLine, RunningAheadChangesNothing) {
  EXPECT_TRUE(outcome(true) == outcome(false));
}

TEST(StraightLine, TranslatingItChangesNothing) {
  EXPECT_TRUE(outcome(true, true) == outcome(true));
}

// Outcome of a kernel with some of its waits and jumps damaged: results, or the error.
struct Damaged {
  std::string error;
  std::vector<double> counters;
  std::vector<std::uint32_t> memory;
  bool operator==(const Damaged&) const = default;
};

Damaged run_damaged(const binpatch::CodeObject& object, const std::string& kernel, bool run_ahead) {
  test::CountingObserver::Totals totals;
  auto gpu = std::move(*VirtualGpu::create(
      test::load_w9100(),
      Options{.threads = 1, .replay = false, .run_ahead = run_ahead, .watchdog_cycles = 20'000},
      std::make_unique<test::CountingObserver>(totals, false)));
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
