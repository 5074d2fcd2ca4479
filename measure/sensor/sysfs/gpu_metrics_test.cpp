// gpu_metrics: every layout by offset, and the tables of real cards.
#include "ww/measure/gpu_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "testing/fake_amd_tree.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

void put(Bytes& data, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    data.at(at + i) = static_cast<std::byte>(value >> (8 * i));
}

// A table as the driver prepares it: all ones, then the head.
Bytes blank_table(std::size_t size, unsigned format, unsigned content) {
  Bytes data(size, std::byte{0xFF});
  put(data, 0, size, 2);
  put(data, 2, format, 1);
  put(data, 3, content, 1);
  return data;
}

TEST(GpuMetrics, ReadEveryKnownLayout) {
  for (std::uint8_t content = 0; content <= 3; ++content) {
    const auto metrics = parse_gpu_metrics(testing::gpu_metrics_v1(content, 777), "x");
    ASSERT_TRUE(metrics) << metrics.error().text();
    EXPECT_EQ(metrics->energy_ticks, 777);
    EXPECT_EQ(metrics->edge_mc, 46'000);
    EXPECT_EQ(metrics->junction_mc, 51'000);
    EXPECT_EQ(metrics->memory_mc, 44'000);
    EXPECT_EQ(metrics->average_power_uw, 100'000'000);
    EXPECT_EQ(metrics->clock_khz, 1'000'000);
    EXPECT_EQ(metrics->memory_clock_khz, 1'600'000);
    EXPECT_EQ(metrics->voltage_uv.has_value(), content == 3);
    EXPECT_EQ(metrics->firmware_ns.has_value(), content >= 2);
  }
}

// MI300: no edge, no average, eight dies' clocks.
TEST(GpuMetrics, TakeTheHighestClockOfTheDiesAndLeaveAbsentFieldsOut) {
  std::vector<std::byte> data(360, std::byte{0xFF});
  const auto put = [&data](std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) data[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  put(0, 360, 2);
  put(2, 1, 1);
  put(3, 5, 1);
  put(4, 55, 2);
  put(10, 412, 2);
  put(88, 99, 8);
  put(312, 2100, 2);
  put(314, 1300, 2);
  const auto metrics = parse_gpu_metrics(data, "x");
  ASSERT_TRUE(metrics) << metrics.error().text();
  EXPECT_EQ(metrics->layout, "v1.5");
  EXPECT_EQ(metrics->current_power_uw, 412'000'000);
  EXPECT_FALSE(metrics->average_power_uw);
  EXPECT_FALSE(metrics->edge_mc);
  EXPECT_EQ(metrics->junction_mc, 55'000);
  EXPECT_FALSE(metrics->memory_mc);
  EXPECT_EQ(metrics->energy_ticks, 99);
  EXPECT_EQ(metrics->clock_khz, 2'100'000);
}

TEST(GpuMetrics, CountApusInMilliwattsAndHundredthsOfADegree) {
  std::vector<std::byte> data(152);
  data[0] = std::byte{152};
  data[2] = std::byte{2};
  data[3] = std::byte{3};
  data[4] = std::byte{0x88};  // 5000
  data[5] = std::byte{0x13};
  data[40] = std::byte{0x10};  // 10000
  data[41] = std::byte{0x27};
  const auto metrics = parse_gpu_metrics(data, "x");
  ASSERT_TRUE(metrics) << metrics.error().text();
  EXPECT_EQ(metrics->edge_mc, 50'000);
  EXPECT_EQ(metrics->average_power_uw, 10'000'000);
  EXPECT_FALSE(metrics->energy_ticks);
}

// Renoir's firmware counts watts where the structure says milliwatts, and likewise degrees.
TEST(GpuMetrics, TakeNumbersTooSmallForAnApusUnitsAsWattsAndDegrees) {
  const auto read = [](std::uint64_t power, std::uint64_t temperature) {
    auto table = blank_table(120, 2, 1);
    put(table, 4, temperature, 2);
    put(table, 40, power, 2);
    return parse_gpu_metrics(table, "x").value();
  };
  EXPECT_EQ(read(15, 4900).average_power_uw, 15'000'000);
  EXPECT_TRUE(read(15, 4900).power_in_watts);
  EXPECT_EQ(read(15, 4900).edge_mc, 49'000);
  EXPECT_EQ(read(499, 49).average_power_uw, 499'000'000);
  EXPECT_EQ(read(499, 49).edge_mc, 49'000);
  EXPECT_EQ(read(3401, 2500).average_power_uw, 3'401'000);
  EXPECT_FALSE(read(3401, 2500).power_in_watts);
  EXPECT_FALSE(read(0, 2500).power_in_watts);
}

TEST(GpuMetrics, TakeNoZeroForATemperatureAVoltageOrAClock) {
  auto table = testing::gpu_metrics_v1(3, 1, 0);
  const auto metrics = parse_gpu_metrics(table, "x").value();
  EXPECT_FALSE(metrics.edge_mc);
  EXPECT_EQ(metrics.junction_mc, 51'000);
  std::ranges::fill(table.begin() + 4, table.end(), std::byte{0});
  const auto empty = parse_gpu_metrics(table, "x").value();
  EXPECT_FALSE(empty.memory_mc);
  EXPECT_FALSE(empty.voltage_uv);
  EXPECT_FALSE(empty.clock_khz);
  EXPECT_FALSE(empty.energy_ticks);
}

TEST(GpuMetrics, RefuseUnknownLayoutsByNameAndShortFiles) {
  auto data = testing::gpu_metrics_v1(3, 1);
  data[3] = std::byte{33};
  EXPECT_THAT(parse_gpu_metrics(data, "x").error().message, HasSubstr("v1.33"));
  EXPECT_EQ(parse_gpu_metrics(data, "x").error().code, ErrorCode::unsupported);
  data = testing::gpu_metrics_v1(3, 1);
  data.pop_back();
  EXPECT_EQ(parse_gpu_metrics(data, "x").error().code, ErrorCode::parse_error);
  EXPECT_EQ(parse_gpu_metrics({}, "x").error().code, ErrorCode::parse_error);
  data = testing::gpu_metrics_v1(2, 1);
  data[0] = std::byte{103};
  EXPECT_THAT(parse_gpu_metrics(data, "x").error().message, HasSubstr("104"));
}

// Where the compiler puts a field of the driver's structure.
struct At {
  const char* name;
  std::size_t offset;
  std::size_t bytes;
};
struct KnownLayout {
  const char* name;
  unsigned format, content;
  std::size_t size;
  std::vector<At> fields;
};

std::vector<KnownLayout> known_layouts() {
  const std::vector<At> card = {{"temperature_edge", 4, 2},
                                {"temperature_hotspot", 6, 2},
                                {"temperature_mem", 8, 2},
                                {"temperature_vrmem", 14, 2},
                                {"average_gfx_activity", 16, 2},
                                {"average_socket_power", 22, 2},
                                {"energy_accumulator", 24, 8},
                                {"system_clock_counter", 32, 8},
                                {"average_gfxclk_frequency", 40, 2},
                                {"current_gfxclk", 54, 2},
                                {"current_uclk", 58, 2},
                                {"current_dclk1", 66, 2},
                                {"throttle_status", 68, 4},
                                {"current_fan_speed", 72, 2},
                                {"pcie_link_width", 74, 2},
                                {"pcie_link_speed", 76, 2},
                                {"gfx_activity_acc", 80, 4},
                                {"mem_activity_acc", 84, 4},
                                {"temperature_hbm", 88, 2}};
  const auto with = [](std::vector<At> fields, std::vector<At> more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  };
  const auto v1_2 = with(card, {{"firmware_timestamp", 96, 8}});
  const std::vector<At> apu = {
      {"temperature_gfx", 4, 2},           {"temperature_soc", 6, 2},
      {"temperature_core", 8, 2},          {"temperature_l3", 24, 2},
      {"average_gfx_activity", 28, 2},     {"average_mm_activity", 30, 2},
      {"system_clock_counter", 32, 8},     {"average_socket_power", 40, 2},
      {"average_cpu_power", 42, 2},        {"average_soc_power", 44, 2},
      {"average_gfx_power", 46, 2},        {"average_core_power", 48, 2},
      {"average_gfxclk_frequency", 64, 2}, {"average_dclk_frequency", 74, 2},
      {"current_gfxclk", 76, 2},           {"current_dclk", 86, 2},
      {"current_coreclk", 88, 2},          {"current_l3clk", 104, 2},
      {"throttle_status", 108, 4},         {"fan_pwm", 112, 2}};
  const auto v2_2 = with(apu, {{"indep_throttle_status", 120, 8}});
  const auto v2_3 = with(v2_2, {{"average_temperature_gfx", 128, 2},
                                {"average_temperature_soc", 130, 2},
                                {"average_temperature_core", 132, 2},
                                {"average_temperature_l3", 148, 2}});
  const auto package = [](std::size_t energy) {  // v1.6 (16) or v1.7 and v1.8 (24)
    const std::size_t by = energy - 16;
    return std::vector<At>{{"temperature_hotspot", 4, 2},
                           {"temperature_mem", 6, 2},
                           {"temperature_vrsoc", 8, 2},
                           {"curr_socket_power", 10, 2},
                           {"average_gfx_activity", 12, 2},
                           {"average_umc_activity", 14, 2},
                           {"energy_accumulator", 16 + by, 8},
                           {"system_clock_counter", 24 + by, 8},
                           {"accumulation_counter", 32 + by, 4},
                           {"prochot_residency_acc", 36 + by, 4},
                           {"ppt_residency_acc", 40 + by, 4},
                           {"socket_thm_residency_acc", 44 + by, 4},
                           {"vr_thm_residency_acc", 48 + by, 4},
                           {"hbm_thm_residency_acc", 52 + by, 4},
                           {"gfxclk_lock_status", 56 + by, 4},
                           {"pcie_link_width", 60 + by, 2},
                           {"xgmi_link_speed", 66 + by, 2},
                           {"gfx_activity_acc", 68 + by, 4},
                           {"pcie_bandwidth_acc", 80 + by, 8},
                           {"pcie_replay_rover_count_acc", 112 + by, 8},
                           {"pcie_nak_rcvd_count_acc", 124 + by, 4},
                           {"xgmi_read_data_acc", 128 + by, 8},
                           {"xgmi_write_data_acc", 192 + by, 8}};
  };
  const auto partition = [](std::size_t first, std::size_t vcn, std::size_t busy) {
    return std::vector<At>{{"xcp_gfx_busy_inst", first, 4},
                           {"xcp_jpeg_busy", first + 32, 2},
                           {"xcp_vcn_busy", first + vcn, 2},
                           {"xcp_gfx_busy_acc", first + busy, 8}};
  };
  const std::vector<At> late_clocks = {{"xgmi_link_status", 264, 2}, {"firmware_timestamp", 288, 8},
                                       {"current_gfxclk", 296, 2},   {"current_socclk", 312, 2},
                                       {"current_vclk0", 320, 2},    {"current_dclk0", 328, 2},
                                       {"current_uclk", 336, 2},     {"num_partition", 338, 2}};
  return {
      {"v1.0",
       1,
       0,
       80,
       {{"system_clock_counter", 8, 8},
        {"temperature_edge", 16, 2},
        {"temperature_hotspot", 18, 2},
        {"temperature_mem", 20, 2},
        {"average_socket_power", 34, 2},
        {"energy_accumulator", 36, 4},
        {"average_gfxclk_frequency", 40, 2},
        {"current_gfxclk", 54, 2},
        {"current_uclk", 58, 2},
        {"throttle_status", 68, 4},
        {"current_fan_speed", 72, 2},
        {"pcie_link_width", 74, 1},
        {"pcie_link_speed", 75, 1}}},
      {"v1.1", 1, 1, 96, card},
      {"v1.2", 1, 2, 104, v1_2},
      {"v1.3", 1, 3, 120,
       with(v1_2, {{"voltage_soc", 104, 2},
                   {"voltage_gfx", 106, 2},
                   {"voltage_mem", 108, 2},
                   {"indep_throttle_status", 112, 8}})},
      {"v1.4",
       1,
       4,
       288,
       {{"temperature_hotspot", 4, 2},
        {"curr_socket_power", 10, 2},
        {"vcn_activity", 16, 2},
        {"energy_accumulator", 24, 8},
        {"system_clock_counter", 32, 8},
        {"throttle_status", 40, 4},
        {"xgmi_read_data_acc", 104, 8},
        {"xgmi_write_data_acc", 168, 8},
        {"firmware_timestamp", 232, 8},
        {"current_gfxclk", 240, 2},
        {"current_uclk", 280, 2}}},
      // Thirty-two engines of 16 bits each, so the energy lies at 88.
      {"v1.5",
       1,
       5,
       360,
       {{"vcn_activity", 16, 2},
        {"jpeg_activity", 24, 2},
        {"energy_accumulator", 88, 8},
        {"system_clock_counter", 96, 8},
        {"pcie_nak_sent_count_acc", 168, 4},
        {"xgmi_read_data_acc", 176, 8},
        {"firmware_timestamp", 304, 8},
        {"current_gfxclk", 312, 2},
        {"current_uclk", 352, 2}}},
      {"v1.6", 1, 6, 1664,
       with(with(package(16), partition(312, 96, 104)),
            {{"firmware_timestamp", 256, 8},
             {"current_gfxclk", 264, 2},
             {"current_uclk", 304, 2},
             {"num_partition", 306, 2},
             {"pcie_lc_perf_other_end_recovery", 1656, 4}})},
      {"v1.7", 1, 7, 2208,
       with(with(with(package(24), late_clocks), partition(344, 96, 104)),
            {{"mem_max_bandwidth", 16, 8},
             {"xcp_below_host_limit_acc", 344 + 168, 8},
             {"pcie_lc_perf_other_end_recovery", 2200, 4}})},
      {"v1.8", 1, 8, 3872,
       with(with(with(package(24), late_clocks), partition(344, 112, 120)),
            {{"mem_max_bandwidth", 16, 8},
             {"xcp_below_host_limit_ppt_acc", 344 + 184, 8},
             {"xcp_below_host_limit_thm_acc", 344 + 248, 8},
             {"xcp_low_utilization_acc", 344 + 312, 8},
             {"xcp_below_host_limit_total_acc", 344 + 376, 8},
             {"pcie_lc_perf_other_end_recovery", 3864, 4}})},
      {"v2.0",
       2,
       0,
       120,
       {{"system_clock_counter", 8, 8},
        {"temperature_gfx", 16, 2},
        {"average_gfx_activity", 40, 2},
        {"average_socket_power", 44, 2},
        {"current_gfxclk", 80, 2},
        {"throttle_status", 112, 4},
        {"fan_pwm", 116, 2}}},
      {"v2.1", 2, 1, 120, apu},
      {"v2.2", 2, 2, 128, v2_2},
      {"v2.3", 2, 3, 152, v2_3},
      {"v2.4", 2, 4, 168,
       with(v2_3, {{"average_cpu_voltage", 152, 2},
                   {"average_gfx_voltage", 156, 2},
                   {"average_cpu_current", 158, 2},
                   {"average_gfx_current", 162, 2}})},
      {"v3.0",
       3,
       0,
       264,
       {{"temperature_gfx", 4, 2},
        {"temperature_core", 8, 2},
        {"temperature_skin", 40, 2},
        {"average_gfx_activity", 42, 2},
        {"average_vcn_activity", 44, 2},
        {"average_ipu_activity", 46, 2},
        {"average_core_c0_activity", 62, 2},
        {"average_dram_reads", 94, 2},
        {"average_ipu_writes", 100, 2},
        {"system_clock_counter", 104, 8},
        {"average_socket_power", 112, 4},
        {"average_ipu_power", 116, 2},
        {"average_apu_power", 120, 4},
        {"average_gfx_power", 124, 4},
        {"average_dgpu_power", 128, 4},
        {"average_all_core_power", 132, 4},
        {"average_core_power", 136, 2},
        {"average_sys_power", 168, 2},
        {"stapm_power_limit", 170, 2},
        {"current_stapm_power_limit", 172, 2},
        {"average_gfxclk_frequency", 174, 2},
        {"average_mpipu_frequency", 188, 2},
        {"current_coreclk", 190, 2},
        {"current_core_maxfreq", 222, 2},
        {"current_gfx_maxfreq", 224, 2},
        {"throttle_residency_prochot", 228, 4},
        {"throttle_residency_thm_soc", 252, 4},
        {"time_filter_alphavalue", 256, 4}}},
  };
}

// The one field that has the value 77 in its first element; all others must be absent.
std::string only_field(const std::vector<MetricValues>& fields) {
  std::string found;
  for (const MetricValues& field : fields) {
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      if (!field.values[i]) continue;
      found += field.name + (i == 0 && *field.values[i] == 77 ? ";" : "?;");
    }
  }
  return found;
}

TEST(GpuMetrics, FindsEveryFieldOfEveryFixedLayoutWhereTheDriversStructureHasIt) {
  for (const KnownLayout& layout : known_layouts()) {
    for (const At& at : layout.fields) {
      auto data = blank_table(layout.size, layout.format, layout.content);
      put(data, at.offset, 77, at.bytes);
      const auto fields = gpu_metrics_fields(data, "x");
      ASSERT_TRUE(fields) << layout.name << ": " << fields.error().text();
      EXPECT_EQ(only_field(*fields), std::string(at.name) + ";")
          << layout.name << " at " << at.offset;
      const auto metrics = parse_gpu_metrics(data, "x");
      ASSERT_TRUE(metrics);
      EXPECT_EQ(metrics->layout, layout.name);
    }
    // A table of another size has the version of this one by mistake; one was once in trees.
    auto data = blank_table(layout.size + 8, layout.format, layout.content);
    EXPECT_FALSE(parse_gpu_metrics(data, "x")) << layout.name;
  }
}

TEST(GpuMetrics, TakesValuesThatMeanNoCounterForNoEnergy) {
  for (const std::uint64_t none :
       {std::uint64_t{0}, std::uint64_t{0xFFFFFFFF}, ~std::uint64_t{0}}) {
    auto data = blank_table(120, 1, 3);
    put(data, 24, none, 8);
    EXPECT_FALSE(parse_gpu_metrics(data, "x")->energy_ticks) << none;
  }
}

// An attribute-coded table, as the driver packs it.
class CodedTable {
 public:
  void add(unsigned unit, unsigned type, unsigned id, const std::vector<std::uint64_t>& values,
           std::size_t bytes) {
    const std::uint64_t code = std::uint64_t{unit} << 24 | std::uint64_t{type} << 20 |
                               std::uint64_t{id} << 10 | values.size();
    append(code, 8);
    for (const auto value : values) append(value, bytes);
    ++count_;
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes data(8);
    put(data, 0, 8 + body_.size(), 2);
    put(data, 2, 1, 1);
    put(data, 3, 9, 1);
    put(data, 4, count_, 4);
    data.insert(data.end(), body_.begin(), body_.end());
    return data;
  }

 private:
  void append(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      body_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  Bytes body_;
  std::uint32_t count_{};
};

CodedTable mi300_coded() {
  CodedTable table;
  table.add(2, 2, 0, {55}, 2);                              // temperature_hotspot, u16
  table.add(3, 2, 3, {412}, 2);                             // curr_socket_power
  table.add(0, 6, 7, {123'456'789'012}, 8);                 // energy_accumulator
  table.add(0, 6, 9, {5'000'000'000}, 8);                   // accumulation_counter, u64 here
  table.add(0, 4, 11, {40}, 4);                             // ppt_residency_acc
  table.add(9, 6, 29, {10, 20, ~std::uint64_t{0}, 40}, 8);  // xgmi_read_data_acc of 4 links
  table.add(0, 1, 700, {1, 2, 3}, 1);                       // one that nobody knows yet
  table.add(5, 6, 32, {1'000'000}, 8);                      // firmware_timestamp
  table.add(1, 2, 33, {2100, 1300, 0xFFFF}, 2);             // current_gfxclk of 3 dies
  return table;
}

TEST(CodedGpuMetrics, AreReadByNumberWithUnknownOnesSkipped) {
  const auto metrics = parse_gpu_metrics(mi300_coded().bytes(), "x");
  ASSERT_TRUE(metrics) << metrics.error().text();
  EXPECT_EQ(metrics->layout, "v1.9");
  EXPECT_EQ(metrics->junction_mc, 55'000);
  EXPECT_EQ(metrics->current_power_uw, 412'000'000);
  EXPECT_EQ(metrics->energy_ticks, 123'456'789'012);
  EXPECT_EQ(metrics->power_limited, 40);
  EXPECT_EQ(metrics->xgmi_read_kb[1], 20);
  EXPECT_FALSE(metrics->xgmi_read_kb[2]);
  EXPECT_EQ(metrics->xgmi_read_kb[3], 40);
  EXPECT_FALSE(metrics->xgmi_write_kb[0]);
  EXPECT_EQ(metrics->firmware_ns, 10'000'000);
  EXPECT_EQ(metrics->clock_khz, 2'100'000);
  const auto fields = gpu_metrics_fields(mi300_coded().bytes(), "x");
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 9u);
  EXPECT_EQ((*fields)[6].values.size(), 3u);
}

TEST(CodedGpuMetrics, AreRefusedWhereTheyAreDamaged) {
  const auto whole = mi300_coded().bytes();
  // Cut anywhere, with a head that says so and with one that does not.
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_gpu_metrics(cut, "x")) << size;
    if (size < 4) continue;
    put(cut, 0, size, 2);
    EXPECT_FALSE(parse_gpu_metrics(cut, "x")) << size;
  }
  auto unknown_type = whole;
  put(unknown_type, 8 + 2, 0x8F, 1);  // bits 23:20 of the first code
  EXPECT_THAT(parse_gpu_metrics(unknown_type, "x").error().message, HasSubstr("type is not known"));
  auto trailing = whole;
  trailing.resize(whole.size() + 3);
  put(trailing, 0, trailing.size(), 2);
  EXPECT_THAT(parse_gpu_metrics(trailing, "x").error().message, HasSubstr("behind the last"));
}

std::string recorded(const std::string& path) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  return std::string(shared == nullptr ? "" : shared) + "/data/" + path;
}

// Skips only without any recordings: one that is missing among others is a failure.
#define SKIP_WITHOUT_RECORDED_TABLES()                                  \
  if (!std::filesystem::exists(recorded(""))) {                         \
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout"; \
  }

Result<GpuMetrics> recorded_metrics(const std::string& path) {
  WW_ASSIGN(text, read_file(recorded(path)));
  return parse_gpu_metrics(std::as_bytes(std::span(text)), path);
}

TEST(RecordedGpuMetrics, DecodeToWhatTheCardsShowed) {
  SKIP_WITHOUT_RECORDED_TABLES();
  const auto rx6900 = recorded_metrics("amdgpu_sysfs/rx6900xt/card0/device/gpu_metrics");
  ASSERT_TRUE(rx6900) << rx6900.error().text();
  EXPECT_EQ(rx6900->layout, "v1.3");
  EXPECT_EQ(rx6900->edge_mc, 56'000);
  EXPECT_EQ(rx6900->junction_mc, 59'000);
  EXPECT_EQ(rx6900->memory_mc, 54'000);
  EXPECT_EQ(rx6900->average_power_uw, 36'000'000);
  EXPECT_EQ(rx6900->clock_khz, 500'000);
  EXPECT_EQ(rx6900->memory_clock_khz, 1'000'000);
  EXPECT_EQ(rx6900->energy_ticks, 17'691'682);

  const auto rx7600 = recorded_metrics("amdgpu_sysfs/rx7600s/card1/device/gpu_metrics");
  ASSERT_TRUE(rx7600);
  EXPECT_EQ(rx7600->average_power_uw, 1'000'000);
  EXPECT_FALSE(rx7600->energy_ticks);
  EXPECT_EQ(amd_throttle_text(rx7600->throttle.value_or(0)), "temperature");

  const auto rx9070 = recorded_metrics("amdgpu_sysfs/rx9070/card1/device/gpu_metrics");
  ASSERT_TRUE(rx9070);
  EXPECT_EQ(rx9070->average_power_uw, 49'000'000);
  EXPECT_FALSE(rx9070->energy_ticks);
  EXPECT_FALSE(rx9070->firmware_ns);

  const auto phoenix = recorded_metrics("amdgpu_sysfs/phoenix/card1/device/gpu_metrics");
  ASSERT_TRUE(phoenix);
  EXPECT_EQ(phoenix->layout, "v2.1");
  EXPECT_TRUE(phoenix->apu);
  EXPECT_EQ(phoenix->edge_mc, 25'000);
  EXPECT_EQ(phoenix->average_power_uw, 3'401'000);
  EXPECT_EQ(phoenix->clock_khz, 800'000);  // the averaged one: all current clocks are all ones

  const auto strix = recorded_metrics("amdgpu_sysfs/strixpoint/card1/device/gpu_metrics");
  ASSERT_TRUE(strix);
  EXPECT_EQ(strix->layout, "v3.0");
  EXPECT_EQ(strix->edge_mc, 38'120);
  EXPECT_EQ(strix->average_power_uw, 9'839'000);
  EXPECT_EQ(strix->clock_khz, 849'000);

  const auto navi2 = recorded_metrics("gpu_metrics/mangohud_navi2x_v1_3.bin");
  ASSERT_TRUE(navi2);
  EXPECT_EQ(navi2->average_power_uw, 33'000'000);
  EXPECT_EQ(navi2->energy_ticks, 3'284'043'806);
  EXPECT_EQ(navi2->voltage_uv, 1'025'000);
  const auto damaged = recorded_metrics("gpu_metrics/mangohud_invalid.bin");
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("did not fill it"));
}

}  // namespace
}  // namespace ww::measure
