// Damaged machine code: whatever a patched binary holds, the launch ends with a result or an error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include "machine/isa/lane_table.hpp"
#include "machine/isa/launch_state.hpp"
#include "machine/testing/test_gpu.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/writer.hpp"

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

TEST(RandomCode, EndsWithAResultOrAnErrorAndLeavesTheChipInOrder) {
  const std::vector<std::byte> original = object_bytes();
  // Most of the time goes into decoding all kernels anew: as many rounds as decode kDecoded bytes.
  constexpr std::size_t kDecoded = 40 << 20;
  const std::size_t rounds = kDecoded / original.size();
  auto object = binpatch::CodeObject::parse(original);
  ASSERT_TRUE(object);
  std::mt19937 random(7);
  const Chip chip = test::chip_for(*object);
  test::CountingObserver::Totals totals;
  auto observer = std::make_unique<test::CountingObserver>(totals, false);
  observer->set_zones(static_cast<std::size_t>(chip.architecture().shader_engines) + 5);
  auto gpu = std::move(*VirtualGpu::create(chip, Options{.threads = 1, .watchdog_cycles = 80000},
                                           std::move(observer)));
  const auto a = *gpu->allocate(1 << 16);
  const auto b = *gpu->allocate(1 << 16);
  const auto c = *gpu->allocate(1 << 16);
  const auto whole = gpu->load(*object);
  ASSERT_TRUE(whole);
  // The undamaged code, against what it computes.
  const auto expect_stream = [&] {
    constexpr std::uint32_t kItems = 256;
    constexpr std::uint32_t kCount = 8;
    constexpr std::uint32_t kStride = 64;
    std::vector<std::uint32_t> words(kItems + kCount * kStride);
    std::mt19937 values(3);
    std::ranges::generate(words, std::ref(values));
    const auto data = *gpu->allocate(words.size() * 4);
    const auto out = *gpu->allocate(kItems * 4);
    EXPECT_TRUE(gpu->write(data, std::as_bytes(std::span(words))));
    const auto result = gpu->launch(*whole, "stream", Grid{1, {kItems, 1, 1}, {128, 1, 1}},
                                    test::TestGpu::arguments(data, out, kCount, kStride), 0);
    EXPECT_TRUE(result) << result.error().text();
    std::vector<std::uint32_t> sums(kItems);
    EXPECT_TRUE(gpu->read(out, std::as_writable_bytes(std::span(sums))));
    for (std::uint32_t id = 0; id < kItems; ++id) {
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < kCount; i += 2) {
        sum += words[id + i * kStride] ^ words[id + (i + 1) * kStride];
      }
      EXPECT_EQ(sums[id], sum) << id;
    }
    EXPECT_TRUE(gpu->release(data));
    EXPECT_TRUE(gpu->release(out));
  };
  expect_stream();
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
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
    if (!result) {
      EXPECT_FALSE(result.error().message.empty());
    }
    gpu->unload(*program);
  }
  expect_stream();
  // Damage seldom leaves a kernel that ends well, and most often one that can be started.
  EXPECT_GT(good, rounds / 50);
  EXPECT_GT(bad, rounds / 2);
}

// How a launch is executed, which nothing that it leaves may depend on.
struct Way {
  const char* name;
  const char* lanes;  // null: the host's best
  bool run_ahead;
  unsigned threads;
  bool translate;                                  // at once
  std::uint32_t parallel_commit_min_requests{48};  // 0: every commit is shared
};
constexpr Way kPlain{"instruction by instruction, one thread", nullptr, false, 1, false};
constexpr Way kOthers[] = {{"one thread", nullptr, true, 1, false},
                           {"two threads that share every commit", nullptr, true, 2, false, 0},
                           {"one thread, translated", nullptr, true, 1, true},
                           {"two threads, translated", nullptr, true, 2, true}};
constexpr Way kPlainLanes{"plain lanes, two threads", "generic", true, 2, false};

class LanesInUse {
 public:
  explicit LanesInUse(const char* name) : before_(&exec::lanes()) {
    if (name != nullptr) exec::detail::lanes_once_made.store(exec::lanes_named(name));
  }
  LanesInUse(const LanesInUse&) = delete;
  LanesInUse& operator=(const LanesInUse&) = delete;
  ~LanesInUse() { exec::detail::lanes_once_made.store(before_); }

 private:
  const exec::LaneTable* before_;
};

// Everything that a launch left; of one that failed, the error: how far its waves came is no part
// of that.
struct Outcome {
  std::string error;
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  std::vector<std::vector<std::uint32_t>> memory;  // by buffer
  std::vector<double> counters;
  std::vector<double> energies_j;
  std::vector<std::int64_t> samples;
  std::string trace;
  bool operator==(const Outcome&) const = default;
};

std::vector<std::byte> arguments_of(const binpatch::Kernel& kernel,
                                    const std::vector<std::uint64_t>& buffers) {
  if (kernel.name == "multiply_adds") return test::TestGpu::arguments(buffers[0], 7U);
  return test::TestGpu::arguments(buffers[0], buffers[1], buffers[2], 3U);
}

Outcome outcome_of(const binpatch::CodeObject& object, const binpatch::Kernel& kernel,
                   const Way& way, const std::filesystem::path& trace_file, std::uint32_t seed,
                   std::uint32_t work_items) {
  const LanesInUse lanes(way.lanes);
  std::unique_ptr<trace::Writer> trace;
  if (!trace_file.empty()) trace = std::move(*trace::Writer::create(trace_file, "test"));
  Outcome outcome;
  {
    const auto gpu =
        test::create(test::chip_for(object),
                     {{.threads = way.threads,
                       .watchdog_cycles = work_items > 512 ? 200'000 : 20'000,
                       .on_fault = OnFault::report,
                       .trace = trace.get()},
                      {.replay = false,
                       .run_ahead = way.run_ahead,
                       .translate = way.translate,
                       .translate_after = 0,
                       .parallel_commit_min_requests = way.parallel_commit_min_requests}});
    std::mt19937 random(seed);
    std::vector<std::uint32_t> words(1 << 14);
    const std::uint64_t bytes = words.size() * 4;
    std::vector<std::uint64_t> buffers;
    for (int i = 0; i < 3; ++i) {
      for (auto& word : words) {  // small numbers, floats near one, and anything
        const auto drawn = static_cast<std::uint32_t>(random());
        word = drawn % 3 == 0 ? drawn >> 20 : drawn % 3 == 1 ? 0x3F000000U + (drawn >> 8) : drawn;
      }
      buffers.push_back(*gpu->allocate(bytes));
      static_cast<void>(
          gpu->write(buffers.back(), std::as_bytes(std::span<const std::uint32_t>(words))));
    }
    const auto program = gpu->load(object);
    if (!program) {
      outcome.error = program.error().text();
      return outcome;
    }
    const auto result = gpu->launch(*program, kernel.name, Grid{1, {work_items, 1, 1}, {128, 1, 1}},
                                    arguments_of(kernel, buffers), 1024);
    if (!result) {
      outcome.error = result.error().text();
      return outcome;
    }
    outcome.start_ns = result->start_ns;
    outcome.end_ns = result->end_ns;
    outcome.counters.resize(gpu->counter_names().size());
    static_cast<void>(gpu->counters(result->dispatch, outcome.counters));
    const LaunchActivity::Parts parts = *gpu->sealed_energy_j(result->dispatch);
    outcome.energies_j = {parts.crossbar_wires, parts.crossbar_control, parts.registers_l1,
                          parts.l2_memory,      parts.caches,           parts.alu,
                          parts.clock,          parts.crossbar_arbiters};
    gpu->idle_until(result->end_ns + 10'000'000);
    std::vector<ww_vgpu_sample> samples(64);
    samples.resize(gpu->samples_since(0, samples));
    for (const ww_vgpu_sample& sample : samples) {
      outcome.samples.insert(outcome.samples.end(),
                             {sample.time_ns, sample.power_uw, sample.energy_ticks});
    }
    for (const std::uint64_t buffer : buffers) {
      auto& memory = outcome.memory.emplace_back(words.size());
      static_cast<void>(gpu->read(buffer, std::as_writable_bytes(std::span(memory))));
    }
  }
  if (trace != nullptr) {
    EXPECT_TRUE(trace->finish());
    std::ifstream file(trace_file, std::ios::binary);
    outcome.trace.assign(std::istreambuf_iterator<char>(file), {});
  }
  return outcome;
}

// Gives the kernel as many vector registers as there are: a number past a wave's own finds what
// other waves have just then, which depends on how far the host has come with them.
void give_all_registers(std::vector<std::byte>& bytes, const binpatch::Kernel& kernel) {
  constexpr std::size_t kResources = 48;  // COMPUTE_PGM_RSRC1 in the descriptor
  constexpr std::uint32_t kMaxRegisters = 63;
  std::byte* const place = bytes.data() + kernel.descriptor_address + kResources;
  std::uint32_t resources = 0;
  std::memcpy(&resources, place, sizeof resources);
  ASSERT_EQ(resources, kernel.descriptor.compute_pgm_rsrc1) << "not where it is expected";
  resources |= kMaxRegisters;
  std::memcpy(place, &resources, sizeof resources);
}

void expect_same(const Outcome& other, const Outcome& plain, const std::string& what) {
  EXPECT_EQ(other.error, plain.error) << what;
  EXPECT_EQ(other.counters, plain.counters) << what;
  EXPECT_EQ(other.energies_j, plain.energies_j) << what;
  EXPECT_TRUE(other == plain) << what;
}

// WW_RANDOM: how many kernels (default 25); WW_RANDOM_SEED chooses them. With WW_RANDOM_LANES=1
// plain lanes are compared, too: a few damaged kernels of gfx9 leave other words there.
TEST(RandomCode, LeavesTheSameHoweverItIsExecuted) {
  const auto setting = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : otherwise;
  };
  const int rounds = setting("WW_RANDOM", 25);
  std::mt19937 random(static_cast<std::uint32_t>(setting("WW_RANDOM_SEED", 1)));
  const std::vector<std::byte> original = object_bytes();
  const auto kernels = binpatch::CodeObject::parse(original)->kernels();
  const ScratchFolder folder = *ScratchFolder::create("random-code");
  std::vector<Way> others(std::begin(kOthers), std::end(kOthers));
  if (setting("WW_RANDOM_LANES", 0) != 0) others.push_back(kPlainLanes);
  int finished = 0;
  for (int round = 0; round < rounds; ++round) {
    const binpatch::Kernel& kernel = kernels[random() % kernels.size()];
    std::vector<std::byte> bytes = original;
    if (round % 4 != 0) {
      damage(bytes, kernel, random);
      give_all_registers(bytes, kernel);
    }
    const auto object = binpatch::CodeObject::parse(bytes);
    const auto seed = static_cast<std::uint32_t>(random());
    if (!object) continue;
    // Some launches have more waves than the chip has room for at once.
    const std::uint32_t work_items = round % 8 == 0 ? 128'000 : 512;
    // Where nothing is traced, loads may go straight to registers.
    const auto trace_file = round % 2 == 0 ? folder.path() / "trace.wwt" : std::filesystem::path();
    const Outcome plain = outcome_of(*object, kernel, kPlain, trace_file, seed, work_items);
    finished += plain.error.empty() ? 1 : 0;
    for (const Way& way : others) {
      const Outcome other = outcome_of(*object, kernel, way, trace_file, seed, work_items);
      expect_same(other, plain, fmt::format("{}, {}, round {}", kernel.name, way.name, round));
    }
  }
  EXPECT_GT(finished, rounds / 16);
  RecordProperty("finished", finished);
}

// Launches as many waves as a SIMD takes, and more groups than there is room for. Most of their
// loads and stores miss the buffers, so that for whole quanta there is arithmetic alone, in one of
// them with a loop.
TEST(Launch, GivesTheSameOnAFullChipHoweverItIsExecuted) {
  const auto object = binpatch::CodeObject::parse(object_bytes());
  ASSERT_TRUE(object);
  int seen = 0;
  for (const binpatch::Kernel& kernel : object->kernels()) {
    if (kernel.name != "integers" && kernel.name != "longs" && kernel.name != "math_f32" &&
        kernel.name != "multiply_adds") {
      continue;
    }
    ++seen;
    for (const std::uint32_t work_items : {20'000U, 60'000U, 128'000U}) {
      const Outcome plain = outcome_of(*object, kernel, kPlain, {}, work_items, work_items);
      for (const Way& way : kOthers) {
        const Outcome other = outcome_of(*object, kernel, way, {}, work_items, work_items);
        expect_same(other, plain, fmt::format("{}, {}, {}", kernel.name, way.name, work_items));
      }
    }
  }
  EXPECT_EQ(seen, 4);
}

// s_or_saveexec writes exec beside its result, and a wave of 32 has no upper half of it.
TEST(Launch, RefusesToEnableLanesThatAWaveDoesNotHave) {
  std::vector<std::byte> bytes = object_bytes();
  const auto object = binpatch::CodeObject::parse(bytes);
  ASSERT_TRUE(object);
  const std::string target = binpatch::to_string(object->target());
  if (!target.starts_with("gfx1")) GTEST_SKIP() << "words of gfx10 and gfx11";
  const bool old = target.starts_with("gfx10");
  const binpatch::Kernel& kernel = object->kernels().front();
  const bool half = exec::wave_lanes(kernel.descriptor, exec::Isa::gfx1030) == 32;
  const std::uint32_t code[] = {
      old ? 0xbe8025c1U : 0xbe8023c1U,  // s_or_saveexec_b64 s[0:1], -1
      old ? 0xbf810000U : 0xbfb00000U,  // s_endpgm
  };
  std::memcpy(bytes.data() + kernel.entry_file_offset, code, sizeof code);
  auto gpu = std::move(*VirtualGpu::create(test::chip_for(*object), Options{.threads = 1}));
  const auto program = gpu->load(*binpatch::CodeObject::parse(bytes));
  ASSERT_TRUE(program);
  const auto result = gpu->launch(*program, kernel.name, Grid{1, {64, 1, 1}, {64, 1, 1}},
                                  test::TestGpu::arguments(0ULL, 0ULL, 0ULL, 0U), 1024);
  ASSERT_EQ(result.has_value(), !half) << target;
  if (half) {
    EXPECT_EQ(result.error().code, ErrorCode::unsupported) << result.error().text();
  }
}

TEST(RelativeMoves, ReadTheFirstRegisterAndWriteNothingWhereTheyLeaveAll) {
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
  // Ends as it should where scalar register 4 is 7.
  const auto expect_seven = [&](std::vector<std::uint32_t> code) {
    code.insert(code.begin(), {0xb07c00c8,    // s_movk_i32 m0, 200
                               0x7e000287,    // v_mov_b32 v0, 7
                               0xbe800387});  // s_mov_b32 s0, 7
    code.insert(code.end(), {0xbf068704,      // s_cmp_eq_u32 s4, 7
                             0xbf850001,      // s_cbranch_scc1 over the next one
                             0xbf8d0001,      // s_sethalt 1
                             0xbf810000});    // s_endpgm
    EXPECT_EQ(result_of(code), "") << std::hex << code[3];
  };
  expect_seven({0xbe842e02});              // s_movrels_b32 s4, s2
  expect_seven({0xbe842f02});              // s_movrels_b64 s[4:5], s[2:3]
  expect_seven({0xbe803001, 0xbe840300});  // s_movreld_b32 s0, s1; s_mov_b32 s4, s0
  expect_seven({0xbe803102, 0xbe840300});  // s_movreld_b64 s[0:1], s[2:3]; s_mov_b32 s4, s0
  expect_seven({0x7e028702, 0x7e080501});  // v_movrels_b32 v1, v2; v_readfirstlane_b32 s4, v1
  expect_seven({0x7e008464, 0x7e080500});  // v_movreld_b32 v0, s100; v_readfirstlane_b32 s4, v0
  EXPECT_NE(result_of({0xbf8d0001}), "");  // s_sethalt 1
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
