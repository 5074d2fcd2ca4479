#include "ww/microbench/homes.hpp"

#include <gtest/gtest.h>

#include "latency/home_pages.hpp"

namespace ww::microbench {
namespace {

AddressMap hashed() {
  AddressMap map;
  map.found = true;
  map.form = AddressMap::Form::xor_of_bits;
  map.channels = 4;
  map.interleave_bytes = 256;
  map.masks = {0x100 | 0x2000, 0x200 | 0x8000};
  return map;
}

// Two places; channels 0 and 1 are nearer to the first one.
LatencyTable near_and_far() {
  return {{100, 101, 110, 111}, {110, 111, 100, 101}};
}

TEST(Pages, ShowTheConstantThatTheHashAdds) {
  const AddressMap map = hashed();
  const LatencyTable channels = near_and_far();
  const ChannelProfiles profiles(channels, {{0, 1}, {2, 3}});
  for (const std::uint32_t constant : {0u, 2u}) {
    const PageLines page = lines_of_page(3, map.interleave_bytes);
    LatencyTable ticks(2);
    for (const std::uint32_t offset : page.offsets) {
      EXPECT_EQ(offset / kHomePage, 3u);
      const int channel = map.channel_of(offset % kHomePage) ^ static_cast<int>(constant);
      for (std::size_t p = 0; p < 2; ++p) {
        ticks[p].push_back(channels[p][static_cast<std::size_t>(channel)]);
      }
    }
    const PageFit fit = fit_page(page, ticks, map, profiles);
    EXPECT_EQ(fit.constant / 2, constant / 2);  // of the home; within it channels look equal
    EXPECT_EQ(fit.right, fit.checked);
  }
}

TEST(Pages, OfAnotherHashDoNotReadLikeTheirHomes) {
  const AddressMap map = hashed();
  const LatencyTable channels = near_and_far();
  const PageLines page = lines_of_page(1, map.interleave_bytes);
  LatencyTable ticks(2);
  for (std::size_t l = 0; l < page.offsets.size(); ++l) {
    for (std::size_t p = 0; p < 2; ++p) ticks[p].push_back(channels[p][l % 4]);
  }
  const PageFit fit = fit_page(page, ticks, map, ChannelProfiles(channels, {{0, 1}, {2, 3}}));
  EXPECT_LT(fit.right, fit.checked);
}

TEST(LinesOfHome, LiveThereAndGoRoundItsChannels) {
  HomeMemory memory;
  memory.aligned = 4096;
  memory.pages = 2;
  memory.homes.address = hashed();
  memory.homes.channels = {{0, 3}, {1, 2}};
  memory.homes.page_channel = {0, 1};
  for (const std::size_t page : {0u, 1u}) {
    for (const int home : {0, 1}) {
      const auto lines = lines_of_home(memory, home, page, 64, 256);
      ASSERT_TRUE(lines) << lines.error().text();
      ASSERT_EQ(lines->size(), 64u);
      for (std::size_t i = 0; i < lines->size(); ++i) {
        const std::uint64_t offset = (*lines)[i] - memory.aligned;
        EXPECT_EQ(offset / kHomePage, page);
        EXPECT_EQ(memory.homes.home_of(offset), home);
        EXPECT_EQ(memory.homes.channel_of(offset),
                  memory.homes.channels[static_cast<std::size_t>(home)][i % 2]);
      }
    }
  }
  EXPECT_EQ(lines_of_home(memory, 0, 0, 1 << 20, 256).error().code, ErrorCode::out_of_range);
}

}  // namespace
}  // namespace ww::microbench
