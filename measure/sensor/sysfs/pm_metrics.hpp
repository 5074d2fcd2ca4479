// Parses the firmware's own telemetry of MI300-class packages, device/pm_metrics: the energies of
// the package's parts, which no other file gives.
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
#include "ww/measure/gpu_metrics.hpp"

namespace ww::measure {

// One reading, as far as measurements use it. Energies count 2^-16 J since some start.
//
// There are five rails: `socket` is the whole package, `xcd` and `ccd` are the dies of the GPU and
// of the CPU, `hbm` the memory stacks, and `aid` the rails of the dies beneath: the fabric, the
// Infinity Cache, the memory controllers and the I/O. The energy of `aid` for each bit that crosses
// is therefore an upper bound of the network's.
struct PmMetrics {
  std::string_view layout;                   // "V0"
  std::uint32_t firmware{};                  // its version
  std::uint32_t table_version{};             // as the firmware reports it
  std::optional<std::int64_t> samples;       // of the firmware, since some start
  std::optional<std::int64_t> timestamp_ns;  // the firmware's clock
  std::optional<std::int64_t> socket_power_uw;
  std::optional<std::int32_t> socket_mc, regulator_mc, memory_mc;  // the hottest of each
  std::optional<std::int64_t> socket_ticks, ccd_ticks, xcd_ticks, aid_ticks, hbm_ticks;
  std::optional<std::int32_t> fabric_khz, memory_khz;
  std::array<std::optional<std::int64_t>, GpuMetrics::most_links> xgmi_read_kb;
  std::array<std::optional<std::int64_t>, GpuMetrics::most_links> xgmi_write_kb;
};

// `apu` is true for MI300A: old firmware has another table there. The layout is chosen by the
// versions in the head, as the driver chooses it, because the size in the head is that of the
// largest layout that the driver has. Sources: Linux' smu_v13_0_6_pmfw.h and smu_v13_0_12_pmfw.h;
// the units are those of AMD's E-SMI tool for the same table. Errors: parse_error (too short),
// unsupported (a chip or a table version that is not known; the message has the number).
[[nodiscard]] Result<PmMetrics> parse_pm_metrics(std::span<const std::byte> data,
                                                 const std::string& source, bool apu);

// The table that the CPU side of an MI300A gives (HSMP, protocol 6, 1404 bytes): the beginning of
// V0 without a head. `firmware` and `table_version` are 0. Source: Linux' asm/amd/hsmp.h. Errors:
// unsupported (another size, which is another protocol's).
[[nodiscard]] Result<PmMetrics> parse_hsmp_table(std::span<const std::byte> data,
                                                 const std::string& source);

}  // namespace ww::measure
