// Parses amdgpu's binary telemetry table, /sys/class/drm/cardN/device/gpu_metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::measure {

// One reading of the table. Fields that the firmware marks as missing (all ones) are absent.
struct GpuMetrics {
  std::string_view layout;  // "v1.3"
  std::optional<std::int32_t> edge_mc;
  std::optional<std::int32_t> junction_mc;
  std::optional<std::int32_t> memory_mc;
  std::optional<std::int64_t> average_power_uw;  // of the socket
  std::optional<std::int64_t> current_power_uw;  // v1.4, v1.5
  std::optional<std::int64_t> energy_ticks;      // 2^-16 J
  std::optional<std::int32_t> voltage_uv;        // of the graphics core
  std::optional<std::int32_t> clock_khz;         // current; the highest of the dies
  std::optional<std::int32_t> memory_clock_khz;
  std::optional<std::uint64_t> throttle;    // bits common to all chips (v1.3, v2.2 and later)
  std::optional<std::int64_t> firmware_ns;  // when the firmware filled it, its own clock
};

// Layouts v1.0 to v1.5 and v2.0 to v2.4 (offsets from the structures in Linux'
// drivers/gpu/drm/amd/include/kgd_pp_interface.h; little endian, natural alignment). APUs (v2)
// count in mW and 0.01 C, cards (v1) in W and C. Errors: unsupported, which names another layout;
// parse_error if the size in the head is not the layout's, or the file is shorter.
[[nodiscard]] Result<GpuMetrics> parse_gpu_metrics(std::span<const std::byte> data,
                                                   const std::string& source);

// The kind of limit behind `throttle` bits: "power", "current", "temperature", "other", or several.
[[nodiscard]] std::string amd_throttle_text(std::uint64_t bits);

}  // namespace ww::measure
