// The fixed layouts of gpu_metrics, v1.0 to v1.8, v2.0 to v2.4 and v3.0, in the order of the
// structures in Linux' drivers/gpu/drm/amd/include/kgd_pp_interface.h.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sensor/sysfs/metric_table.hpp"

namespace ww::measure::gpu_tables {

inline constexpr std::size_t kHeadBytes = 4;  // size, format, content

constexpr MetricField u16(std::string_view name, std::string_view unit, std::size_t count = 1,
                          Metric metric = Metric::other) {
  return {name, unit, MetricType::u16, count, metric};
}
constexpr MetricField u32(std::string_view name, std::string_view unit, std::size_t count = 1,
                          Metric metric = Metric::other) {
  return {name, unit, MetricType::u32, count, metric};
}
constexpr MetricField u64(std::string_view name, std::string_view unit, std::size_t count = 1,
                          Metric metric = Metric::other) {
  return {name, unit, MetricType::u64, count, metric};
}
// Space between fields; it is not listed.
constexpr MetricField padding(std::size_t count) {
  return {"", "", MetricType::u16, count};
}

// Joins parts of structures.
template <std::size_t... N>
constexpr auto joined(const std::array<MetricField, N>&... parts) {
  std::array<MetricField, (N + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const MetricField& field : part) all[at++] = field;
  };
  (append(parts), ...);
  return all;
}

// Cards, v1.0 to v1.3.
inline constexpr std::array kCardTemperatures = {
    u16("temperature_edge", "C", 1, Metric::edge),
    u16("temperature_hotspot", "C", 1, Metric::junction),
    u16("temperature_mem", "C", 1, Metric::memory),
    u16("temperature_vrgfx", "C"),
    u16("temperature_vrsoc", "C"),
    u16("temperature_vrmem", "C"),
    u16("average_gfx_activity", "%"),
    u16("average_umc_activity", "%"),
    u16("average_mm_activity", "%"),
    u16("average_socket_power", "W", 1, Metric::average_power)};
inline constexpr std::array kCardClocks = {u16("average_gfxclk_frequency", "MHz"),
                                           u16("average_socclk_frequency", "MHz"),
                                           u16("average_uclk_frequency", "MHz"),
                                           u16("average_vclk0_frequency", "MHz"),
                                           u16("average_dclk0_frequency", "MHz"),
                                           u16("average_vclk1_frequency", "MHz"),
                                           u16("average_dclk1_frequency", "MHz"),
                                           u16("current_gfxclk", "MHz", 1, Metric::clock),
                                           u16("current_socclk", "MHz"),
                                           u16("current_uclk", "MHz", 1, Metric::memory_clock),
                                           u16("current_vclk0", "MHz"),
                                           u16("current_dclk0", "MHz"),
                                           u16("current_vclk1", "MHz"),
                                           u16("current_dclk1", "MHz"),
                                           u32("throttle_status", "bits"),
                                           u16("current_fan_speed", "rpm")};
inline constexpr std::array kDriverClock = {
    u64("system_clock_counter", "ns", 1, Metric::driver_time)};
inline constexpr std::array kEnergy64 = {u64("energy_accumulator", "2^-16 J", 1, Metric::energy)};

inline constexpr auto kV10 = laid_out(
    joined(kDriverClock, kCardTemperatures,
           std::array{u32("energy_accumulator", "2^-16 J", 1, Metric::energy)}, kCardClocks,
           std::array{MetricField{"pcie_link_width", "lanes", MetricType::u8},
                      MetricField{"pcie_link_speed", "0.1 GT/s", MetricType::u8}}),
    kHeadBytes);

inline constexpr auto kCardBody1 =
    joined(kCardTemperatures, kEnergy64, kDriverClock, kCardClocks,
           std::array{u16("pcie_link_width", "lanes"), u16("pcie_link_speed", "0.1 GT/s"),
                      padding(1), u32("gfx_activity_acc", "%"), u32("mem_activity_acc", "%"),
                      u16("temperature_hbm", "C", 4)});
inline constexpr std::array kFirmwareClock = {
    u64("firmware_timestamp", "10 ns", 1, Metric::firmware_time)};
inline constexpr auto kV11 = laid_out(kCardBody1, kHeadBytes);
inline constexpr auto v1_2 = laid_out(joined(kCardBody1, kFirmwareClock), kHeadBytes);
inline constexpr auto kV13 = laid_out(
    joined(kCardBody1, kFirmwareClock,
           std::array{u16("voltage_soc", "mV"), u16("voltage_gfx", "mV", 1, Metric::voltage),
                      u16("voltage_mem", "mV"), padding(1),
                      u64("indep_throttle_status", "bits", 1, Metric::throttle)}),
    kHeadBytes);

// Packages of several dies, v1.4 to v1.8.
inline constexpr std::array kPackageHead = {u16("temperature_hotspot", "C", 1, Metric::junction),
                                            u16("temperature_mem", "C", 1, Metric::memory),
                                            u16("temperature_vrsoc", "C"),
                                            u16("curr_socket_power", "W", 1, Metric::current_power),
                                            u16("average_gfx_activity", "%"),
                                            u16("average_umc_activity", "%")};
inline constexpr std::array kThrottleBits = {u32("throttle_status", "bits")};
inline constexpr std::array kResidencies = {
    u32("accumulation_counter", "samples", 1, Metric::samples),
    u32("prochot_residency_acc", "samples", 1, Metric::other_limit),
    u32("ppt_residency_acc", "samples", 1, Metric::power_limit),
    u32("socket_thm_residency_acc", "samples", 1, Metric::thermal_limit),
    u32("vr_thm_residency_acc", "samples", 1, Metric::thermal_limit),
    u32("hbm_thm_residency_acc", "samples", 1, Metric::thermal_limit)};
inline constexpr std::array kPackageLinks = {
    u32("gfxclk_lock_status", "bits"),      u16("pcie_link_width", "lanes"),
    u16("pcie_link_speed", "0.1 GT/s"),     u16("xgmi_link_width", "lanes"),
    u16("xgmi_link_speed", "Gbit/s"),       u32("gfx_activity_acc", "%"),
    u32("mem_activity_acc", "%"),           u64("pcie_bandwidth_acc", "GB/s"),
    u64("pcie_bandwidth_inst", "GB/s"),     u64("pcie_l0_to_recov_count_acc", "events"),
    u64("pcie_replay_count_acc", "events"), u64("pcie_replay_rover_count_acc", "events")};
inline constexpr std::array kNaks = {u32("pcie_nak_sent_count_acc", "events"),
                                     u32("pcie_nak_rcvd_count_acc", "events")};
inline constexpr std::array kXgmiData = {u64("xgmi_read_data_acc", "kB", 8, Metric::xgmi_read),
                                         u64("xgmi_write_data_acc", "kB", 8, Metric::xgmi_write)};
inline constexpr std::array kPackageClocks = {
    u64("firmware_timestamp", "10 ns", 1, Metric::firmware_time),
    u16("current_gfxclk", "MHz", 8, Metric::clock),
    u16("current_socclk", "MHz", 4),
    u16("current_vclk0", "MHz", 4),
    u16("current_dclk0", "MHz", 4),
    u16("current_uclk", "MHz", 1, Metric::memory_clock)};

inline constexpr auto kV14 =
    laid_out(joined(kPackageHead, std::array{u16("vcn_activity", "%", 4)}, kEnergy64, kDriverClock,
                    kThrottleBits, kPackageLinks, kXgmiData, kPackageClocks),
             kHeadBytes);
inline constexpr auto kV15 = laid_out(
    joined(kPackageHead, std::array{u16("vcn_activity", "%", 4), u16("jpeg_activity", "%", 32)},
           kEnergy64, kDriverClock, kThrottleBits, kPackageLinks, kNaks, kXgmiData, kPackageClocks),
    kHeadBytes);

// Fields that each of eight partitions adds. `jpegs` engines; the counts of limits came later.
constexpr auto partitions(std::size_t jpegs, int version) {
  constexpr std::size_t count = 8, fields = 9;
  std::array<MetricField, count * fields> all{};
  for (std::size_t p = 0; p < count; ++p) {
    MetricField* part = &all[p * fields];
    // A field without elements takes no room. The first one aligns the structure.
    const std::size_t limits = version >= 1 ? 8 : 0, more = version >= 2 ? 8 : 0;
    part[0] = u64("", "", 0);
    part[1] = u32("xcp_gfx_busy_inst", "%", 8);
    part[2] = u16("xcp_jpeg_busy", "%", jpegs);
    part[3] = u16("xcp_vcn_busy", "%", 4);
    part[4] = u64("xcp_gfx_busy_acc", "%", 8);
    part[5] = u64(version >= 2 ? "xcp_below_host_limit_ppt_acc" : "xcp_below_host_limit_acc",
                  "samples", limits);
    part[6] = u64("xcp_below_host_limit_thm_acc", "samples", more);
    part[7] = u64("xcp_low_utilization_acc", "samples", more);
    part[8] = u64("xcp_below_host_limit_total_acc", "samples", more);
  }
  return all;
}

inline constexpr std::array kPartitionCount = {u16("num_partition", "partitions")};
inline constexpr std::array kLinkStatus = {u16("xgmi_link_status", "bits", 8), padding(1)};
inline constexpr std::array other_end = {u32("pcie_lc_perf_other_end_recovery", "events")};
inline constexpr std::array kMemoryBandwidth = {u64("mem_max_bandwidth", "GB/s")};

inline constexpr auto kV16 =
    laid_out(joined(kPackageHead, kEnergy64, kDriverClock, kResidencies, kPackageLinks, kNaks,
                    kXgmiData, kPackageClocks, kPartitionCount, partitions(32, 0), other_end),
             kHeadBytes);
inline constexpr auto kV17 =
    laid_out(joined(kPackageHead, kMemoryBandwidth, kEnergy64, kDriverClock, kResidencies,
                    kPackageLinks, kNaks, kXgmiData, kLinkStatus, kPackageClocks, kPartitionCount,
                    partitions(32, 1), other_end),
             kHeadBytes);
inline constexpr auto kV18 =
    laid_out(joined(kPackageHead, kMemoryBandwidth, kEnergy64, kDriverClock, kResidencies,
                    kPackageLinks, kNaks, kXgmiData, kLinkStatus, kPackageClocks, kPartitionCount,
                    partitions(40, 2), other_end),
             kHeadBytes);

// APUs, v2.0 to v2.4 and v3.0.
inline constexpr std::array kApuTemperatures = {
    u16("temperature_gfx", "0.01 C", 1, Metric::edge), u16("temperature_soc", "0.01 C"),
    u16("temperature_core", "0.01 C", 8), u16("temperature_l3", "0.01 C", 2),
    // Hundredths of a percent on some chips, whole percent on others.
    u16("average_gfx_activity", "% or 0.01 %"), u16("average_mm_activity", "% or 0.01 %")};
inline constexpr std::array kApuBody = {
    u16("average_socket_power", "mW", 1, Metric::average_power),
    u16("average_cpu_power", "mW"),
    u16("average_soc_power", "mW"),
    u16("average_gfx_power", "mW"),
    u16("average_core_power", "mW", 8),
    u16("average_gfxclk_frequency", "MHz", 1, Metric::average_clock),
    u16("average_socclk_frequency", "MHz"),
    u16("average_uclk_frequency", "MHz", 1, Metric::average_memory_clock),
    u16("average_fclk_frequency", "MHz"),
    u16("average_vclk_frequency", "MHz"),
    u16("average_dclk_frequency", "MHz"),
    u16("current_gfxclk", "MHz", 1, Metric::clock),
    u16("current_socclk", "MHz"),
    u16("current_uclk", "MHz", 1, Metric::memory_clock),
    u16("current_fclk", "MHz"),
    u16("current_vclk", "MHz"),
    u16("current_dclk", "MHz"),
    u16("current_coreclk", "MHz", 8),
    u16("current_l3clk", "MHz", 2),
    u32("throttle_status", "bits"),
    u16("fan_pwm", "pwm")};
inline constexpr auto kV20 =
    laid_out(joined(kDriverClock, kApuTemperatures, kApuBody, std::array{padding(1)}), kHeadBytes);
inline constexpr auto kApuBody1 =
    joined(kApuTemperatures, kDriverClock, kApuBody, std::array{padding(3)});
inline constexpr std::array kIndependentBits = {
    u64("indep_throttle_status", "bits", 1, Metric::throttle)};
inline constexpr std::array kAverageTemperatures = {
    u16("average_temperature_gfx", "0.01 C"), u16("average_temperature_soc", "0.01 C"),
    u16("average_temperature_core", "0.01 C", 8), u16("average_temperature_l3", "0.01 C", 2)};
inline constexpr auto kV21 = laid_out(kApuBody1, kHeadBytes);
inline constexpr auto v2_2 = laid_out(joined(kApuBody1, kIndependentBits), kHeadBytes);
inline constexpr auto v2_3 =
    laid_out(joined(kApuBody1, kIndependentBits, kAverageTemperatures), kHeadBytes);
inline constexpr auto kV24 =
    laid_out(joined(kApuBody1, kIndependentBits, kAverageTemperatures,
                    std::array{u16("average_cpu_voltage", "mV"), u16("average_soc_voltage", "mV"),
                               u16("average_gfx_voltage", "mV", 1, Metric::voltage),
                               u16("average_cpu_current", "mA"), u16("average_soc_current", "mA"),
                               u16("average_gfx_current", "mA")}),
             kHeadBytes);

inline constexpr auto kV30 =
    laid_out(std::array{u16("temperature_gfx", "0.01 C", 1, Metric::edge),
                        u16("temperature_soc", "0.01 C"),
                        u16("temperature_core", "0.01 C", 16),
                        u16("temperature_skin", "0.01 C"),
                        u16("average_gfx_activity", "%"),
                        u16("average_vcn_activity", "%"),
                        u16("average_ipu_activity", "%", 8),
                        u16("average_core_c0_activity", "%", 16),
                        u16("average_dram_reads", "MB/s"),
                        u16("average_dram_writes", "MB/s"),
                        u16("average_ipu_reads", "MB/s"),
                        u16("average_ipu_writes", "MB/s"),
                        u64("system_clock_counter", "ns", 1, Metric::driver_time),
                        u32("average_socket_power", "mW", 1, Metric::average_power),
                        u16("average_ipu_power", "mW"),
                        u32("average_apu_power", "mW"),
                        u32("average_gfx_power", "mW"),
                        u32("average_dgpu_power", "mW"),
                        u32("average_all_core_power", "mW"),
                        u16("average_core_power", "mW", 16),
                        u16("average_sys_power", "mW"),
                        u16("stapm_power_limit", "mW"),
                        u16("current_stapm_power_limit", "mW"),
                        u16("average_gfxclk_frequency", "MHz", 1, Metric::average_clock),
                        u16("average_socclk_frequency", "MHz"),
                        u16("average_vpeclk_frequency", "MHz"),
                        u16("average_ipuclk_frequency", "MHz"),
                        u16("average_fclk_frequency", "MHz"),
                        u16("average_vclk_frequency", "MHz"),
                        u16("average_uclk_frequency", "MHz", 1, Metric::average_memory_clock),
                        u16("average_mpipu_frequency", "MHz"),
                        u16("current_coreclk", "MHz", 16),
                        u16("current_core_maxfreq", "MHz"),
                        u16("current_gfx_maxfreq", "MHz"),
                        u32("throttle_residency_prochot", "samples", 1, Metric::other_limit),
                        u32("throttle_residency_spl", "samples", 1, Metric::power_limit),
                        u32("throttle_residency_fppt", "samples", 1, Metric::power_limit),
                        u32("throttle_residency_sppt", "samples", 1, Metric::power_limit),
                        u32("throttle_residency_thm_core", "samples", 1, Metric::thermal_limit),
                        u32("throttle_residency_thm_gfx", "samples", 1, Metric::thermal_limit),
                        u32("throttle_residency_thm_soc", "samples", 1, Metric::thermal_limit),
                        u32("time_filter_alphavalue", "us")},
             kHeadBytes);

struct FixedLayout {
  const char* name;
  unsigned format, content;
  std::size_t bytes;
  std::span<const MetricField> fields;
};

inline constexpr std::array kFixedLayouts = {
    FixedLayout{"v1.0", 1, 0, structure_bytes(kV10), kV10},
    FixedLayout{"v1.1", 1, 1, structure_bytes(kV11), kV11},
    FixedLayout{"v1.2", 1, 2, structure_bytes(v1_2), v1_2},
    FixedLayout{"v1.3", 1, 3, structure_bytes(kV13), kV13},
    FixedLayout{"v1.4", 1, 4, structure_bytes(kV14), kV14},
    FixedLayout{"v1.5", 1, 5, structure_bytes(kV15), kV15},
    FixedLayout{"v1.6", 1, 6, structure_bytes(kV16), kV16},
    FixedLayout{"v1.7", 1, 7, structure_bytes(kV17), kV17},
    FixedLayout{"v1.8", 1, 8, structure_bytes(kV18), kV18},
    FixedLayout{"v2.0", 2, 0, structure_bytes(kV20), kV20},
    FixedLayout{"v2.1", 2, 1, structure_bytes(kV21), kV21},
    FixedLayout{"v2.2", 2, 2, structure_bytes(v2_2), v2_2},
    FixedLayout{"v2.3", 2, 3, structure_bytes(v2_3), v2_3},
    FixedLayout{"v2.4", 2, 4, structure_bytes(kV24), kV24},
    FixedLayout{"v3.0", 3, 0, structure_bytes(kV30), kV30},
};

// Sizes that the driver's structures have on x86-64.
static_assert(kFixedLayouts[0].bytes == 80 && kFixedLayouts[1].bytes == 96);
static_assert(kFixedLayouts[2].bytes == 104 && kFixedLayouts[3].bytes == 120);
static_assert(kFixedLayouts[4].bytes == 288 && kFixedLayouts[5].bytes == 360);
static_assert(kFixedLayouts[6].bytes == 1664 && kFixedLayouts[7].bytes == 2208);
static_assert(kFixedLayouts[8].bytes == 3872 && kFixedLayouts[9].bytes == 120);
static_assert(kFixedLayouts[10].bytes == 120 && kFixedLayouts[11].bytes == 128);
static_assert(kFixedLayouts[12].bytes == 152 && kFixedLayouts[13].bytes == 168);
static_assert(kFixedLayouts[14].bytes == 264);

}  // namespace ww::measure::gpu_tables
