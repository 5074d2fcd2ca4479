#include "channels/address_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;

constexpr int kChecks = 100;

struct Oracle {
  std::function<int(std::uint64_t)> channel;
  double wrong{};  // share of answers that are wrong
  int asked{};
  std::uint32_t state{1};
  SameChannel same() {
    return [this](std::uint64_t a, std::uint64_t b) -> Result<bool> {
      ++asked;
      state = state * 1664525u + 1013904223u;
      const bool lie = static_cast<double>(state >> 8) / (1 << 24) < wrong;
      return (channel(a) == channel(b)) != lie;
    };
  }
};

int parity(std::uint64_t value) {
  return std::popcount(value) & 1;
}

// Two maps agree where they put the same addresses together, whatever their numbers.
void expect_same_partition(const AddressMap& map, const std::function<int(std::uint64_t)>& truth) {
  std::set<std::pair<int, int>> pairs;
  std::set<int> left;
  std::set<int> right;
  for (std::uint64_t address = 0; address < (std::uint64_t{1} << 21); address += 64) {
    pairs.emplace(map.channel_of(address), truth(address));
    left.insert(map.channel_of(address));
    right.insert(truth(address));
  }
  EXPECT_EQ(pairs.size(), left.size());
  EXPECT_EQ(pairs.size(), right.size());
}

TEST(AddressMapSearch, FindsPlainInterleave) {
  for (const int shift : {6, 8, 12}) {
    Oracle oracle{[shift](std::uint64_t a) { return static_cast<int>(a >> shift & 15); }};
    const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
    ASSERT_TRUE(map) << map.error().text();
    ASSERT_TRUE(map->found) << map->reason;
    EXPECT_EQ(map->channels, 16);
    EXPECT_EQ(map->interleave_bytes, 1 << shift);
    expect_same_partition(*map, oracle.channel);
  }
}

TEST(AddressMapSearch, RecoversXorHashes) {
  // Masks as GPUs have them: every channel bit is the parity of many address bits.
  const std::vector<std::uint64_t> masks{0x111100, 0x0A2200, 0x152400, 0x0C8800, 0x1F5000};
  Oracle oracle{[&masks](std::uint64_t a) {
    int channel = 0;
    for (std::size_t i = 0; i < masks.size(); ++i) channel |= parity(a & masks[i]) << i;
    return channel;
  }};
  const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
  ASSERT_TRUE(map && map->found) << map->reason;
  EXPECT_EQ(map->form, AddressMap::Form::xor_of_bits);
  EXPECT_EQ(map->channels, 32);
  EXPECT_EQ(map->interleave_bytes, 256);
  expect_same_partition(*map, oracle.channel);
  EXPECT_LT(oracle.asked, 700);
}

TEST(AddressMapSearch, FindsChannelsThatAreNoPowerOfTwo) {
  for (const int channels : {3, 12, 24}) {
    Oracle oracle{[channels](std::uint64_t a) { return static_cast<int>(a / 256) % channels; }};
    const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
    ASSERT_TRUE(map && map->found) << map->reason;
    EXPECT_EQ(map->form, AddressMap::Form::modulo);
    EXPECT_EQ(map->channels, channels);
    EXPECT_EQ(map->interleave_bytes, 256);
  }
}

TEST(AddressMapSearch, SaysNotFoundForAHashOfAnotherForm) {
  Oracle oracle{[](std::uint64_t a) {
    const std::uint64_t mixed = (a >> 8) * 0x9E3779B97F4A7C15u;
    return static_cast<int>(mixed >> 60);
  }};
  const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_FALSE(map->found);
  EXPECT_THAT(map->reason, HasSubstr("neither"));
}

TEST(AddressMapSearch, SaysNotFoundWhereAllAddressesAreAlike) {
  Oracle oracle{[](std::uint64_t) { return 0; }};
  const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_FALSE(map->found);
  EXPECT_THAT(map->reason, HasSubstr("one channel"));
}

TEST(AddressMapSearch, SaysNotFoundWhenAnswersAreNoise) {
  Oracle oracle{[](std::uint64_t a) { return static_cast<int>(a >> 8 & 15); }, 0.3};
  const auto map = find_address_map(oracle.same(), {}, kChecks, 1);
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_FALSE(map->found);
}

TEST(AddressMapSearch, PassesTheDevicesErrorOn) {
  const SameChannel broken = [](std::uint64_t, std::uint64_t) -> Result<bool> {
    return fail(ErrorCode::device_error, "gone");
  };
  EXPECT_EQ(find_address_map(broken, {}, kChecks, 1).error().code, ErrorCode::device_error);
}

}  // namespace
}  // namespace ww::microbench
