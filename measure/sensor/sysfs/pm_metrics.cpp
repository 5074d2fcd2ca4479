#include "sensor/sysfs/pm_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "sensor/sysfs/metric_table.hpp"

namespace ww::measure {
namespace {

constexpr std::size_t kPmHeadBytes = 16;

enum class PmField : std::uint8_t {
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

// The layouts of the table. MI300A with old firmware has a shorter V0, called V1. V2 is MI350 with
// older firmware, and V12 is MI350's own table, version 0x12.
enum class PmPlaces : std::uint8_t { v0, v2, v12 };

// A field that is read. Its places are from the end of the head, in V0, V2 and V12; kNotThere where
// a layout has it in another type, or not at all. The table is packed to 4 bytes. Watts, degrees,
// MHz and kB have the firmware's fixed point, 10 bits behind it; energies are in 2^-16 J and the
// timestamp is in 10 ns.
struct PmEntry {
  PmField field;
  MetricType type;
  std::array<std::size_t, 3> places;
};
constexpr std::size_t kNotThere = std::numeric_limits<std::size_t>::max();

constexpr std::array kPmEntries = {
    PmEntry{PmField::samples, MetricType::u32, {0, kNotThere, kNotThere}},
    PmEntry{PmField::samples, MetricType::u64, {kNotThere, 0, 0}},
    PmEntry{PmField::socket_temperature, MetricType::s32, {4, 8, 8}},
    PmEntry{PmField::regulator_temperature, MetricType::s32, {8, 12, 12}},
    PmEntry{PmField::memory_temperature, MetricType::s32, {12, 16, 16}},
    PmEntry{PmField::socket_power, MetricType::u32, {48, 52, 48}},
    PmEntry{PmField::timestamp, MetricType::u64, {52, 56, 52}},
    PmEntry{PmField::socket_energy, MetricType::u64, {60, 64, 60}},
    PmEntry{PmField::ccd_energy, MetricType::u64, {68, 72, kNotThere}},
    PmEntry{PmField::xcd_energy, MetricType::u64, {76, 80, 68}},
    PmEntry{PmField::aid_energy, MetricType::u64, {84, 88, 76}},
    PmEntry{PmField::hbm_energy, MetricType::u64, {92, 96, 84}},
    PmEntry{PmField::fabric_clock, MetricType::u32, {108, 108, 96}},
    PmEntry{PmField::memory_clock, MetricType::u32, {112, 112, 100}},
    PmEntry{PmField::xgmi_read, MetricType::u64, {1596, 720, 500}},
    PmEntry{PmField::xgmi_write, MetricType::u64, {1660, 784, 564}},
};

// HSMP's table is the part of V0 that ends after the clocks of the dies.
constexpr std::size_t kHsmpBytes = 1404;

struct PmLayout {
  std::string_view name;
  PmPlaces places;
};

// Where the layout has the field; absent where it does not have it.
std::optional<std::size_t> pm_place(const PmEntry& entry, PmPlaces places) {
  const std::size_t at = entry.places[static_cast<std::size_t>(places)];
  return at == kNotThere ? std::nullopt : std::optional(at);
}
std::size_t pm_bytes(const PmEntry& entry) {
  const bool is_list = entry.field == PmField::xgmi_read || entry.field == PmField::xgmi_write;
  return size_of(entry.type) * (is_list ? GpuMetrics::most_links : 1);
}

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
  PmLayout layout{"V0", PmPlaces::v0};
  bool known = true;
  if (head.chip == mi350 && head.firmware >= first_v12_firmware) {
    layout = {"0x12", PmPlaces::v12};
    known = head.table == 0x12;
  } else if (head.chip == mi350) {
    layout = {"V2", PmPlaces::v2};
  } else if (head.chip == mi300 && apu && head.firmware <= last_v1_firmware) {
    layout = {"V1", PmPlaces::v0};
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
  for (const PmEntry& entry : kPmEntries) {
    if (const auto at = pm_place(entry, layout.places)) {
      needed = std::max(needed, *at + pm_bytes(entry));
    }
  }
  if (head.size < kPmHeadBytes + needed || data.size() < kPmHeadBytes + needed) {
    return fail(ErrorCode::parse_error,
                fmt::format("pm_metrics {} needs {} bytes, its head says {}, and {} are there",
                            layout.name, kPmHeadBytes + needed, head.size, data.size()),
                source);
  }
  return PmTable{head, layout, data.subspan(kPmHeadBytes)};
}

constexpr std::int64_t kFixedPoint = 1024;

PmMetrics pm_metrics_of(const PmTable& table) {
  PmMetrics metrics;
  metrics.layout = table.layout.name;
  metrics.firmware = table.head.firmware;
  metrics.table_version = table.head.table;
  for (const PmEntry& entry : kPmEntries) {
    const auto place = pm_place(entry, table.layout.places);
    if (!place || *place + pm_bytes(entry) > table.data.size()) continue;
    const MetricField where{{}, {}, entry.type, 1, Metric::other, *place};
    const auto value = metric_value(table.data, where, 0);
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
          if (const auto kb = metric_value(table.data, where, i)) links[i] = *kb / kFixedPoint;
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
  return pm_metrics_of(PmTable{{}, {"HSMP", PmPlaces::v0}, data});
}

}  // namespace ww::measure
