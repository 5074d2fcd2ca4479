// Sensors and recorder, on an interface table that the test fills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/core/sensor_tolerances.hpp"
#include "ww/measure/recorder.hpp"
#include "ww/measure/sensor_info.hpp"
#include "ww/measure/virtual_device.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

// A chip whose clock the test moves and that draws 50 W + 1 W a tick.
struct FakeChip {
  static inline std::int64_t now = 0;
  static inline std::int32_t state = 1;
  static inline bool greedy = false;
  static inline bool counts_energy = true;
  static constexpr std::uint32_t kValid = WW_VGPU_SAMPLE_VALID;
  static constexpr std::uint32_t kNoEnergy = WW_VGPU_SAMPLE_NO_ENERGY;

  static ww_vgpu_abi table() {
    now = 0;
    state = 1;
    greedy = false;
    counts_energy = true;
    ww_vgpu_abi abi{};
    abi.version = WW_VGPU_ABI_VERSION;
    abi.now_ns = [] { return now; };
    abi.sleep_until_ns = [](std::int64_t t) { now = std::max(now, t); };
    abi.chip_info = [] {
      static const ww_vgpu_chip_info info{"w9100", "gfx701", 0, 4, 11, 16, 256, 64, 16384, 1 << 20};
      return &info;
    };
    abi.sensor_info = [] {
      static const ww_vgpu_sensor_info info{1'000'000, 1000, 1000};
      return &info;
    };
    abi.samples_since = [](std::uint64_t first, ww_vgpu_sample* out, std::uint64_t capacity) {
      if (greedy) return capacity + 1;
      std::uint64_t n = 0;
      const auto ticks = static_cast<std::uint64_t>(now / 1'000'000);
      for (std::uint64_t i = first; i < ticks && n < capacity; ++i, ++n) {
        const auto tick = static_cast<std::int64_t>(i);
        out[n] = {i,
                  tick * 1'000'000,
                  50'000'000 + 1'000'000 * (tick / 2),
                  tick * 100,
                  40'000,
                  1'168'700,
                  930'000,
                  (i % 5 != 4 ? kValid : 0U) | (counts_energy ? 0U : kNoEnergy)};
      }
      return n;
    };
    abi.dvfs_state_count = [] { return std::int32_t{3}; };
    abi.dvfs_state = [](std::int32_t index, ww_vgpu_dvfs_state* out) {
      *out = {1'000'000 + 50'000 * index, 800'000 + 50'000 * index};
      return 0;
    };
    abi.dvfs_current = [] { return state; };
    abi.dvfs_select = [](std::int32_t index) {
      state = index;
      return index == 2 ? -1 : 0;
    };
    abi.rail_count = [] { return 2u; };
    abi.rail_name = [](std::uint32_t i) { return i == 0 ? "socket_energy" : "aid_energy"; };
    abi.rails_since = [](std::uint64_t first, ww_vgpu_rail_sample* out, std::uint64_t capacity) {
      std::uint64_t n = 0;
      for (auto i = first; i < static_cast<std::uint64_t>(now / 10'000'000) && n < capacity; ++i) {
        const auto tick = static_cast<std::int64_t>(i);
        out[n++] = {i, tick * 10'000'000, {tick * 900, tick * 70}};
      }
      return n;
    };
    abi.counter_count = [] { return 2u; };
    abi.counter_name = [](std::uint32_t i) { return i == 0 ? "TCC_HIT_sum" : "TCC_MISS_sum"; };
    abi.dispatch_count = [] { return std::uint64_t{4}; };
    abi.dispatch = [](std::uint64_t id, ww_vgpu_dispatch* out) {
      if (id >= 4) return -1;
      *out = {id, "l2_stream", static_cast<std::int64_t>(id) * 10,
              static_cast<std::int64_t>(id) * 10 + 8, 0};
      return 0;
    };
    abi.dispatch_counters = [](std::uint64_t id, double* values, std::uint32_t) {
      if (id >= 4) return -1;
      values[0] = 100;
      values[1] = static_cast<double>(id);
      return 0;
    };
    return abi;
  }
};

TEST(VirtualSensor, GivesEveryReadingOnce) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  sensor->sleep_until(3'000'000'000);
  const auto first = sensor->new_readings().value();
  ASSERT_EQ(first.size(), 3000u);  // more than one chunk
  EXPECT_TRUE(sensor->new_readings().value().empty());
  sensor->sleep_until(3'010'000'000);
  const auto second = sensor->new_readings().value();
  ASSERT_EQ(second.size(), 10u);
  EXPECT_EQ(second.front().time_ns, first.back().time_ns + 1'000'000);
}

TEST(VirtualSensor, GivesEveryReadingOfEveryRailOnce) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  sensor->sleep_until(10'000'000'000);
  const auto first = sensor->new_rails();
  ASSERT_EQ(first.size(), 2'000u);  // more than one chunk
  EXPECT_EQ(first[3].rail, "aid_energy");
  EXPECT_EQ(first[3].value, 70);
  EXPECT_EQ(first[3].unit, "2^-16 J");
  EXPECT_EQ(first[3].source_ns, 10'000'000);
  EXPECT_TRUE(sensor->new_rails().empty());
  sensor->sleep_until(10'010'000'000);
  EXPECT_EQ(sensor->new_rails().size(), 2u);
}

TEST(VirtualSensor, LeavesUnansweredTicksAbsent) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  sensor->sleep_until(5'000'000);
  const auto readings = sensor->new_readings().value();
  EXPECT_EQ(readings[3].power_uw, 51'000'000);
  EXPECT_FALSE(readings[4].power_uw);
  EXPECT_FALSE(readings[4].temperature_mc);
}

TEST(VirtualSensor, SaysThatItHasNoEnergyCounter) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  sensor->sleep_until(5'000'000);
  ASSERT_TRUE(sensor->new_readings().value()[3].energy_ticks);
  EXPECT_TRUE(sensor->fields().empty());
  FakeChip::counts_energy = false;
  sensor->sleep_until(10'000'000);
  const auto readings = sensor->new_readings().value();
  EXPECT_TRUE(readings[3].power_uw);
  EXPECT_FALSE(readings[3].energy_ticks);
  const auto fields = sensor->fields();
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].name, "energy");
  EXPECT_EQ(fields[0].status, FieldStatus::missing);
}

TEST(VirtualSensor, RefusesADriverThatOverrunsTheBuffer) {
  const ww_vgpu_abi abi = FakeChip::table();
  FakeChip::greedy = true;
  EXPECT_EQ(make_virtual_sensor(abi)->new_readings().error().code, ErrorCode::device_error);
}

TEST(VirtualSensor, SelectsClockStates) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  ASSERT_EQ(sensor->dvfs_states().size(), 3u);
  EXPECT_NEAR(sensor->dvfs_states()[2].voltage_v, 1.1, 1e-9);
  EXPECT_TRUE(sensor->select_dvfs(0));
  EXPECT_EQ(sensor->dvfs_current(), 0);
  EXPECT_EQ(sensor->select_dvfs(3).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(sensor->select_dvfs(2).error().code, ErrorCode::device_error);
}

TEST(VirtualCounters, SumOverDispatches) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto counters = make_virtual_counters(abi);
  const auto sum = counters->sum(1, 4).value();
  EXPECT_EQ(sum.at("TCC_HIT_sum"), 300.0);
  EXPECT_EQ(sum.at("TCC_MISS_sum"), 6.0);
  EXPECT_EQ(counters->dispatch(2)->start_ns, 20);
  EXPECT_EQ(counters->sum(2, 9).error().code, ErrorCode::device_error);
}

TEST(FindVirtualAbi, NeverLoadsTheDriver) {
  const auto found = find_virtual_abi("/nonexistent/libwirewatt_vgpu.so");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
}

TEST(Recorder, MarksChangesAcrossTakes) {
  const ww_vgpu_abi abi = FakeChip::table();
  const auto sensor = make_virtual_sensor(abi);
  Recorder recorder(*sensor);
  sensor->sleep_until(3'000'000);
  const auto first = recorder.take().value();
  EXPECT_TRUE(first[0].changed);
  sensor->sleep_until(4'000'000);
  const auto second = recorder.take().value();
  EXPECT_TRUE(second[0].changed);  // energy moved, though power did not
}

TEST(SensorInfo, WritesWhatTheStepTestFoundBesideTheFacts) {
  const ww_vgpu_abi abi = FakeChip::table();
  StepResponse response;
  response.resolved = true;
  response.period_s = 0.001;
  response.delay_s = 0.02;
  response.rise_s = 0.05;
  const SensorInfo info = combine(make_virtual_sensor(abi)->facts(), response);
  const nlohmann::json written = to_json(info);
  EXPECT_EQ(written["delay_s"], 0.02);
  EXPECT_EQ(written["rise_s"], 0.05);
  // The driver states none.
  EXPECT_EQ(written["gain_tolerance_95"], kBoardGainTolerance95);
  EXPECT_THAT(written["name"], HasSubstr("w9100"));
}

TEST(SensorInfo, AnUnresolvedResponseIsSaidToBeOne) {
  StepResponse response;
  response.period_s = 0.1;
  const SensorInfo info = combine({}, response);
  EXPECT_FALSE(info.resolved);
  EXPECT_EQ(info.rise_s, 0.1);
}

}  // namespace
}  // namespace ww::measure
