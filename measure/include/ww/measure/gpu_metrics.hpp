// Parses amdgpu's binary telemetry table, /sys/class/drm/cardN/device/gpu_metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::measure {

// One reading of the table, as far as measurements use it. Fields that the firmware marks as
// missing (all ones) are absent.
struct GpuMetrics {
  std::string_view layout;  // "v1.3"
  bool apu{};               // the power is the socket's, CPU cores included
  // The firmware of an APU counts its power in watts, although the structure says milliwatts.
  bool power_in_watts{};
  std::optional<std::int32_t> edge_mc;
  std::optional<std::int32_t> junction_mc;
  std::optional<std::int32_t> memory_mc;
  std::optional<std::int64_t> average_power_uw;  // of the socket
  std::optional<std::int64_t> current_power_uw;  // v1.4 and later
  // Counts of 2^-16 J on Instinct parts; on Radeon cards the unit is another or unknown
  // (amd_energy_doubt). Absent also where it is 0 or 2^32-1, which firmware without a counter
  // writes.
  std::optional<std::int64_t> energy_ticks;
  std::optional<std::int32_t> voltage_uv;  // of the graphics core
  std::optional<std::int32_t> clock_khz;   // the highest of the dies; averaged where only that is
  std::optional<std::int32_t> memory_clock_khz;
  std::optional<std::uint64_t> throttle;  // bits common to all chips (v1.3, v2.2 and later)
  // How many samples of the firmware each kind of limit held the clocks down in, since some start
  // (v1.6 and later, v3.0).
  std::optional<std::int64_t> power_limited;
  std::optional<std::int64_t> thermally_limited;
  std::optional<std::int64_t> otherwise_limited;
  std::optional<std::int64_t> driver_ns;    // when the driver asked the firmware, since boot
  std::optional<std::int64_t> firmware_ns;  // when the firmware filled it, its own clock
  // Data over each link to other packages since some start.
  static constexpr std::size_t most_links = 8;
  std::array<std::optional<std::int64_t>, most_links> xgmi_read_kb;
  std::array<std::optional<std::int64_t>, most_links> xgmi_write_kb;
};

// Layouts v1.0 to v1.8, v2.0 to v2.4 and v3.0 (the structures in Linux'
// drivers/gpu/drm/amd/include/kgd_pp_interface.h; little endian, natural alignment), and v1.9,
// which codes its fields as attributes. Cards (v1) count in W and C, APUs (v2, v3) in mW and
// 0.01 C. Some firmware of APUs (Renoir, Lucienne, Cezanne, Barcelo) counts power in W; the size of
// a number shows that. Temperatures, voltages and clocks of 0 are absent. Errors: unsupported,
// which names another layout; parse_error if the size in the head is not the layout's, the file is
// shorter, the attributes are damaged, or the table is all zeros.
[[nodiscard]] Result<GpuMetrics> parse_gpu_metrics(std::span<const std::byte> data,
                                                   const std::string& source);

// One field of the table as the file has it.
struct MetricValues {
  std::string name;  // as the driver calls it: "temperature_hotspot"
  std::string unit;  // "C", "0.01 C", "2^-16 J", ...; "" where it is not known
  // Values, as many as the field has elements; absent where the firmware does not fill them. Bit
  // fields above 2^63 are absent, too.
  std::vector<std::optional<std::int64_t>> values;
};
// Every field of the table. Errors: those of parse_gpu_metrics.
[[nodiscard]] Result<std::vector<MetricValues>> gpu_metrics_fields(std::span<const std::byte> data,
                                                                   const std::string& source);

// The kind of limit behind `throttle` bits: "power", "current", "temperature", "other", or several.
[[nodiscard]] std::string amd_throttle_text(std::uint64_t bits);

}  // namespace ww::measure
