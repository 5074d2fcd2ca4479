// The clock of cards under test, which this program is linked to before the C library.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <thread>

extern "C" {
std::int64_t ww_chip_clock_attach(void (*show)(std::int64_t));
std::int64_t ww_chip_clock_now();
void ww_chip_clock_advance(std::int64_t to_ns);
}

namespace {

constexpr std::int64_t kMillisecondNs = 1'000'000;

void sleep_until(std::int64_t time_ns) {
  const timespec until{time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  ASSERT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr), 0);
}

// A fit between the blocks of a campaign has threads of its own, while the sampler sleeps.
TEST(ChipClock, WakesTheSamplerInTimeAfterAnotherThreadHasEnded) {
  const std::int64_t begin = ww_chip_clock_attach([](std::int64_t) {});
  std::atomic<int> readings{0};
  std::atomic<bool> stop{false};
  std::thread sampler([&] {
    for (std::int64_t due = begin + kMillisecondNs; !stop; due += kMillisecondNs) {
      sleep_until(due);
      ++readings;
    }
  });
  // Its first readings are late where it starts late.
  while (readings == 0) {
    std::this_thread::yield();
    ww_chip_clock_advance(begin + kMillisecondNs);
  }
  ww_chip_clock_advance(begin + 5 * kMillisecondNs);
  EXPECT_EQ(readings, 5);
  std::thread([] {}).join();
  ww_chip_clock_advance(begin + 20 * kMillisecondNs);
  EXPECT_EQ(readings, 20);
  EXPECT_EQ(ww_chip_clock_now(), begin + 20 * kMillisecondNs);
  stop = true;
  sampler.join();  // wakes it
}

}  // namespace
