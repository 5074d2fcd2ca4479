// The structure in which amdsmi_get_power_info() gives its answer. Its fields moved between
// releases of AMD SMI while the name of the function stayed, so it is read by the library's
// version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::measure {

// The two numbers with which every release's amdsmi_version_t begins: 24 and 6 for ROCm 6.2, which
// calls them year and major version; 26 and 0 for ROCm 7.0, major and minor version.
struct AmdSmiVersion {
  std::uint32_t first{};
  std::uint32_t second{};
};

// Where a layout has its fields [bytes from the start]. Powers are in watts, the voltage in mV.
struct AmdSmiPowerLayout {
  std::string_view releases;              // of ROCm: "6.0 to 6.3"
  std::optional<std::size_t> socket_at;   // 64 bits
  std::optional<std::size_t> current_at;  // 32 bits
  std::size_t average_at;                 // 32 bits
  std::size_t voltage_at;                 // of the graphics rail
  std::size_t voltage_bytes;              // 4 or 8
};
// Larger than the structure of any release.
inline constexpr std::size_t kAmdSmiAnswerBytes = 1024;

// Error unsupported: a release whose layout is not known.
[[nodiscard]] Result<AmdSmiPowerLayout> amd_smi_power_layout(AmdSmiVersion version);

struct AmdSmiPower {
  std::optional<std::int64_t> current_uw;  // MI300 and later
  std::optional<std::int64_t> average_uw;  // earlier cards and Radeon
  std::optional<std::int32_t> voltage_uv;
};
// A field of all ones is absent, and so is a voltage of 0. `answer` has kAmdSmiAnswerBytes bytes.
[[nodiscard]] AmdSmiPower read_amd_smi_power(const AmdSmiPowerLayout& layout,
                                             std::span<const std::byte> answer);

}  // namespace ww::measure
