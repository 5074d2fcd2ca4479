#include "packed_readings.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ww {
namespace {

void expect_equal(const std::vector<SensorReading>& a, const std::vector<SensorReading>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].time_ns, b[i].time_ns) << i;
    EXPECT_EQ(a[i].poll_ns, b[i].poll_ns) << i;
    EXPECT_EQ(a[i].power_uw, b[i].power_uw) << i;
    EXPECT_EQ(a[i].energy_ticks, b[i].energy_ticks) << i;
    EXPECT_EQ(a[i].temperature_mc, b[i].temperature_mc) << i;
    EXPECT_EQ(a[i].voltage_uv, b[i].voltage_uv) << i;
    EXPECT_EQ(a[i].clock_khz, b[i].clock_khz) << i;
    EXPECT_EQ(a[i].changed, b[i].changed) << i;
  }
}

// Makes readings of a card that is polled every millisecond and has no voltage.
std::vector<SensorReading> polled(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.3e6);
  std::vector<SensorReading> readings(count);
  std::int64_t energy = 1'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    SensorReading& reading = readings[i];
    reading.time_ns = reading.poll_ns = 77'000'000'000 + static_cast<std::int64_t>(i) * 1'000'000;
    reading.power_uw = 10'000 * std::llround((90e6 + noise(random)) / 10'000);
    reading.energy_ticks = energy += 5900 + static_cast<std::int64_t>(random() % 20);
    reading.temperature_mc = 41'000 + 1000 * static_cast<std::int32_t>(random() % 2);
    if (random() % 50 != 0) reading.clock_khz = 930'000;
    reading.changed = random() % 3 != 0;
  }
  return readings;
}

TEST(PackedReadings, ComeBackAsTheyWere) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 1000U}) {
    const auto readings = polled(count, count);
    const auto back = unpack_readings(pack_readings(readings));
    ASSERT_TRUE(back) << back.error().text();
    expect_equal(*back, readings);
  }
}

TEST(PackedReadings, HoldTheEndsOfEveryNumber) {
  std::vector<SensorReading> readings(3);
  readings[0].time_ns = std::numeric_limits<std::int64_t>::min();
  readings[1].time_ns = std::numeric_limits<std::int64_t>::max();
  readings[1].power_uw = std::numeric_limits<std::int64_t>::min();
  readings[2].voltage_uv = std::numeric_limits<std::int32_t>::min();
  readings[2].clock_khz = std::numeric_limits<std::int32_t>::max();
  const auto back = unpack_readings(pack_readings(readings));
  ASSERT_TRUE(back) << back.error().text();
  expect_equal(*back, readings);
}

// A sensor's steps are larger than the unit of its field: 10 mW, 1 C.
TEST(PackedReadings, TakeASixteenthOfTheirTables) {
  constexpr std::size_t kCount = 5000;
  constexpr double kRowBytes = 56;  // of a row in files of earlier versions
  const PackedReadings packed = pack_readings(polled(kCount, 5));
  EXPECT_LT(static_cast<double>(packed.compressed.size()), kRowBytes * kCount / 16);
}

// A counter's steps are much smaller than what it has counted: a byte each holds them.
TEST(PackedReadings, KeepTheStepsOfACounterInAByteEach) {
  constexpr std::size_t kCount = 5000;
  std::vector<SensorReading> readings = polled(kCount, 5);
  const std::size_t with_counter = pack_readings(readings).compressed.size();
  for (SensorReading& reading : readings) reading.energy_ticks.reset();
  const std::size_t without = pack_readings(readings).compressed.size();
  EXPECT_GT(with_counter, without);
  EXPECT_LT(with_counter - without, kCount);
}

// Files of version 2: eight fields of one reading, of which this one has a zigzag number.
Result<std::vector<SensorReading>> unpacked(std::size_t field, std::int64_t value) {
  std::string planes(8 * 9, '\0');
  const auto put = [&planes](std::size_t at, std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    const std::uint64_t zigzag = bits << 1 ^ (number < 0 ? ~std::uint64_t{0} : 0);
    planes[at * 9] = '\1';
    for (std::size_t byte = 0; byte < 8; ++byte) {
      planes[at * 9 + 1 + byte] = static_cast<char>(zigzag >> (8 * byte) & 0xFF);
    }
  };
  for (const std::size_t always : {0U, 1U, 7U}) put(always, 0);
  put(field, value);
  PackedReadings packed{1, "00000000", std::string(ZSTD_compressBound(planes.size()), '\0')};
  packed.compressed.resize(ZSTD_compress(packed.compressed.data(), packed.compressed.size(),
                                         planes.data(), planes.size(), 3));
  return unpack_readings(packed);
}

TEST(PackedReadings, AreRefusedWhereANumberDoesNotFitItsField) {
  constexpr std::size_t kTemperature = 4;
  for (const std::int64_t value :
       {std::int64_t{std::numeric_limits<std::int32_t>::min()},
        std::int64_t{std::numeric_limits<std::int32_t>::max()}, std::int64_t{-1}}) {
    const auto readings = unpacked(kTemperature, value);
    ASSERT_TRUE(readings) << readings.error().text();
    EXPECT_EQ(readings->front().temperature_mc, value);
  }
  for (const std::int64_t value : {std::int64_t{std::numeric_limits<std::int32_t>::min()} - 1,
                                   std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1}) {
    EXPECT_FALSE(unpacked(kTemperature, value)) << value;
  }
}

TEST(PackedReadings, OfVersion2AreStillRead) {
  // Two readings of eight fields. Each field: whether there is a value, then planes of zigzag
  // numbers.
  std::string planes(2 * 8 * 9, '\0');
  const auto put = [&planes](std::size_t field, std::size_t reading, std::uint64_t zigzag) {
    planes[field * 18 + reading] = '\1';
    for (std::size_t byte = 0; byte < 8; ++byte) {
      planes[field * 18 + 2 * (1 + byte) + reading] =
          static_cast<char>(zigzag >> (8 * byte) & 0xFF);
    }
  };
  put(0, 0, 2 * 5'000);  // differences: 5000, then 1000 more
  put(0, 1, 2 * 1'000);
  put(1, 0, 2 * 7);
  put(1, 1, 2 * 9);
  put(2, 1, 2 * 3 - 1);  // -3, and nothing before it
  put(7, 0, 0);
  put(7, 1, 2);
  PackedReadings packed{2, "10000000", std::string(ZSTD_compressBound(planes.size()), '\0')};
  packed.compressed.resize(ZSTD_compress(packed.compressed.data(), packed.compressed.size(),
                                         planes.data(), planes.size(), 3));
  const auto readings = unpack_readings(packed);
  ASSERT_TRUE(readings) << readings.error().text();
  std::vector<SensorReading> expected(2);
  expected[0].time_ns = 5'000;
  expected[1].time_ns = 6'000;
  expected[0].poll_ns = 7;
  expected[1].poll_ns = 9;
  expected[1].power_uw = -3;
  expected[0].changed = false;
  expected[1].changed = true;
  expect_equal(*readings, expected);
}

TEST(PackedReadings, AreRefusedWhereTheyAreDamaged) {
  const PackedReadings packed = pack_readings(polled(100, 1));
  const auto expect_refused = [](const PackedReadings& damaged) {
    const auto readings = unpack_readings(damaged);
    ASSERT_FALSE(readings);
    EXPECT_EQ(readings.error().code, ErrorCode::parse_error);
  };
  PackedReadings damaged = packed;
  damaged.compressed.resize(damaged.compressed.size() / 2);
  expect_refused(damaged);
  for (const std::int64_t count : {-1L, 0L, 99L, 1L << 60}) {
    damaged = packed;
    damaged.count = count;
    expect_refused(damaged);
  }
  for (const char* differences : {"", "0000000", "000000003", "0000000x"}) {
    damaged = packed;
    damaged.differences = differences;
    expect_refused(damaged);
  }
  // Whatever bytes there are, the answer is readings or an error.
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    damaged = packed;
    char& byte = damaged.compressed[random() % damaged.compressed.size()];
    byte = static_cast<char>(byte + 1 + static_cast<int>(random() % 255));
    if (const auto readings = unpack_readings(damaged)) {
      EXPECT_EQ(readings->size(), 100U);
    }
  }
}

}  // namespace
}  // namespace ww
