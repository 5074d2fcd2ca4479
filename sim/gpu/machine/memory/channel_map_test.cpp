#include "ww/sim/gpu/channel_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "machine/caches/l2_tags.hpp"

namespace ww::sim::gpu {
namespace {

using ::testing::HasSubstr;

ChannelMap example() {
  ChannelMap map;
  map.hash = {{8, 10, 21}, {9, 13, 33}, {10, 14}, {11, 9, 30}};
  map.steer = {7, 9, 1, 15, 3, 13, 5, 11, 8, 6, 14, 0, 12, 2, 10, 4};
  return map;
}

TEST(ChannelMap, IsTheParityOfItsBitsAndThenTheSteer) {
  const ChannelMap map = example();
  ASSERT_TRUE(check_channel_map(map, 16, 256));
  const ChannelLookup lookup(map, 16, 256);
  EXPECT_EQ(lookup.channel(0), 7u);
  EXPECT_EQ(lookup.channel((std::uint64_t{1} << 8) >> 8), 9u);
  // Bit 10 is in rows 0 and 2, bit 21 in row 0.
  EXPECT_EQ(lookup.channel((std::uint64_t{1} << 10 | std::uint64_t{1} << 21) >> 8), 3u);
  EXPECT_EQ(lookup.channel((std::uint64_t{1} << 33) >> 8), 1u);
}

TEST(ChannelMap, HasEachChannelOnceInARowAndFindsItsBlock) {
  const ChannelLookup lookup(example(), 16, 256);
  for (const std::uint64_t row : {0ULL, 1ULL, 77ULL, 0x12345ULL, 0x3FFFFFULL}) {
    std::set<std::uint64_t> blocks;
    for (std::uint32_t channel = 0; channel < 16; ++channel) {
      const std::uint64_t block = lookup.block(row, channel);
      EXPECT_EQ(block / 16, row);
      EXPECT_EQ(lookup.channel(block), channel);
      blocks.insert(block);
    }
    EXPECT_EQ(blocks.size(), 16u);
  }
}

TEST(ChannelMap, OfNothingIsPlainInterleavingOfAnyNumberOfChannels) {
  const ChannelLookup lookup({}, 12, 256);
  EXPECT_EQ(lookup.channel(25), 1u);
  EXPECT_EQ(lookup.block(2, 1), 25u);
}

TEST(ChannelMap, IsRefusedWhereChannelsWouldNotGetTheSameShare) {
  ChannelMap map = example();
  map.hash[3] = {9, 13};  // as row 1 within a row of blocks
  EXPECT_THAT(check_channel_map(map, 16, 256).error().text(), HasSubstr("channel_map.hash"));
  map = example();
  map.hash[0] = {7, 8};
  EXPECT_THAT(check_channel_map(map, 16, 256).error().text(), HasSubstr("bit 7"));
  map = example();
  map.hash.pop_back();
  EXPECT_FALSE(check_channel_map(map, 16, 256));
  map = example();
  map.steer[0] = 9;
  EXPECT_THAT(check_channel_map(map, 16, 256).error().text(), HasSubstr("steer"));
}

TEST(L2Tags, FollowTheChannelMap) {
  Architecture architecture;
  architecture.channel_map = example();
  exec::HostArena arena;
  exec::L2Tags tags(architecture, arena);
  const ChannelLookup lookup(example(), 16, 256);
  for (std::uint32_t line = 0; line < 4096; ++line) {
    EXPECT_EQ(tags.channel(line), lookup.channel(line / 4));
  }
  // Lines in a row that fill the L2 all fit: no channel gets more than its share.
  const auto lines = static_cast<std::uint32_t>(architecture.l2_bytes / 64);
  for (std::uint32_t line = 0; line < lines; ++line) EXPECT_FALSE(tags.read(line).hit);
  for (std::uint32_t line = 0; line < lines; ++line) EXPECT_TRUE(tags.read(line).hit) << line;
}

}  // namespace
}  // namespace ww::sim::gpu
