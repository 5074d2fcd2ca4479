#include "sensor/sysfs/gpu_metrics_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ww::measure {
namespace {

// AMDGPU_METRICS_ATTR_ID_* by number. pcie_bandwidth_acc carries the unit of percent by mistake, so
// the meaning is taken from the number and never from the unit.
struct AttributeName {
  std::string_view name;
  Metric metric{Metric::other};
};
constexpr std::array kAttributeNames = {
    AttributeName{"temperature_hotspot", Metric::junction},
    AttributeName{"temperature_mem", Metric::memory},
    AttributeName{"temperature_vrsoc"},
    AttributeName{"curr_socket_power", Metric::current_power},
    AttributeName{"average_gfx_activity"},
    AttributeName{"average_umc_activity"},
    AttributeName{"mem_max_bandwidth"},
    AttributeName{"energy_accumulator", Metric::energy},
    AttributeName{"system_clock_counter", Metric::driver_time},
    AttributeName{"accumulation_counter", Metric::samples},
    AttributeName{"prochot_residency_acc", Metric::other_limit},
    AttributeName{"ppt_residency_acc", Metric::power_limit},
    AttributeName{"socket_thm_residency_acc", Metric::thermal_limit},
    AttributeName{"vr_thm_residency_acc", Metric::thermal_limit},
    AttributeName{"hbm_thm_residency_acc", Metric::thermal_limit},
    AttributeName{"gfxclk_lock_status"},
    AttributeName{"pcie_link_width"},
    AttributeName{"pcie_link_speed"},
    AttributeName{"xgmi_link_width"},
    AttributeName{"xgmi_link_speed"},
    AttributeName{"gfx_activity_acc"},
    AttributeName{"mem_activity_acc"},
    AttributeName{"pcie_bandwidth_acc"},
    AttributeName{"pcie_bandwidth_inst"},
    AttributeName{"pcie_l0_to_recov_count_acc"},
    AttributeName{"pcie_replay_count_acc"},
    AttributeName{"pcie_replay_rover_count_acc"},
    AttributeName{"pcie_nak_sent_count_acc"},
    AttributeName{"pcie_nak_rcvd_count_acc"},
    AttributeName{"xgmi_read_data_acc", Metric::xgmi_read},
    AttributeName{"xgmi_write_data_acc", Metric::xgmi_write},
    AttributeName{"xgmi_link_status"},
    AttributeName{"firmware_timestamp", Metric::firmware_time},
    AttributeName{"current_gfxclk", Metric::clock},
    AttributeName{"current_socclk"},
    AttributeName{"current_vclk0"},
    AttributeName{"current_dclk0"},
    AttributeName{"current_uclk", Metric::memory_clock},
    AttributeName{"num_partition"},
    AttributeName{"pcie_lc_perf_other_end_recovery"},
    AttributeName{"gfx_busy_inst"},
    AttributeName{"jpeg_busy"},
    AttributeName{"vcn_busy"},
    AttributeName{"gfx_busy_acc"},
    AttributeName{"gfx_below_host_limit_ppt_acc"},
    AttributeName{"gfx_below_host_limit_thm_acc"},
    AttributeName{"gfx_low_utilization_acc"},
    AttributeName{"gfx_below_host_limit_total_acc"},
};
constexpr std::size_t kPcieBandwidthId = 22;
constexpr std::size_t kEnergyId = 7;

constexpr std::array<std::string_view, 11> attribute_units = {
    "", "MHz", "C", "W", "ns", "10 ns", "GT/s", "0.1 GT/s", "GB/s", "kB", "%"};

std::uint64_t little_endian(std::span<const std::byte> data, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(data[at + i]) << (8 * i);
  }
  return value;
}

}  // namespace

Status list_attributes(std::span<const std::byte> table, const std::string& source,
                       std::vector<MetricField>& fields) {
  constexpr std::size_t head = 8, code_bytes = 8;  // the head ends with the count of attributes
  constexpr unsigned known_types = 8;
  fields.clear();
  const auto broken = [&source](std::string what) {
    return fail(ErrorCode::parse_error, "gpu_metrics v1.9: " + std::move(what), source);
  };
  if (table.size() < head) return broken("no count of attributes");
  const auto count = static_cast<std::int32_t>(little_endian(table, 4, 4));
  if (count < 0) return broken(fmt::format("{} attributes", count));
  std::size_t at = head;
  for (std::int32_t i = 0; i < count; ++i) {
    if (table.size() - at < code_bytes) {
      return broken(fmt::format("attribute {} of {} lies beyond the end", i, count));
    }
    const std::uint64_t code = little_endian(table, at, code_bytes);
    at += code_bytes;
    // Bits 9:0 count, 19:10 meaning, 23:20 type, 31:24 unit; the upper half is 0.
    const std::size_t elements = code & 0x3FF, id = code >> 10 & 0x3FF, unit = code >> 24 & 0xFF;
    const auto type = static_cast<unsigned>(code >> 20 & 0xF);
    if (code >> 32 != 0 || type >= known_types) {
      return broken(
          fmt::format("attribute {} has the code {:#x}, whose type is not known", i, code));
    }
    MetricField field;
    field.type = static_cast<MetricType>(type);
    field.count = elements;
    field.offset = at;
    if (id < kAttributeNames.size()) {
      field.name = kAttributeNames[id].name;
      field.metric = kAttributeNames[id].metric;
    }
    field.unit = id == kEnergyId                 ? "2^-16 J"
                 : id == kPcieBandwidthId        ? "GB/s"
                 : unit < attribute_units.size() ? attribute_units[unit]
                                                 : "";
    const std::size_t bytes = elements * size_of(field.type);
    if (table.size() - at < bytes) {
      return broken(fmt::format("attribute {} of {} has {} bytes, and {} are left", i, count, bytes,
                                table.size() - at));
    }
    at += bytes;
    fields.push_back(field);
  }
  if (at != table.size()) {
    return broken(fmt::format("{} bytes stand behind the last attribute", table.size() - at));
  }
  return {};
}

}  // namespace ww::measure
