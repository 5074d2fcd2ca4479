// Launches of which one shader engine is followed through time.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launch/alike_waves.hpp"
#include "testing/same_launches.hpp"

namespace ww::sim::gpu {
namespace {

enum class Kind : std::uint32_t {
  alike,
  more_rounds,
  fewer_lanes,
  other_lines,
  one_store,
  where,
  barrier,
  loads,
};

constexpr std::uint32_t kGroup = 256;
constexpr std::uint32_t kRounds = 100;

class Launches {
 public:
  // `groups_of_engine`: of each shader engine of the device.
  Launches(Options options, const std::string& chip, std::uint32_t groups_of_engine)
      : test(std::move(options), true, chip) {
    const Architecture& architecture = test.gpu().chip().architecture();
    engines =
        static_cast<std::uint32_t>(architecture.shader_engines * architecture.dies_per_device());
    items = engines * groups_of_engine * kGroup;
    out = test.buffer(std::uint64_t{2} * (items + 2 * kGroup) * sizeof(float));
    wide = test.buffer(std::uint64_t{4} * (items + kGroup) * sizeof(float));
  }
  LaunchResult launch(Kind how, std::uint32_t more_items = 0, std::uint32_t rounds = kRounds) {
    return result = test.launch("alike", items + more_items, kGroup, out, wide, rounds,
                                static_cast<std::uint32_t>(how));
  }

  test::TestGpu test;
  std::uint32_t engines{};
  std::uint32_t items{};
  std::uint64_t out{};
  std::uint64_t wide{};
  LaunchResult result;
};

Options looking(unsigned threads) {
  return {.threads = threads, .alike_from = 0};
}
Options executing() {
  return {.threads = 1, .replay = false};
}

void expect_same(Launches& alike, Launches& executed) {
  test::expect_same_launches(alike.test, alike.result, executed.test, executed.result,
                             !alike.result.replayed);
  EXPECT_EQ(alike.test.read<float>(alike.out, 2 * alike.items),
            executed.test.read<float>(executed.out, 2 * executed.items));
  EXPECT_EQ(alike.test.read<float>(alike.wide, 4 * alike.items),
            executed.test.read<float>(executed.wide, 4 * executed.items));
}

bool may_be_alike(Launches& launches) {
  return launches.test.gpu().chip().architecture().scalar_cache_bytes == 0;
}

void expect_the_same_as_execution(const std::string& chip, std::uint32_t groups_of_engine) {
  for (const unsigned threads : {1U, 2U, 3U}) {
    Launches alike(looking(threads), chip, groups_of_engine);
    Launches executed(executing(), chip, groups_of_engine);
    alike.launch(Kind::alike);
    EXPECT_EQ(alike.result.engines_alike, may_be_alike(alike));
    executed.launch(Kind::alike);
    expect_same(alike, executed);
    alike.launch(Kind::alike);  // known, or from other caches
    executed.launch(Kind::alike);
    expect_same(alike, executed);
  }
}

TEST(AlikeWaves, GiveTheSameAsExecution) {
  expect_the_same_as_execution({}, 100);
}

TEST(AlikeWaves, GiveTheSameWhereComputeUnitsAreIdle) {
  expect_the_same_as_execution({}, 3);
}

TEST(AlikeWavesOfGfx942, GiveTheSameOnSeveralDies) {
  expect_the_same_as_execution("mi300x", 40);
}

// Changes memory and caches between two such launches.
TEST(AlikeWaves, FindWhatOtherLaunchesLeft) {
  Launches alike(looking(1), {}, 50);
  Launches executed(executing(), {}, 50);
  for (const std::uint32_t rounds : {100U, 101U, 100U, 102U}) {
    for (Launches* launches : {&alike, &executed}) {
      auto& test = launches->test;
      test.launch("stores", launches->items, kGroup, launches->out, launches->wide, rounds, 4U);
      launches->launch(Kind::alike, 0, rounds);
    }
    EXPECT_EQ(alike.result.engines_alike, may_be_alike(alike));
    expect_same(alike, executed);
  }
}

TEST(AlikeWaves, AreNotLookedForInShortLaunches) {
  Launches short_one(Options{.threads = 1}, {}, 3);
  EXPECT_FALSE(short_one.launch(Kind::alike).engines_alike);
}

TEST(AlikeWaves, NeedAsManyGroupsOnEachEngine) {
  Launches alike(looking(1), {}, 10);
  Launches executed(executing(), {}, 10);
  EXPECT_FALSE(alike.launch(Kind::alike, kGroup).engines_alike);
  executed.launch(Kind::alike, kGroup);
  expect_same(alike, executed);
}

TEST(AlikeWaves, NeedAllComputeUnits) {
  Launches alike(looking(1), {}, 10);
  Grid grid{1, {alike.items, 1, 1}, {kGroup, 1, 1}};
  grid.cu_mask = {0x0000FFFFU};
  const auto result = alike.test.try_launch("alike", grid, alike.out, alike.wide, kRounds,
                                            static_cast<std::uint32_t>(Kind::alike));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_FALSE(result->engines_alike);
}

// A launch that fails says what it says otherwise.
TEST(AlikeWaves, FailAsExecutionDoes) {
  std::string errors[2];
  for (const bool looks : {false, true}) {
    Launches launches(looks ? looking(1) : executing(), {}, 10);
    ASSERT_TRUE(launches.test.gpu().release(launches.wide));
    const auto result = launches.test.try_launch(
        "alike", Grid{1, {launches.items, 1, 1}, {kGroup, 1, 1}}, launches.out, launches.wide,
        kRounds, static_cast<std::uint32_t>(Kind::alike));
    ASSERT_FALSE(result);
    errors[looks] = result.error().text();
  }
  EXPECT_EQ(errors[0], errors[1]);
}

// A store of all lanes, of a word each.
class Store {
 public:
  explicit Store(std::uint32_t first_line) {
    operation_.exec = ~std::uint64_t{0};
    operation_.base = exec::line_address(first_line);
    operation_.contiguous = true;
    operation_.element_bytes = sizeof(std::uint32_t);
    operation_.elements = operation_.lane_words;
    operation_.lane_words[0] = first_line;
    request_.operation = &operation_;
    request_.line = first_line;
    request_.kind = exec::Request::Kind::write;
  }
  [[nodiscard]] const exec::Request& request(std::uint8_t lines = 4) {
    request_.lines = lines;
    return request_;
  }

 private:
  exec::MemoryOperation operation_{};
  exec::Request request_;
};

TEST(AlikeWaves, HoldWhatEachWaveStored) {
  exec::AlikeWaves waves;
  Store first(16);
  Store second(32);
  ASSERT_TRUE(waves.learn({&first.request(), 1}));
  ASSERT_TRUE(waves.make_room(2));
  EXPECT_FALSE(waves.have_all());
  EXPECT_TRUE(waves.take(1, second.request()));
  EXPECT_FALSE(waves.have_all());
  EXPECT_FALSE(waves.take(0, first.request(3))) << "other lines";
  EXPECT_TRUE(waves.take(0, first.request()));
  EXPECT_TRUE(waves.have_all());
  EXPECT_FALSE(waves.take(0, first.request())) << "more than the others";
  EXPECT_EQ(waves.line(0, 0), 16U);
  EXPECT_EQ(waves.line(1, 0), 32U);
  EXPECT_EQ(waves.bytes(1, 0)[0], std::byte{32});
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the program
TEST(AlikeWaves, AreGivenUpWhereTheHostHasNoMemory) {
  exec::AlikeWaves waves;
  Store store(16);
  ASSERT_TRUE(waves.learn({&store.request(), 1}));
  EXPECT_FALSE(waves.make_room(std::uint64_t{1} << 50));
}
#endif

// The kinds of the kernel `stores`: 1 to the same lines, 2 waits for its store, 3 loads a scalar.
TEST(AlikeWaves, AreThoseOfWhichATapeMayBeKept) {
  for (const std::uint32_t how : {0U, 1U, 2U, 3U}) {
    Launches alike(looking(1), {}, 10);
    Launches executed(executing(), {}, 10);
    for (Launches* launches : {&alike, &executed}) {
      launches->result = launches->test.launch("stores", launches->items, kGroup, launches->out,
                                               launches->wide, kRounds, how);
    }
    EXPECT_EQ(alike.result.engines_alike, how == 0 && may_be_alike(alike)) << how;
    expect_same(alike, executed);
  }
}

class OtherWaves : public testing::TestWithParam<Kind> {};

TEST_P(OtherWaves, AreExecutedAsAWhole) {
  for (const unsigned threads : {1U, 2U}) {
    Launches alike(looking(threads), {}, 10);
    Launches executed(executing(), {}, 10);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(alike.launch(GetParam()).engines_alike);
      executed.launch(GetParam());
      expect_same(alike, executed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AlikeWaves, OtherWaves,
                         testing::Values(Kind::more_rounds, Kind::fewer_lanes, Kind::other_lines,
                                         Kind::one_store, Kind::where, Kind::barrier, Kind::loads));

}  // namespace
}  // namespace ww::sim::gpu
