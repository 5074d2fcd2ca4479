#include "network/photonic/event_wheel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace ww::sim::net::photonic {
namespace {

using Taken = std::vector<std::pair<std::int64_t, int>>;  // cycle and event

TEST(EventWheel, GivesEventsOfACycleInTheOrderInWhichTheyCame) {
  EventWheel<int> wheel;
  wheel.push(0, 1000, 1);  // further away than the ring is long
  wheel.push(900, 1000, 2);
  wheel.push(900, 901, 3);
  wheel.push(901, 1000, 4);
  Taken taken;
  for (std::int64_t now = 901; now <= 1000; ++now) {
    wheel.take(now, [&](int event) { taken.emplace_back(now, event); });
  }
  EXPECT_EQ(taken, (Taken{{901, 3}, {1000, 1}, {1000, 2}, {1000, 4}}));
  EXPECT_TRUE(wheel.empty());
}

TEST(EventWheel, GivesWhatAnEventPushesIntoItsOwnCycle) {
  EventWheel<int> wheel;
  wheel.push(5, 7, 1);
  std::vector<int> taken;
  wheel.take(7, [&](int event) {
    taken.push_back(event);
    if (event < 100) wheel.push(7, 7, event + 1);  // enough that the bucket grows
  });
  EXPECT_EQ(taken.size(), 100U);
  EXPECT_EQ(taken.back(), 100);
}

TEST(EventWheel, NamesTheNextCycleWhereverTheRingStands) {
  EventWheel<int> wheel;
  for (const std::int64_t now : {0, 63, 64, 200, 255, 256, 1023}) {
    for (const std::int64_t wait : {0, 1, 63, 64, 128, 255, 256, 5000}) {
      wheel.push(now, now + wait, 1);
      EXPECT_EQ(wheel.next(now), now + wait);
      wheel.take(now + wait, [](int) {});
      ASSERT_TRUE(wheel.empty());
    }
  }
}

// Against every event kept in one list.
TEST(EventWheel, AgreesWithAListOverRandomDelays) {
  std::mt19937 random(7);
  EventWheel<int> wheel;
  Taken list;
  int number = 0;
  for (std::int64_t now = 0; now < 20000; ++now) {
    for (auto left = random() % 3; left > 0; --left) {
      const auto away = static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 600 : 40));
      const std::int64_t at = now + away;
      wheel.push(now, at, number);
      list.emplace_back(at, number++);
    }
    if (!list.empty()) {
      const auto first = std::ranges::min_element(list, {}, &Taken::value_type::first);
      ASSERT_EQ(wheel.next(now), first->first);
    }
    std::vector<int> expected;
    for (const auto& [at, event] : list) {
      if (at == now) expected.push_back(event);
    }
    std::erase_if(list, [&](const auto& one) { return one.first == now; });
    std::vector<int> taken;
    wheel.take(now, [&](int event) { taken.push_back(event); });
    ASSERT_EQ(taken, expected) << now;
    ASSERT_EQ(wheel.empty(), list.empty());
    std::size_t inside = 0;
    wheel.for_each([&](int) { ++inside; });
    ASSERT_EQ(inside, list.size());
  }
}

}  // namespace
}  // namespace ww::sim::net::photonic
