#include "sensor/sysfs/pm_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sensor/sysfs/metric_table.hpp"

namespace ww::measure {
namespace {

constexpr std::size_t kPmHeadBytes = 16;

enum class PmField : std::uint8_t {
  other,
  samples,
  socket_temperature,
  regulator_temperature,
  memory_temperature,
  socket_power,
  timestamp,
  socket_energy,
  ccd_energy,
  xcd_energy,
  aid_energy,
  hbm_energy,
  fabric_clock,
  memory_clock,
  xgmi_read,
  xgmi_write,
};

struct PmEntry {
  std::string_view name;
  std::string_view unit;  // "1/1024 W": the firmware's fixed point, 10 bits behind it
  MetricType type;
  std::size_t offset;  // from the end of the head; the table is packed to 4 bytes
  std::size_t count{1};
  PmField field{PmField::other};
};

// Entries that V0 (MI300X and most others) and V1 (MI300A with old firmware) share.
constexpr std::array kPmV0 = {
    PmEntry{"AccumulationCounter", "samples", MetricType::u32, 0, 1, PmField::samples},
    PmEntry{"MaxSocketTemperature", "1/1024 C", MetricType::s32, 4, 1, PmField::socket_temperature},
    PmEntry{"MaxVrTemperature", "1/1024 C", MetricType::s32, 8, 1, PmField::regulator_temperature},
    PmEntry{"MaxHbmTemperature", "1/1024 C", MetricType::s32, 12, 1, PmField::memory_temperature},
    PmEntry{"MaxSocketTemperatureAcc", "1/1024 C", MetricType::u64, 16},
    PmEntry{"MaxVrTemperatureAcc", "1/1024 C", MetricType::u64, 24},
    PmEntry{"MaxHbmTemperatureAcc", "1/1024 C", MetricType::u64, 32},
    PmEntry{"SocketPowerLimit", "1/1024 W", MetricType::u32, 40},
    PmEntry{"MaxSocketPowerLimit", "1/1024 W", MetricType::u32, 44},
    PmEntry{"SocketPower", "1/1024 W", MetricType::u32, 48, 1, PmField::socket_power},
    PmEntry{"Timestamp", "10 ns", MetricType::u64, 52, 1, PmField::timestamp},
    PmEntry{"SocketEnergyAcc", "2^-16 J", MetricType::u64, 60, 1, PmField::socket_energy},
    PmEntry{"CcdEnergyAcc", "2^-16 J", MetricType::u64, 68, 1, PmField::ccd_energy},
    PmEntry{"XcdEnergyAcc", "2^-16 J", MetricType::u64, 76, 1, PmField::xcd_energy},
    PmEntry{"AidEnergyAcc", "2^-16 J", MetricType::u64, 84, 1, PmField::aid_energy},
    PmEntry{"HbmEnergyAcc", "2^-16 J", MetricType::u64, 92, 1, PmField::hbm_energy},
    PmEntry{"GfxclkFrequencyLimit", "1/1024 MHz", MetricType::u32, 104},
    PmEntry{"FclkFrequency", "1/1024 MHz", MetricType::u32, 108, 1, PmField::fabric_clock},
    PmEntry{"UclkFrequency", "1/1024 MHz", MetricType::u32, 112, 1, PmField::memory_clock},
    PmEntry{"GfxclkFrequencyAcc", "1/1024 MHz", MetricType::u64, 180, 8},
    PmEntry{"XgmiReadBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 1140, 8},
    PmEntry{"XgmiWriteBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 1204, 8},
    PmEntry{"SocketGfxBusy", "1/1024 %", MetricType::u32, 1272},
    PmEntry{"DramBandwidthUtilization", "1/1024 %", MetricType::u32, 1276},
    PmEntry{"SocketGfxBusyAcc", "1/1024 %", MetricType::u64, 1288},
    PmEntry{"DramBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 1296},
    PmEntry{"MaxDramBandwidth", "1/1024 Gbit/s", MetricType::u32, 1304},
    PmEntry{"DramBandwidthUtilizationAcc", "1/1024 %", MetricType::u64, 1308},
    PmEntry{"PcieBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 1316, 4},
    PmEntry{"ProchotResidencyAcc", "samples", MetricType::u32, 1348},
    PmEntry{"PptResidencyAcc", "samples", MetricType::u32, 1352},
    PmEntry{"SocketThmResidencyAcc", "samples", MetricType::u32, 1356},
    PmEntry{"VrThmResidencyAcc", "samples", MetricType::u32, 1360},
    PmEntry{"HbmThmResidencyAcc", "samples", MetricType::u32, 1364},
    PmEntry{"GfxclkFrequency", "1/1024 MHz", MetricType::u32, 1372, 8},
    PmEntry{"XgmiReadDataSizeAcc", "1/1024 kB", MetricType::u64, 1596, 8, PmField::xgmi_read},
    PmEntry{"XgmiWriteDataSizeAcc", "1/1024 kB", MetricType::u64, 1660, 8, PmField::xgmi_write},
};

// HSMP's table is the part of V0 that ends after the clocks of the dies.
constexpr std::size_t kHsmpBytes = 1404;
constexpr auto kHsmpTable = std::span(kPmV0).first(kPmV0.size() - 2);
static_assert(kHsmpTable.back().offset + kHsmpTable.back().count * 4 == kHsmpBytes);

// MI350 with older firmware.
constexpr std::array kPmV2 = {
    PmEntry{"AccumulationCounter", "samples", MetricType::u64, 0, 1, PmField::samples},
    PmEntry{"MaxSocketTemperature", "1/1024 C", MetricType::s32, 8, 1, PmField::socket_temperature},
    PmEntry{"MaxVrTemperature", "1/1024 C", MetricType::s32, 12, 1, PmField::regulator_temperature},
    PmEntry{"MaxHbmTemperature", "1/1024 C", MetricType::s32, 16, 1, PmField::memory_temperature},
    PmEntry{"MaxSocketTemperatureAcc", "1/1024 C", MetricType::u64, 20},
    PmEntry{"MaxVrTemperatureAcc", "1/1024 C", MetricType::u64, 28},
    PmEntry{"MaxHbmTemperatureAcc", "1/1024 C", MetricType::u64, 36},
    PmEntry{"SocketPowerLimit", "1/1024 W", MetricType::u32, 44},
    PmEntry{"MaxSocketPowerLimit", "1/1024 W", MetricType::u32, 48},
    PmEntry{"SocketPower", "1/1024 W", MetricType::u32, 52, 1, PmField::socket_power},
    PmEntry{"Timestamp", "10 ns", MetricType::u64, 56, 1, PmField::timestamp},
    PmEntry{"SocketEnergyAcc", "2^-16 J", MetricType::u64, 64, 1, PmField::socket_energy},
    PmEntry{"CcdEnergyAcc", "2^-16 J", MetricType::u64, 72, 1, PmField::ccd_energy},
    PmEntry{"XcdEnergyAcc", "2^-16 J", MetricType::u64, 80, 1, PmField::xcd_energy},
    PmEntry{"AidEnergyAcc", "2^-16 J", MetricType::u64, 88, 1, PmField::aid_energy},
    PmEntry{"HbmEnergyAcc", "2^-16 J", MetricType::u64, 96, 1, PmField::hbm_energy},
    PmEntry{"GfxclkFrequencyLimit", "1/1024 MHz", MetricType::u32, 104},
    PmEntry{"FclkFrequency", "1/1024 MHz", MetricType::u32, 108, 1, PmField::fabric_clock},
    PmEntry{"UclkFrequency", "1/1024 MHz", MetricType::u32, 112, 1, PmField::memory_clock},
    PmEntry{"GfxclkFrequencyAcc", "1/1024 MHz", MetricType::u64, 180, 8},
    PmEntry{"XgmiReadBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 364, 8},
    PmEntry{"XgmiWriteBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 428, 8},
    PmEntry{"SocketGfxBusy", "1/1024 %", MetricType::u32, 492},
    PmEntry{"DramBandwidthUtilization", "1/1024 %", MetricType::u32, 496},
    PmEntry{"SocketGfxBusyAcc", "1/1024 %", MetricType::u64, 508},
    PmEntry{"DramBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 516},
    PmEntry{"MaxDramBandwidth", "1/1024 Gbit/s", MetricType::u32, 524},
    PmEntry{"DramBandwidthUtilizationAcc", "1/1024 %", MetricType::u64, 528},
    PmEntry{"PcieBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 536, 4},
    PmEntry{"ProchotResidencyAcc", "samples", MetricType::u32, 568},
    PmEntry{"PptResidencyAcc", "samples", MetricType::u32, 572},
    PmEntry{"SocketThmResidencyAcc", "samples", MetricType::u32, 576},
    PmEntry{"VrThmResidencyAcc", "samples", MetricType::u32, 580},
    PmEntry{"HbmThmResidencyAcc", "samples", MetricType::u32, 584},
    PmEntry{"GfxclkFrequency", "1/1024 MHz", MetricType::u32, 592, 8},
    PmEntry{"XgmiReadDataSizeAcc", "1/1024 kB", MetricType::u64, 720, 8, PmField::xgmi_read},
    PmEntry{"XgmiWriteDataSizeAcc", "1/1024 kB", MetricType::u64, 784, 8, PmField::xgmi_write},
};

// MI350's own table, version 0x12.
constexpr std::array kPmV12 = {
    PmEntry{"AccumulationCounter", "samples", MetricType::u64, 0, 1, PmField::samples},
    PmEntry{"MaxSocketTemperature", "1/1024 C", MetricType::s32, 8, 1, PmField::socket_temperature},
    PmEntry{"MaxVrTemperature", "1/1024 C", MetricType::s32, 12, 1, PmField::regulator_temperature},
    PmEntry{"MaxHbmTemperature", "1/1024 C", MetricType::s32, 16, 1, PmField::memory_temperature},
    PmEntry{"MaxSocketTemperatureAcc", "1/1024 C", MetricType::u64, 20},
    PmEntry{"MaxVrTemperatureAcc", "1/1024 C", MetricType::u64, 28},
    PmEntry{"MaxHbmTemperatureAcc", "1/1024 C", MetricType::u64, 36},
    PmEntry{"SocketPowerLimit", "1/1024 W", MetricType::u32, 44},
    PmEntry{"SocketPower", "1/1024 W", MetricType::u32, 48, 1, PmField::socket_power},
    PmEntry{"Timestamp", "10 ns", MetricType::u64, 52, 1, PmField::timestamp},
    PmEntry{"SocketEnergyAcc", "2^-16 J", MetricType::u64, 60, 1, PmField::socket_energy},
    PmEntry{"XcdEnergyAcc", "2^-16 J", MetricType::u64, 68, 1, PmField::xcd_energy},
    PmEntry{"AidEnergyAcc", "2^-16 J", MetricType::u64, 76, 1, PmField::aid_energy},
    PmEntry{"HbmEnergyAcc", "2^-16 J", MetricType::u64, 84, 1, PmField::hbm_energy},
    PmEntry{"GfxclkFrequencyLimit", "1/1024 MHz", MetricType::u32, 92},
    PmEntry{"FclkFrequency", "1/1024 MHz", MetricType::u32, 96, 1, PmField::fabric_clock},
    PmEntry{"UclkFrequency", "1/1024 MHz", MetricType::u32, 100, 1, PmField::memory_clock},
    PmEntry{"XgmiReadBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 248, 8},
    PmEntry{"XgmiWriteBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 312, 8},
    PmEntry{"SocketGfxBusy", "1/1024 %", MetricType::u32, 376},
    PmEntry{"DramBandwidthUtilization", "1/1024 %", MetricType::u32, 380},
    PmEntry{"SocketGfxBusyAcc", "1/1024 %", MetricType::u64, 384},
    PmEntry{"DramBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 392},
    PmEntry{"MaxDramBandwidth", "1/1024 Gbit/s", MetricType::u32, 400},
    PmEntry{"DramBandwidthUtilizationAcc", "1/1024 %", MetricType::u64, 404},
    PmEntry{"PcieBandwidthAcc", "1/1024 Gbit/s", MetricType::u64, 412, 4},
    PmEntry{"ProchotResidencyAcc", "samples", MetricType::u32, 444},
    PmEntry{"PptResidencyAcc", "samples", MetricType::u32, 448},
    PmEntry{"SocketThmResidencyAcc", "samples", MetricType::u32, 452},
    PmEntry{"VrThmResidencyAcc", "samples", MetricType::u32, 456},
    PmEntry{"HbmThmResidencyAcc", "samples", MetricType::u32, 460},
    PmEntry{"GfxclkFrequency", "1/1024 MHz", MetricType::u32, 468, 8},
    PmEntry{"XgmiReadDataSizeAcc", "1/1024 kB", MetricType::u64, 500, 8, PmField::xgmi_read},
    PmEntry{"XgmiWriteDataSizeAcc", "1/1024 kB", MetricType::u64, 564, 8, PmField::xgmi_write},
};

struct PmLayout {
  std::string_view name;
  std::span<const PmEntry> entries;
};
constexpr PmLayout kPmLayoutV0{"V0", kPmV0};
constexpr PmLayout kPmLayoutV1{"V1", kPmV0};
constexpr PmLayout kPmLayoutV2{"V2", kPmV2};
constexpr PmLayout kPmLayoutV12{"0x12", kPmV12};

struct PmHead {
  std::size_t size{};
  std::uint32_t chip{};  // version of the management processor: 13.0.6 is 0x0D000600
  std::uint32_t firmware{}, table{};
};

std::uint32_t pm_word(std::span<const std::byte> data, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::to_integer<std::uint32_t>(data[at + i]) << (8 * i);
  }
  return value;
}

struct PmTable {
  PmHead head;
  PmLayout layout;
  std::span<const std::byte> data;  // without the head
};

Result<PmTable> check_pm_table(std::span<const std::byte> data, const std::string& source,
                               bool apu) {
  if (data.size() < kPmHeadBytes) {
    return fail(ErrorCode::parse_error,
                fmt::format("pm_metrics has {} bytes: too short for a head of {}", data.size(),
                            kPmHeadBytes),
                source);
  }
  PmHead head;
  head.size = pm_word(data, 0) & 0xFFFF;
  head.chip = pm_word(data, 4);
  head.firmware = pm_word(data, 8);
  head.table = pm_word(data, 12);
  // Kernels before 2024 leave the last byte of the version out.
  if (head.chip < 0x01000000) head.chip <<= 8;
  constexpr std::uint32_t mi300 = 0x0D000600, mi300_more = 0x0D000E00, mi350 = 0x0D000C00;
  constexpr std::uint32_t last_v1_firmware = 0x04556900, first_v12_firmware = 0x00561E00;
  PmLayout layout = kPmLayoutV0;
  bool known = true;
  if (head.chip == mi350 && head.firmware >= first_v12_firmware) {
    layout = kPmLayoutV12;
    known = head.table == 0x12;
  } else if (head.chip == mi350) {
    layout = kPmLayoutV2;
  } else if (head.chip == mi300 && apu && head.firmware <= last_v1_firmware) {
    layout = kPmLayoutV1;
  } else if (head.chip == mi300 || head.chip == mi300_more) {
    known = head.table == 0xF || head.table == 0xE;
  } else {
    return fail(ErrorCode::unsupported,
                fmt::format("pm_metrics of a chip with management processor {}.{}.{} is not known; "
                            "known are 13.0.6, 13.0.12 and 13.0.14",
                            head.chip >> 24, head.chip >> 16 & 0xFF, head.chip >> 8 & 0xFF),
                source);
  }
  if (!known) {
    return fail(ErrorCode::unsupported,
                fmt::format("pm_metrics table version {:#x} of firmware {:#x} is not known",
                            head.table, head.firmware),
                source);
  }
  // Version 0xE lacks the array at the end of V0, and V1 ends earlier still: what is read must be
  // there.
  std::size_t needed = 0;
  for (const PmEntry& entry : layout.entries) {
    needed = std::max(needed, entry.offset + entry.count * size_of(entry.type));
  }
  if (head.size < kPmHeadBytes + needed || data.size() < kPmHeadBytes + needed) {
    return fail(ErrorCode::parse_error,
                fmt::format("pm_metrics {} needs {} bytes, its head says {}, and {} are there",
                            layout.name, kPmHeadBytes + needed, head.size, data.size()),
                source);
  }
  return PmTable{head, layout, data.subspan(kPmHeadBytes)};
}

std::optional<std::int64_t> pm_value(const PmTable& table, const PmEntry& entry,
                                     std::size_t index) {
  return metric_value(table.data, MetricField{{}, {}, entry.type, 1, Metric::other, entry.offset},
                      index);
}

constexpr std::int64_t kFixedPoint = 1024;

PmMetrics pm_metrics_of(const PmTable& table) {
  PmMetrics metrics;
  metrics.layout = table.layout.name;
  metrics.firmware = table.head.firmware;
  metrics.table_version = table.head.table;
  for (const PmEntry& entry : table.layout.entries) {
    if (entry.field == PmField::other) continue;
    const auto value = pm_value(table, entry, 0);
    // The values of 32 bits fit after scaling to millionths; 64 bits are divided alone.
    const auto scaled = [&value](std::int64_t factor, auto& into) {
      using T = typename std::decay_t<decltype(into)>::value_type;
      if (!value) return;
      const std::int64_t product = *value * factor / kFixedPoint;
      if (product <= std::numeric_limits<T>::max() && product >= std::numeric_limits<T>::min()) {
        into = static_cast<T>(product);
      }
    };
    const auto ticks = [&value](std::optional<std::int64_t>& into) {
      if (value && *value > 0) into = value;  // a part that the package lacks stays at 0
    };
    switch (entry.field) {
      case PmField::other: break;
      case PmField::samples: metrics.samples = value; break;
      case PmField::socket_temperature: scaled(1000, metrics.socket_mc); break;
      case PmField::regulator_temperature: scaled(1000, metrics.regulator_mc); break;
      case PmField::memory_temperature: scaled(1000, metrics.memory_mc); break;
      case PmField::socket_power: scaled(1'000'000, metrics.socket_power_uw); break;
      case PmField::timestamp:
        if (value && *value < std::numeric_limits<std::int64_t>::max() / 10) {
          metrics.timestamp_ns = *value * 10;
        }
        break;
      case PmField::socket_energy: ticks(metrics.socket_ticks); break;
      case PmField::ccd_energy: ticks(metrics.ccd_ticks); break;
      case PmField::xcd_energy: ticks(metrics.xcd_ticks); break;
      case PmField::aid_energy: ticks(metrics.aid_ticks); break;
      case PmField::hbm_energy: ticks(metrics.hbm_ticks); break;
      case PmField::fabric_clock: scaled(1000, metrics.fabric_khz); break;
      case PmField::memory_clock: scaled(1000, metrics.memory_khz); break;
      case PmField::xgmi_read:
      case PmField::xgmi_write: {
        auto& links =
            entry.field == PmField::xgmi_read ? metrics.xgmi_read_kb : metrics.xgmi_write_kb;
        for (std::size_t i = 0; i < links.size(); ++i) {
          if (const auto kb = pm_value(table, entry, i)) links[i] = *kb / kFixedPoint;
        }
      }
    }
  }
  return metrics;
}

}  // namespace

Result<PmMetrics> parse_pm_metrics(std::span<const std::byte> data, const std::string& source,
                                   bool apu) {
  WW_ASSIGN(table, check_pm_table(data, source, apu));
  return pm_metrics_of(table);
}

Result<PmMetrics> parse_hsmp_table(std::span<const std::byte> data, const std::string& source) {
  if (data.size() != kHsmpBytes) {
    return fail(ErrorCode::unsupported,
                fmt::format("the table of HSMP has {} bytes; protocol 6, that of MI300A, has {}",
                            data.size(), kHsmpBytes),
                source);
  }
  return pm_metrics_of(PmTable{{}, {"HSMP", kHsmpTable}, data});
}

Result<std::vector<MetricValues>> pm_metrics_fields(std::span<const std::byte> data,
                                                    const std::string& source, bool apu) {
  WW_ASSIGN(table, check_pm_table(data, source, apu));
  std::vector<MetricValues> fields;
  for (const PmEntry& entry : table.layout.entries) {
    MetricValues values{std::string(entry.name), std::string(entry.unit), {}};
    for (std::size_t i = 0; i < entry.count; ++i) {
      values.values.push_back(pm_value(table, entry, i));
    }
    fields.push_back(std::move(values));
  }
  return fields;
}

}  // namespace ww::measure
