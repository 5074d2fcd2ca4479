// Launches of which only the stores are executed again.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "testing/same_launches.hpp"

namespace ww::sim::gpu {
namespace {

enum How : std::uint32_t { kStoresAlone, kSameLines, kWaits, kLoadsScalar, kPartsOfLines };

class Stores {
 public:
  // `chip`: empty: the one that goes with the kernels.
  explicit Stores(Options options, const std::string& chip = {})
      : test(std::move(options), true, chip) {
    const Architecture& architecture = test.gpu().chip().architecture();
    items = static_cast<std::uint32_t>(architecture.cu_places()) * 256 * 8;
    // Enough for a launch that is worth remembering, whatever L2 the chip has.
    const auto lines = static_cast<std::uint32_t>(architecture.l2_bytes / architecture.line_bytes *
                                                  architecture.dies);
    rounds = 20 + lines / (items / 64);
    // Larger than some L2s: what is there when a launch begins differs.
    out = test.buffer(std::uint64_t{2} * items * sizeof(float));
    in = test.buffer(std::vector<float>(items / 256, 0.25F));
  }
  void launch(How how) {
    result = test.launch("stores", items, 256, out, in, rounds, how);
    if (result.waves_known) {
      ++known;
    } else if (!result.replayed) {
      ++executed;
    }
  }
  [[nodiscard]] std::vector<float> stored() { return test.read<float>(out, 2 * items); }

  test::TestGpu test;
  std::uint32_t items{};
  std::uint32_t rounds{};
  std::uint64_t out{};
  std::uint64_t in{};
  int executed{};  // launches: as a whole
  int known{};     // as far as their stores go
  LaunchResult result;
};

Options with_replay(bool replay) {
  return {.threads = 1, .replay = replay};
}

bool has_scalar_cache(Stores& stores) {
  return stores.test.gpu().chip().architecture().scalar_cache_bytes != 0;
}

void expect_same(Stores& known, Stores& always) {
  test::expect_same_launches(known.test, known.result, always.test, always.result,
                             !known.result.replayed);
}

void expect_one_execution(const std::string& chip) {
  Stores known(with_replay(true), chip);
  Stores always(with_replay(false), chip);
  for (int i = 0; i < 4; ++i) {
    known.launch(kStoresAlone);
    always.launch(kStoresAlone);
    expect_same(known, always);
    EXPECT_EQ(known.stored(), always.stored());
  }
  EXPECT_EQ(always.executed, 4);
  if (!has_scalar_cache(known)) {
    EXPECT_EQ(known.executed, 1);
    EXPECT_GE(known.known, 1);
  }
}

TEST(StoreTape, GivesTheSameAsExecution) {
  expect_one_execution({});
}

// Whose caches cannot be brought to an earlier state: no launch is replayed there that changes
// them.
TEST(StoreTapeOfGfx942, GivesTheSameOnSeveralDies) {
  expect_one_execution("mi300x");
}

TEST(StoreTape, GoesThroughWhateverTheCachesHold) {
  Stores known(with_replay(true));
  Stores always(with_replay(false));
  constexpr std::uint32_t kSizes[] = {1024, 65536, 196608};  // words
  std::vector<std::function<void(Stores&)>> others;
  for (const std::uint32_t words : kSizes) {
    const auto data = known.test.buffer(std::vector<float>(words, 1.0F));
    const auto sums = known.test.buffer(words / 256 * sizeof(float));
    ASSERT_EQ(always.test.buffer(std::vector<float>(words, 1.0F)), data);
    ASSERT_EQ(always.test.buffer(words / 256 * sizeof(float)), sums);
    others.emplace_back([=](Stores& stores) {
      stores.test.lds_bytes = 256 * sizeof(float);
      stores.test.launch("reduce", words, 256, data, sums, 0U);
      stores.test.lds_bytes = 0;
    });
  }
  for (Stores* stores : {&known, &always}) {
    for (const auto& other : others) other(*stores);  // from now on they change no memory
    stores->launch(kStoresAlone);
  }
  for (const std::size_t which : {0, 1, 2, 1, 0, 2, 2}) {
    for (Stores* stores : {&known, &always}) {
      others[which](*stores);
      stores->launch(kStoresAlone);
    }
    expect_same(known, always);
    EXPECT_EQ(known.stored(), always.stored());
  }
  if (!has_scalar_cache(known)) {
    EXPECT_EQ(known.executed, 1);
    EXPECT_GE(known.known, 1);
  }
}

TEST(StoreTape, IsOfNoUseWhereItsLinesAreOthers) {
  Stores known(with_replay(true));
  Stores always(with_replay(false));
  known.test.gpu().host_may_write();
  for (int i = 0; i < 4; ++i) {
    for (Stores* stores : {&known, &always}) {
      stores->launch(kStoresAlone);
      const std::vector<float> other(1000, static_cast<float>(i));
      const std::uint64_t place = stores->out + (i < 2 ? 0 : stores->items * sizeof(float));
      std::memcpy(*stores->test.gpu().host_pointer(place, 4000), other.data(), 4000);
    }
    expect_same(known, always);
  }
  // Memory written behind them does not matter.
  if (!has_scalar_cache(known)) {
    EXPECT_EQ(known.executed, 3);
    EXPECT_EQ(known.known, 1);
  }
}

TEST(StoreTape, IsOfNoUseWhereItsMemoryIsGone) {
  Stores known(with_replay(true));
  known.launch(kStoresAlone);
  ASSERT_TRUE(known.test.gpu().release(known.out));
  EXPECT_THROW(known.launch(kStoresAlone), std::runtime_error);
  EXPECT_FALSE(known.test.gpu().findings().empty());
}

// Whose contents are not followed.
TEST(StoreTape, HasNoPrivateMemory) {
  Stores known(with_replay(true));
  for (int i = 0; i < 3; ++i) {
    const auto result =
        known.test.launch("private_stores", known.items, 256, known.out, 4 * known.rounds);
    EXPECT_FALSE(result.waves_known);
  }
}

class OtherKinds : public testing::TestWithParam<How> {};

TEST_P(OtherKinds, AreExecuted) {
  Stores known(with_replay(true));
  Stores always(with_replay(false));
  for (int i = 0; i < 3; ++i) {
    known.launch(GetParam());
    always.launch(GetParam());
    expect_same(known, always);
    EXPECT_EQ(known.stored(), always.stored());
    EXPECT_EQ(known.known, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(StoreTape, OtherKinds,
                         testing::Values(kSameLines, kWaits, kLoadsScalar, kPartsOfLines));

}  // namespace
}  // namespace ww::sim::gpu
