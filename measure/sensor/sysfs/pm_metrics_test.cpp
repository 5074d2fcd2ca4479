#include "pm_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

void put_at(Bytes& data, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    data.at(at + i) = static_cast<std::byte>(value >> (8 * i));
}

Bytes pm_table(std::uint32_t chip, std::uint32_t firmware, std::uint32_t version) {
  Bytes data(2092);
  put_at(data, 0, 2092, 2);
  put_at(data, 4, chip, 4);
  put_at(data, 8, firmware, 4);
  put_at(data, 12, version, 4);
  return data;
}

struct PmVersion {
  const char* layout;
  std::uint32_t chip, firmware, version;
  bool apu;
  std::size_t power, timestamp, socket, ccd, xcd, aid, hbm, xgmi_read, memory_clock;
};
const PmVersion pm_versions[] = {
    {"V0", 0x0D000600, 0x00557000, 0xF, false, 48, 52, 60, 68, 76, 84, 92, 1596, 112},
    {"V0", 0x000D000E, 0x00557000, 0xE, false, 48, 52, 60, 68, 76, 84, 92, 1596, 112},
    {"V0", 0x0D000600, 0x04556901, 0xF, true, 48, 52, 60, 68, 76, 84, 92, 1596, 112},
    {"V1", 0x0D000600, 0x04556900, 0x3, true, 48, 52, 60, 68, 76, 84, 92, 1596, 112},
    {"V2", 0x0D000C00, 0x00561D00, 0x5, false, 52, 56, 64, 72, 80, 88, 96, 720, 112},
    {"0x12", 0x0D000C00, 0x00561E00, 0x12, false, 48, 52, 60, 0, 68, 76, 84, 500, 100},
};

TEST(PmMetrics, FindTheRailsOfEveryTableThatTheFirmwareHas) {
  for (const PmVersion& v : pm_versions) {
    auto data = pm_table(v.chip, v.firmware, v.version);
    const std::size_t head = 16;
    put_at(data, head + v.power, 400 * 1024 + 512, 4);
    put_at(data, head + v.timestamp, 123, 8);
    put_at(data, head + v.socket, 5'000, 8);
    if (v.ccd != 0) put_at(data, head + v.ccd, 100, 8);
    put_at(data, head + v.xcd, 2'000, 8);
    put_at(data, head + v.aid, 1'500, 8);
    put_at(data, head + v.hbm, 1'000, 8);
    put_at(data, head + v.xgmi_read + 8, 7 * 1024, 8);
    put_at(data, head + v.memory_clock, 1300 * 1024, 4);
    const auto metrics = parse_pm_metrics(data, "x", v.apu);
    ASSERT_TRUE(metrics) << v.layout << ": " << metrics.error().text();
    EXPECT_EQ(metrics->layout, v.layout);
    EXPECT_EQ(metrics->socket_power_uw, 400'500'000);
    EXPECT_EQ(metrics->timestamp_ns, 1'230);
    EXPECT_EQ(metrics->socket_ticks, 5'000);
    EXPECT_EQ(metrics->ccd_ticks, v.ccd != 0 ? std::optional<std::int64_t>(100) : std::nullopt);
    EXPECT_EQ(metrics->xcd_ticks, 2'000);
    EXPECT_EQ(metrics->aid_ticks, 1'500);
    EXPECT_EQ(metrics->hbm_ticks, 1'000);
    EXPECT_EQ(metrics->xgmi_read_kb[1], 7);
    EXPECT_EQ(metrics->memory_khz, 1'300'000);
  }
}

TEST(PmMetrics, OfTheCpuSideHaveTheSameRailsWithoutAHead) {
  Bytes data(1404);
  put_at(data, 48, 300 * 1024, 4);
  put_at(data, 52, 123, 8);
  put_at(data, 60, 5'000, 8);
  put_at(data, 68, 100, 8);
  put_at(data, 76, 2'000, 8);
  put_at(data, 84, 1'500, 8);
  put_at(data, 92, 1'000, 8);
  const auto metrics = parse_hsmp_table(data, "x");
  ASSERT_TRUE(metrics) << metrics.error().text();
  EXPECT_EQ(metrics->socket_power_uw, 300'000'000);
  EXPECT_EQ(metrics->timestamp_ns, 1'230);
  EXPECT_EQ(metrics->ccd_ticks, 100);
  EXPECT_EQ(metrics->aid_ticks, 1'500);
  EXPECT_EQ(metrics->hbm_ticks, 1'000);
  EXPECT_FALSE(metrics->xgmi_read_kb[0]);
  data.resize(1200);
  EXPECT_THAT(parse_hsmp_table(data, "x").error().text(), HasSubstr("1200"));
}

TEST(PmMetrics, AreRefusedByNumberWhereTheTableIsNotKnown) {
  EXPECT_THAT(parse_pm_metrics(pm_table(0x0D000600, 0x00557000, 0x11), "x", false).error().message,
              HasSubstr("0x11"));
  EXPECT_THAT(parse_pm_metrics(pm_table(0x0D000C00, 0x00561E00, 0x13), "x", false).error().message,
              HasSubstr("0x13"));
  EXPECT_THAT(parse_pm_metrics(pm_table(0x0F000800, 1, 1), "x", false).error().message,
              HasSubstr("15.0.8"));
  auto data = pm_table(0x0D000600, 0x00557000, 0xF);
  data.resize(900);
  EXPECT_EQ(parse_pm_metrics(data, "x", false).error().code, ErrorCode::parse_error);
  EXPECT_EQ(parse_pm_metrics({}, "x", false).error().code, ErrorCode::parse_error);
}

}  // namespace
}  // namespace ww::measure
