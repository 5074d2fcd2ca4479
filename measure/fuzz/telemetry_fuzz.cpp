// Any bytes as amdgpu's telemetry, as a PCI address and as a table of power.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "sensor/sysfs/pm_metrics.hpp"
#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/pci_address.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace {

// Checks that a result that parses keeps to its contract.
void check(const ww::Result<ww::measure::GpuMetrics>& metrics) {
  if (!metrics) {
    if (metrics.error().message.empty()) std::abort();
    return;
  }
  if (metrics->layout.empty()) std::abort();
  if (metrics->energy_ticks && *metrics->energy_ticks < 0) std::abort();
  if (metrics->average_power_uw && *metrics->average_power_uw < 0) std::abort();
}

// A packed table of the coded form whose attributes are the input.
void check_coded(std::span<const std::byte> bytes) {
  constexpr std::size_t head = 8;
  const std::size_t size = std::min<std::size_t>(head + bytes.size(), 0xFFFF);
  std::vector<std::byte> table = {static_cast<std::byte>(size & 0xFF),
                                  static_cast<std::byte>(size >> 8), std::byte{1}, std::byte{9}};
  table.resize(head);
  // Keeps as many attributes as the first byte says, which is one of them, too.
  if (!bytes.empty()) table[4] = bytes.front() & std::byte{0x1F};
  table.insert(table.end(), bytes.begin(),
               bytes.begin() + static_cast<std::ptrdiff_t>(size - head));
  const auto metrics = ww::measure::parse_gpu_metrics(table, "fuzz");
  check(metrics);
  if (metrics.has_value() != ww::measure::gpu_metrics_fields(table, "fuzz").has_value()) {
    std::abort();
  }
}

// Any bytes behind the heads by which the tables of packages are distinguished.
void check_package(std::span<const std::byte> bytes) {
  struct Head {
    std::uint32_t chip, firmware, table;
    bool apu;
  };
  for (const Head& head :
       {Head{0x0D000600, 0x00557000, 0xF, false}, Head{0x0D000600, 0x04556900, 3, true},
        Head{0x0D000C00, 0x00561D00, 5, false}, Head{0x0D000C00, 0x00561E00, 0x12, false}}) {
    std::vector<std::byte> table(16);
    table[0] = table[1] = std::byte{0x20};
    std::memcpy(&table[4], &head.chip, 4);
    std::memcpy(&table[8], &head.firmware, 4);
    std::memcpy(&table[12], &head.table, 4);
    table.insert(table.end(), bytes.begin(), bytes.end());
    const auto metrics = ww::measure::parse_pm_metrics(table, "fuzz", head.apu);
    if (metrics && metrics->aid_ticks && *metrics->aid_ticks <= 0) std::abort();
  }
  static_cast<void>(ww::measure::parse_pm_metrics(bytes, "fuzz", false));
  std::vector<std::byte> hsmp(bytes.begin(), bytes.end());
  hsmp.resize(1404);
  if (!ww::measure::parse_hsmp_table(hsmp, "fuzz")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::measure;
  const auto bytes = std::as_bytes(std::span(data, size));
  check(parse_gpu_metrics(bytes, "fuzz"));
  // Writes heads that are known, so that the fields are reached.
  struct Head {
    std::uint16_t bytes;
    std::uint8_t format, content;
  };
  for (const Head& head :
       {Head{80, 1, 0}, Head{120, 1, 3}, Head{288, 1, 4}, Head{360, 1, 5}, Head{1664, 1, 6},
        Head{2208, 1, 7}, Head{3872, 1, 8}, Head{152, 2, 3}, Head{168, 2, 4}, Head{264, 3, 0}}) {
    std::vector<std::byte> table(bytes.begin(), bytes.end());
    table.insert(
        table.begin(),
        {static_cast<std::byte>(head.bytes & 0xFF), static_cast<std::byte>(head.bytes >> 8),
         static_cast<std::byte>(head.format), static_cast<std::byte>(head.content)});
    const auto metrics = parse_gpu_metrics(table, "fuzz");
    if (metrics.has_value() != (table.size() >= head.bytes)) std::abort();
    check(metrics);
  }
  check_coded(bytes);
  check_package(bytes);
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto address = parse_pci_address(text)) {
    if (parse_pci_address(to_string(*address)) != address) std::abort();
  }
  for (const char* header : {"", "time_s,power_w,meter_w,load\n", "time_ms,power_w\n"}) {
    const auto recording = parse_power_table(header + text, "fuzz");
    if (!recording) {
      if (recording.error().message.empty()) std::abort();
      continue;
    }
    for (const double power : recording->meter.power_w) {
      if (!std::isfinite(power)) std::abort();
    }
  }
  return 0;
}
