// Any bytes as amdgpu's telemetry, as a PCI address and as a table of power.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/pci_address.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace {

// What parses keeps to its contract.
void check(const ww::Result<ww::measure::GpuMetrics>& metrics) {
  if (!metrics) {
    if (metrics.error().message.empty()) std::abort();
    return;
  }
  if (metrics->layout.empty()) std::abort();
  if (metrics->energy_ticks && *metrics->energy_ticks < 0) std::abort();
  if (metrics->average_power_uw && *metrics->average_power_uw < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::measure;
  const auto bytes = std::as_bytes(std::span(data, size));
  check(parse_gpu_metrics(bytes, "fuzz"));
  // With heads that are known, so that the fields are reached.
  struct Head {
    std::uint16_t bytes;
    std::uint8_t format, content;
  };
  for (const Head& head : {Head{80, 1, 0}, Head{120, 1, 3}, Head{288, 1, 4}, Head{360, 1, 5},
                           Head{152, 2, 3}, Head{168, 2, 4}}) {
    std::vector<std::byte> table(bytes.begin(), bytes.end());
    table.insert(
        table.begin(),
        {static_cast<std::byte>(head.bytes & 0xFF), static_cast<std::byte>(head.bytes >> 8),
         static_cast<std::byte>(head.format), static_cast<std::byte>(head.content)});
    const auto metrics = parse_gpu_metrics(table, "fuzz");
    if (metrics.has_value() != (table.size() >= head.bytes)) std::abort();
    check(metrics);
  }
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
