#include "ww/measure/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "refresh_follower.hpp"
#include "sample_ring.hpp"
#include "sysfs/no_reading.hpp"
#include "ww/measure/polled_sensor.hpp"

namespace ww::measure {
namespace {

using std::chrono::milliseconds;

// A source whose facts nobody asks for.
class PlainSource : public PowerSource {
 public:
  const SensorFacts& facts() const override { return facts_; }
  std::string power_name() const override { return "power"; }
  std::string second_power_name() const override { return ""; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  std::string throttle_text(std::uint64_t) const override { return ""; }
  void read_slow(RawReading&) override {}

 private:
  SensorFacts facts_;
  std::vector<FieldState> fields_;
};

// Counts its reads; a read takes `busy`.
class Counting final : public PlainSource {
 public:
  explicit Counting(milliseconds busy = {}) : busy_(busy) {}
  void read_fast(RawReading& reading) override {
    reading.power_uw = ++reads;
    if (busy_.count() > 0) std::this_thread::sleep_for(busy_);
  }
  void read_slow(RawReading& reading) override {
    ++slow_reads;
    reading.edge_mc = 40'000;
  }
  std::atomic<int> reads{0}, slow_reads{0};

 private:
  milliseconds busy_;
};

// On a busy machine the sampler's thread may have to wait long for its turn.
void wait_for_reads(const Counting& source, int reads) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (source.reads < reads && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_GE(source.reads, reads);
}

TEST(DropEmpty, MakesZerosAndOnesAbsentAndKeepsReadings) {
  RawReading empty;
  empty.power_uw = 4'294'967'295'000;
  empty.second_power_uw = 65'535'000'000;
  empty.energy_ticks = 0;
  empty.edge_mc = 0;
  empty.junction_mc = 255'000;
  empty.memory_mc = 65'535'000;
  empty.voltage_uv = 0;
  empty.clock_khz = 65'535'000;
  empty.memory_clock_khz = 0;
  drop_empty(empty);
  EXPECT_FALSE(empty.power_uw || empty.second_power_uw || empty.energy_ticks);
  EXPECT_FALSE(empty.edge_mc || empty.junction_mc || empty.memory_mc);
  EXPECT_FALSE(empty.voltage_uv || empty.clock_khz || empty.memory_clock_khz);
  RawReading full;
  full.power_uw = 0;                  // a fault that the health check names
  full.second_power_uw = 65'535'000;  // 65.535 W
  full.edge_mc = -5'000;
  full.voltage_uv = 700'000;
  full.clock_khz = 210'000;
  drop_empty(full);
  EXPECT_TRUE(full.power_uw && full.second_power_uw && full.edge_mc && full.voltage_uv);
  EXPECT_TRUE(full.clock_khz);
}

TEST(SampleRing, GivesBackInOrderAndSaysWhenItIsFull) {
  SampleRing<int> ring(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(i));
  EXPECT_FALSE(ring.push(4));
  int value = -1;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(ring.pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(ring.pop(value));
}

TEST(SampleRing, LosesNothingBetweenTwoThreads) {
  SampleRing<int> ring(64);
  constexpr int many = 200'000;
  std::thread writer([&ring] {
    for (int i = 0; i < many;) {
      if (ring.push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  int expected = 0, value = 0;
  while (expected < many) {
    if (!ring.pop(value)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(value, expected);
    ++expected;
  }
  writer.join();
}

TEST(Sampler, PollsOnAndHandsEveryReadingOver) {
  Counting source;
  auto sampler = Sampler::start(source, {.slow_period_ns = 1'000'000'000'000, .stretch = false});
  ASSERT_TRUE(sampler);
  wait_for_reads(source, 30);
  std::vector<Sample> samples;
  (*sampler)->drain(samples);
  ASSERT_GT(samples.size(), 20u);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    EXPECT_GT(samples[i].time_ns, samples[i - 1].time_ns);
    EXPECT_EQ(*samples[i].reading.power_uw, *samples[i - 1].reading.power_uw + 1);
  }
  EXPECT_TRUE(samples.front().reading.edge_mc);  // slow fields with the first poll
  EXPECT_FALSE(samples[1].reading.edge_mc);      // and rarely after it
  const auto stats = (*sampler)->stats();
  EXPECT_EQ(stats.period_ns, 1'000'000);
  EXPECT_GE(stats.ticks, samples.size());
  EXPECT_GT(stats.cpu_share, 0.0);
  EXPECT_GE(stats.jitter_p99_us, stats.jitter_p50_us);
  EXPECT_EQ(stats.real_time, stats.real_time_reason.empty());
}

// Each read lasts five periods: four ticks of five are missed, and said to be.
TEST(Sampler, CountsTheTicksThatASlowSourceMisses) {
  Counting source(milliseconds(5));
  auto sampler = Sampler::start(source, {.stretch = false});
  ASSERT_TRUE(sampler);
  wait_for_reads(source, 30);
  const auto stats = (*sampler)->stats();
  EXPECT_GT(stats.missed, 2 * stats.ticks);
  EXPECT_GT(stats.read_p50_us, 4000);
}

TEST(Sampler, CountsWhatNobodyTookInTime) {
  Counting source;
  auto sampler = Sampler::start(source, {.stretch = false, .capacity = 4});
  ASSERT_TRUE(sampler);
  while ((*sampler)->stats().dropped == 0) std::this_thread::sleep_for(milliseconds(5));
  std::vector<Sample> samples;
  (*sampler)->drain(samples);
  EXPECT_GE(samples.size(), 4u);
}

// A driver that lets its caller sleep may hold a lock meanwhile: the time counts, not the core's.
TEST(Sampler, PollsASleepingDriverForATwentiethOfTheTime) {
  Counting source(milliseconds(2));
  const auto sampler = Sampler::start(source);
  ASSERT_TRUE(sampler);
  EXPECT_GE((*sampler)->stats().period_ns, 40'000'000);
  EXPECT_LE((*sampler)->stats().period_ns, 100'000'000);
  Counting slow(milliseconds(80));
  const auto of_slow = Sampler::start(slow);
  ASSERT_TRUE(of_slow);
  EXPECT_GE((*of_slow)->stats().period_ns, 160'000'000);  // at most half of the time
}

TEST(Sampler, BesideAProgramPollsTenTimesInAnInterval) {
  constexpr std::int64_t kInterval = 500'000'000;
  const auto counted = beside_a_program(kInterval, true);
  EXPECT_EQ(counted.period_ns, kInterval / 10);
  EXPECT_EQ(counted.slow_period_ns, kInterval);
  EXPECT_FALSE(counted.real_time);
  // Values that a power register shows between two polls are lost.
  EXPECT_EQ(beside_a_program(kInterval, false).period_ns, 20'000'000);
  Counting source(milliseconds(3));
  const auto sampler = Sampler::start(source, counted);
  ASSERT_TRUE(sampler);
  EXPECT_GE((*sampler)->stats().period_ns, 300'000'000);  // 1% of the time
  EXPECT_LE((*sampler)->stats().period_ns, kInterval);
}

// Reads that are cheap at first, as on a machine that rests, and take the core for longer once it
// is busy.
TEST(Sampler, BesideAProgramPollsLessOftenOncePollsTakeMoreOfTheCore) {
  class Dearer final : public PlainSource {
   public:
    void read_fast(RawReading&) override {
      if (!dear) return;
      timespec begun{}, now{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
      do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      } while ((now.tv_sec - begun.tv_sec) * 1'000'000'000 + now.tv_nsec - begun.tv_nsec < 500'000);
    }
    std::atomic<bool> dear{};
  } source;
  constexpr std::int64_t kInterval = 200'000'000;
  const auto sampler = Sampler::start(source, beside_a_program(kInterval, true));
  ASSERT_TRUE(sampler);
  const auto before = (*sampler)->stats().period_ns;
  if (2 * before > kInterval) GTEST_SKIP() << "this machine is too busy to begin with cheap reads";
  source.dear = true;  // 0.5 ms each 20 ms are 2.5% of a core
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((*sampler)->stats().period_ns <= before && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_GT((*sampler)->stats().period_ns, before);
  EXPECT_LE((*sampler)->stats().period_ns, kInterval);
}

// Campaigns and the doctor poll at equal distances whatever a counter does.
TEST(Sampler, FollowsNoRefreshesUnlessAsked) {
  class Resting final : public PlainSource {
   public:
    void read_fast(RawReading& reading) override {
      constexpr auto kRest = milliseconds(50);
      reading.energy_ticks = std::chrono::steady_clock::now().time_since_epoch() / kRest;
    }
  } source;
  SamplerOptions options;
  options.period_ns = 1'000'000;
  options.stretch = false;
  const auto sampler = Sampler::start(source, options);
  ASSERT_TRUE(sampler);
  std::this_thread::sleep_for(milliseconds(600));
  const SamplerStats stats = (*sampler)->stats();
  // A busy machine makes it miss polls, which it counts.
  EXPECT_GT(static_cast<double>(stats.ticks + stats.missed), 0.5 * stats.elapsed_s / 1e-3);
  EXPECT_GT(stats.elapsed_s, 0.1);
}

// An accumulator that rests between refreshes which come `shift(n)` ns after their times; polled as
// the follower says, for a while. Returns how late each refresh was found.
struct Followed {
  std::vector<std::int64_t> late_ns;
  std::size_t polls{};
};
template <class Shift>
Followed follow(std::int64_t period_ns, std::int64_t seconds, const Shift& shift,
                std::int64_t poll_ns = 50'000'000) {
  const auto refreshes = [&](std::int64_t time_ns) {
    std::int64_t count = time_ns / period_ns;
    while (count * period_ns + shift(count) > time_ns) --count;
    while ((count + 1) * period_ns + shift(count + 1) <= time_ns) ++count;
    return count;
  };
  RefreshFollower follower;
  std::int64_t now_ns = 3'141'592'653;
  while (!follower.settled()) {
    now_ns += 1'000'000;
    follower.saw(now_ns, refreshes(now_ns));
  }
  Followed found;
  const std::int64_t end_ns = now_ns + seconds * 1'000'000'000;
  std::int64_t last_ns = now_ns;
  while (now_ns < end_ns) {
    now_ns = std::max(follower.next_due(now_ns, poll_ns), now_ns) + 60'000;  // a wake-up
    if (refreshes(now_ns) != refreshes(last_ns)) found.late_ns.push_back(now_ns - last_ns);
    follower.saw(now_ns, refreshes(now_ns));
    last_ns = now_ns;
    ++found.polls;
  }
  std::ranges::sort(found.late_ns);
  return found;
}

TEST(RefreshFollower, BoundsEachRefreshByTwoPollsCloseTogether) {
  constexpr std::int64_t kPeriod = 100'000'000;
  const auto regular = follow(kPeriod, 20, [](std::int64_t) { return std::int64_t{0}; });
  ASSERT_GE(regular.late_ns.size(), 190U);
  EXPECT_LE(regular.late_ns[regular.late_ns.size() * 9 / 10], 3'000'000);
  EXPECT_LE(regular.polls, 2 * regular.late_ns.size() + 4);
  // Each refresh up to 8 ms away from its time, in no order.
  const auto shaken = follow(kPeriod, 20, [](std::int64_t n) {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(n) * 2654435761U) % 16'000'000U);
  });
  ASSERT_GE(shaken.late_ns.size(), 150U);
  EXPECT_LE(shaken.late_ns[shaken.late_ns.size() / 2], 26'000'000);
  EXPECT_LE(shaken.polls, 5 * shaken.late_ns.size());
  // Every fourth refresh: the polls before it find the others, long after they were.
  const auto seldom = follow(
      kPeriod, 40, [](std::int64_t) { return std::int64_t{0}; }, 2 * kPeriod);
  EXPECT_LE(seldom.polls, 2 * 40'000'000'000 / (4 * kPeriod) + 40);
  const auto tight = std::ranges::count_if(
      seldom.late_ns, [](std::int64_t late_ns) { return late_ns <= 3'000'000; });
  EXPECT_GE(tight, 80);
  // The period changes by a thousandth: what was learnt of it is learnt anew.
  const auto slower = follow(kPeriod, 20, [](std::int64_t n) { return n * kPeriod / 1000; });
  ASSERT_GE(slower.late_ns.size(), 180U);
  EXPECT_LE(slower.late_ns[slower.late_ns.size() * 9 / 10], 5'000'000);
}

TEST(RefreshFollower, LeavesAnAccumulatorAloneThatMovesAtEveryPoll) {
  RefreshFollower follower;
  std::int64_t now_ns = 1'000'000'000;
  while (!follower.settled()) {
    now_ns += 1'000'000;
    follower.saw(now_ns, now_ns / 1'000'000);
  }
  EXPECT_FALSE(follower.follows());
}

// A busy machine delays the polls that look for the first refreshes, past two of them.
TEST(Sampler, FindsRefreshesThoughItsFirstPollsComeLate) {
  class Late final : public PlainSource {
   public:
    void read_fast(RawReading& reading) override {
      const auto now = std::chrono::steady_clock::now();
      if (now - begin_ < milliseconds(250)) std::this_thread::sleep_for(milliseconds(15));
      reading.energy_ticks = now.time_since_epoch() / milliseconds(100);
    }

   private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  } source;
  SamplerOptions options;
  options.period_ns = 200'000'000;
  options.stretch = false;
  options.follow = true;
  const auto sampler = Sampler::start(source, options);
  ASSERT_TRUE(sampler);
  std::this_thread::sleep_for(milliseconds(1500));
  std::vector<Sample> samples;
  (*sampler)->drain(samples);
  int bounded = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const bool moved = samples[i].reading.energy_ticks != samples[i - 1].reading.energy_ticks;
    if (moved && samples[i].time_ns - samples[i - 1].time_ns < 50'000'000) ++bounded;
  }
  EXPECT_GE(bounded, 2) << samples.size() << " polls";
}

// The ends of a stretch lie between two polls otherwise.
TEST(Sampler, PollsAtOnceWhenAsked) {
  Counting source;
  SamplerOptions options;
  options.period_ns = 2'000'000'000;
  options.stretch = false;
  const auto sampler = Sampler::start(source, options);
  ASSERT_TRUE(sampler);
  for (int asked = 1; asked <= 3; ++asked) {
    const std::int64_t before = steady_now_ns();
    (*sampler)->poll_now();
    std::vector<Sample> samples;
    (*sampler)->drain(samples);
    ASSERT_FALSE(samples.empty());
    EXPECT_GE(samples.back().time_ns, before);
    EXPECT_LE(samples.back().time_ns, steady_now_ns());
    EXPECT_GE(source.slow_reads, asked);
    EXPECT_TRUE(samples.back().reading.edge_mc);
  }
}

TEST(Sampler, RefusesARingOfAnOddSize) {
  Counting source;
  EXPECT_EQ(Sampler::start(source, {.capacity = 100}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Sampler::start(source, {.period_ns = 0}).error().code, ErrorCode::invalid_argument);
}

TEST(PolledSensor, TakesWhatItHasReadWhenItIsToSleepUntilAPastTime) {
  constexpr std::size_t kRoom = 32;
  auto counting = std::make_unique<Counting>();
  const Counting& source = *counting;
  auto sensor = PolledSensor::start(std::move(counting), nullptr, "no clocks here",
                                    {.stretch = false, .capacity = kRoom});
  ASSERT_TRUE(sensor);
  for (int part = 1; part <= 10; ++part) {
    wait_for_reads(source, 10 * part);
    (*sensor)->sleep_until(0);
  }
  EXPECT_GT((*sensor)->new_readings()->size(), kRoom + 1);
}

TEST(PolledSensor, GivesEveryReadingOnceAndKeepsThemWhileItSleeps) {
  auto counting = std::make_unique<Counting>();
  const Counting& source = *counting;
  auto sensor =
      PolledSensor::start(std::move(counting), nullptr, "no clocks here", {.stretch = false});
  ASSERT_TRUE(sensor);
  wait_for_reads(source, 20);
  (*sensor)->sleep_until((*sensor)->now_ns() + 10'000'000);
  const auto first = (*sensor)->new_readings();
  ASSERT_TRUE(first && first->size() > 10);
  EXPECT_EQ(first->front().temperature_mc, 40'000);
  EXPECT_EQ(first->front().time_ns, first->front().poll_ns);
  wait_for_reads(source, source.reads + 2);
  (*sensor)->sleep_until((*sensor)->now_ns() + 10'000'000);
  const auto second = (*sensor)->new_readings();
  ASSERT_TRUE(second && !second->empty());
  EXPECT_EQ(*second->front().power_uw, *first->back().power_uw + 1);
  EXPECT_EQ((*sensor)->dvfs_current(), -1);
  EXPECT_THAT((*sensor)->select_dvfs(0).error().message, ::testing::HasSubstr("no clocks here"));
}

}  // namespace
}  // namespace ww::measure
