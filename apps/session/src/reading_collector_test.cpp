#include "reading_collector.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace ww::session {
namespace {

// A sensor with a reading each millisecond of its own time, of which it keeps the first ones that
// nobody took, as a polled sensor's queue does.
class SmallQueue final : public measure::Sensor {
 public:
  explicit SmallQueue(std::int64_t room) : room_(room) {}
  void pass(std::int64_t milliseconds) { now_ += milliseconds; }
  [[nodiscard]] int takes() const { return takes_; }
  void break_down() { broken_ = true; }

  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return now_ * 1'000'000; }
  void sleep_until(std::int64_t) override {}
  Result<std::vector<SensorReading>> new_readings() override {
    ++takes_;
    if (broken_) return fail(ErrorCode::device_error, "it is unplugged");
    std::vector<SensorReading> readings;
    const std::int64_t now = now_;
    for (std::int64_t i = taken_; i < std::min(now, taken_ + room_); ++i) {
      SensorReading reading;
      reading.time_ns = reading.poll_ns = i * 1'000'000;
      reading.power_uw = 1;
      readings.push_back(reading);
    }
    taken_ = now;
    return readings;
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return {}; }

 private:
  measure::SensorFacts facts_;
  std::int64_t room_;
  std::atomic<std::int64_t> now_{0};
  std::int64_t taken_{0};
  std::atomic<int> takes_{0};
  std::atomic<bool> broken_{false};
};

void wait_for_takes(const SmallQueue& sensor, int takes) {
  while (sensor.takes() < takes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(ReadingCollector, LosesNoneOfALongStretch) {
  constexpr int kRoom = 100;
  SmallQueue sensor(kRoom);
  ReadingCollector collector(sensor, {.every = std::chrono::milliseconds(1)});
  constexpr int kFillings = 5;
  for (int i = 0; i < kFillings; ++i) {
    sensor.pass(kRoom);
    wait_for_takes(sensor, sensor.takes() + 2);
  }
  const auto readings = collector.finish();
  ASSERT_TRUE(readings) << readings.error().text();
  ASSERT_EQ(readings->size(), kFillings * kRoom);
  EXPECT_EQ(readings->back().time_ns, (kFillings * kRoom - 1) * std::int64_t{1'000'000});
}

TEST(ReadingCollector, ThinsWhatIsTooMuchAtEvenDistances) {
  SmallQueue sensor(100'000);
  ReadingCollector collector(sensor, {.every = std::chrono::hours(1), .most = 100});
  constexpr int kReadings = 1000;
  sensor.pass(kReadings);
  const auto readings = collector.finish();
  ASSERT_TRUE(readings) << readings.error().text();
  EXPECT_LE(readings->size(), 100U);
  EXPECT_GE(readings->size(), 50U);
  const std::int64_t step_ns = (*readings)[1].time_ns - (*readings)[0].time_ns;
  EXPECT_EQ(readings->front().time_ns, 0);
  EXPECT_GT(readings->back().time_ns + step_ns, (kReadings - 1) * std::int64_t{1'000'000});
  for (std::size_t i = 1; i < readings->size(); ++i) {
    EXPECT_EQ((*readings)[i].time_ns - (*readings)[i - 1].time_ns, step_ns);
  }
}

TEST(ReadingCollector, ReportsTheSensorsErrorAtItsEnd) {
  SmallQueue sensor(100);
  ReadingCollector collector(sensor, {.every = std::chrono::milliseconds(1)});
  sensor.break_down();
  wait_for_takes(sensor, 2);
  EXPECT_EQ(collector.finish().error().code, ErrorCode::device_error);
}

}  // namespace
}  // namespace ww::session
