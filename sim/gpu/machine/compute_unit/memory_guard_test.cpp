// The virtual GPU's findings about kernels that misuse memory.
#include <gmock/gmock.h>

#include <array>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::memory_guard_test {
namespace {

using test::TestGpu;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Grid kOneWave{1, {64, 1, 1}, {64, 1, 1}};
constexpr Grid kFourWaves{1, {256, 1, 1}, {256, 1, 1}};

Options options(OnFault on_fault, MemoryChecks checks = {}) {
  Options options{.threads = 1};
  options.on_fault = on_fault;
  options.checks = checks;
  return options;
}

std::string told(TestGpu& test) {
  std::string text;
  for (const auto& finding : test.gpu().findings()) text += describe(finding, "") + "\n";
  return text;
}

TEST(OutOfBounds, StopsTheLaunchOrIsWrittenDownAsAsked) {
  for (const OnFault on_fault : {OnFault::stop, OnFault::tolerate, OnFault::report}) {
    TestGpu test(options(on_fault));
    const auto data = test.buffer(4000);
    const auto result = test.try_launch("out_of_bounds", kOneWave, data, 950U);
    EXPECT_EQ(result.has_value(), on_fault != OnFault::stop);
    ASSERT_THAT(test.gpu().findings(), SizeIs(1));
    const MemoryFinding& finding = test.gpu().findings()[0];
    EXPECT_EQ(finding.kind, FindingKind::out_of_bounds);
    EXPECT_EQ(finding.access, AccessKind::store);
    EXPECT_EQ(finding.bytes, 4);
    EXPECT_EQ(finding.lane, 50U);
    EXPECT_EQ(finding.item, (std::array<std::uint32_t, 3>{50, 0, 0}));
    EXPECT_EQ(finding.address, data + 4000);
    EXPECT_EQ(finding.allocation, data);
    EXPECT_EQ(finding.allocation_bytes, 4000U);
    EXPECT_EQ(finding.count, on_fault == OnFault::stop ? 1U : 14U);
    EXPECT_THAT(told(test),
                AllOf(HasSubstr("out-of-bounds store of 4 bytes"),
                      HasSubstr("0 bytes behind the end of the 4000 bytes"), HasSubstr("lane 50")));
  }
}

TEST(OutOfBounds, LeavesTheOtherLanesAlone) {
  TestGpu test(options(OnFault::tolerate));
  const auto data = test.buffer(std::vector<std::uint32_t>(1024, 5));  // a page
  const auto out = test.buffer(64 * 4);
  ASSERT_TRUE(test.try_launch("reads_far", kOneWave, data, out, 3000U));
  EXPECT_EQ(test.read<std::uint32_t>(out, 64), std::vector<std::uint32_t>(64, 0));
  ASSERT_TRUE(test.try_launch("reads_far", kOneWave, data, out, 1000U));
  auto values = test.read<std::uint32_t>(out, 64);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i < 24 ? 5U : 0U) << i;
}

TEST(OutOfBounds, EndsALaunchOutsideTheCardUnlessToldToGoOn) {
  const std::uint64_t nowhere = 64;
  TestGpu stopped(options(OnFault::tolerate));
  EXPECT_FALSE(stopped.try_launch("add_one", kOneWave, nowhere));
  TestGpu goes_on(options(OnFault::report));
  EXPECT_TRUE(goes_on.try_launch("add_one", kOneWave, nowhere));
  EXPECT_THAT(told(goes_on), HasSubstr("in no allocation"));
}

TEST(OutOfBounds, IsForgottenByTheNextLaunchAndNeverReplayed) {
  TestGpu test(options(OnFault::tolerate));
  const auto data = test.buffer(std::vector<std::uint32_t>(1024, 5));
  const auto out = test.buffer(64 * 4);
  for (int i = 0; i < 3; ++i) {
    const auto result = test.try_launch("reads_far", kOneWave, data, out, 3000U);
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->replayed);
    EXPECT_THAT(test.gpu().findings(), SizeIs(1));
  }
  ASSERT_TRUE(test.try_launch("reads_far", kOneWave, data, out, 0U));
  EXPECT_THAT(test.gpu().findings(), IsEmpty());
}

TEST(UseAfterFree, NamesTheReleasedMemory) {
  TestGpu test(options(OnFault::report, {.memory = true}));
  const auto data = test.buffer(std::vector<std::uint32_t>(64, 5));
  const auto out = test.buffer(64 * 4);
  ASSERT_TRUE(test.gpu().release(data));
  EXPECT_NE(test.buffer(64 * 4), data);  // poisoned: not used again at once
  ASSERT_TRUE(test.try_launch("reads_far", kOneWave, data, out, 2U));
  EXPECT_EQ(test.read<std::uint32_t>(out, 64), std::vector<std::uint32_t>(64, 0));
  EXPECT_THAT(told(test), AllOf(HasSubstr("use-after-free load"),
                                HasSubstr("8 bytes into the 256 bytes"), HasSubstr("released")));
}

TEST(UseAfterFree, GivesPoisonedMemoryBackWhenThereIsNoOther) {
  TestGpu test(options(OnFault::report, {.memory = true}));
  const auto bytes = std::uint64_t{3} << 30;
  for (int i = 0; i < 20; ++i) {
    const auto address = test.gpu().allocate(bytes);
    ASSERT_TRUE(address) << address.error().text();
    ASSERT_TRUE(test.gpu().release(*address));
  }
}

TEST(Misaligned, IsFoundOnRequestOnly) {
  for (const bool asked : {false, true}) {
    TestGpu test(options(OnFault::tolerate, {.memory = asked}));
    const auto data = test.buffer(4096);
    ASSERT_TRUE(test.try_launch("misaligned", kOneWave, data, 8U));
    EXPECT_THAT(test.gpu().findings(), IsEmpty());
    ASSERT_TRUE(test.try_launch("misaligned", kOneWave, data, 9U));
    EXPECT_EQ(told(test).find("misaligned store of 4 bytes") != std::string::npos, asked);
  }
}

TEST(LocalMemory, OutOfRangeIsFoundOnRequestOnly) {
  for (const bool asked : {false, true}) {
    TestGpu test(options(OnFault::tolerate, {.memory = asked}));
    const auto out = test.buffer(64 * 4);
    test.lds_bytes = 64 * 4;
    ASSERT_TRUE(test.try_launch("far_in_local", kOneWave, out, std::uint32_t{0}, 0U));
    EXPECT_THAT(test.gpu().findings(), IsEmpty());
    ASSERT_TRUE(test.try_launch("far_in_local", kOneWave, out, std::uint32_t{0}, 60U));
    EXPECT_EQ(
        told(test).find("out-of-bounds local store of 4 bytes at byte 256") != std::string::npos,
        asked);
  }
}

TEST(Races, AreFoundBetweenWavesWithoutABarrier) {
  TestGpu test(options(OnFault::tolerate, {.races = true}));
  const auto out = test.buffer(256 * 4);
  test.lds_bytes = 256 * 4;
  ASSERT_TRUE(test.try_launch("neighbours", kFourWaves, out, std::uint32_t{0}, 0U));
  EXPECT_THAT(test.gpu().findings(), IsEmpty());
  ASSERT_TRUE(test.try_launch("neighbours", kFourWaves, out, std::uint32_t{0}, 1U));
  EXPECT_THAT(told(test), AllOf(HasSubstr("racing local"), HasSubstr("no barrier after the")));
}

TEST(Races, AtomicsAreNone) {
  TestGpu test(options(OnFault::tolerate, {.races = true}));
  const auto out = test.buffer(256 * 4);
  test.lds_bytes = 256;
  ASSERT_TRUE(test.try_launch("shared_counter", kFourWaves, out, std::uint32_t{0}, 0U));
  EXPECT_THAT(test.gpu().findings(), IsEmpty());
  EXPECT_EQ(test.read<std::uint32_t>(out, 1)[0], 256U);
  ASSERT_TRUE(test.try_launch("shared_counter", kFourWaves, out, std::uint32_t{0}, 1U));
  EXPECT_FALSE(test.gpu().findings().empty());
}

TEST(Races, AreNotLookedForUnlessAsked) {
  TestGpu test(options(OnFault::tolerate));
  const auto out = test.buffer(256 * 4);
  test.lds_bytes = 256 * 4;
  ASSERT_TRUE(test.try_launch("neighbours", kFourWaves, out, std::uint32_t{0}, 1U));
  EXPECT_THAT(test.gpu().findings(), IsEmpty());
}

TEST(Findings, DoNotDependOnThreads) {
  const auto run = [](unsigned threads) {
    Options asked = options(OnFault::report, {.memory = true, .races = true});
    asked.threads = threads;
    TestGpu test(asked);
    const auto out = test.buffer(8192 * 4);
    test.lds_bytes = 256 * 4;
    const Grid grid{1, {16384, 1, 1}, {256, 1, 1}};
    EXPECT_TRUE(test.try_launch("neighbours", grid, out, std::uint32_t{0}, 1U));
    return told(test);
  };
  const auto one = run(1);
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(one, run(2));
}

TEST(Watchdog, CountsInstructionsWhereNoGroupEnds) {
  Options asked{.threads = 1};
  asked.watchdog_cycles = 7'000'000;
  asked.watchdog_instructions = 3'000'000;
  TestGpu test(asked);
  const auto out = test.buffer(1 << 20);
  const auto result = test.try_launch("spin_all", Grid{1, {1 << 18, 1, 1}, {256, 1, 1}}, out, 1U);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("wave instructions since a work-group ended"));
  EXPECT_THAT(result.error().text(), HasSubstr("WIREWATT_WATCHDOG_MCYCLES=70 "));
  EXPECT_TRUE(test.try_launch("spin_all", Grid{1, {1 << 18, 1, 1}, {256, 1, 1}}, out, 0U));
}

}  // namespace
}  // namespace ww::sim::gpu::memory_guard_test
