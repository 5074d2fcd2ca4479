// Declares what AMD's two management libraries share as sources of power: the names of their
// readings, the fields that they offer, and the limits, which both leave to the driver's table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sensor/sysfs/sysfs_file.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

// A PCI address as both libraries number it: domain, bus, device and function in one word.
inline PciAddress pci_of_smi(std::uint64_t id) {
  return {static_cast<std::uint32_t>(id >> 32), static_cast<std::uint32_t>(id >> 8 & 0xff),
          static_cast<std::uint32_t>(id >> 3 & 0x1f), static_cast<std::uint32_t>(id & 7)};
}

class SmiSource : public PowerSource {
 public:
  [[nodiscard]] bool useful() const { return current_ || average_ || energy_; }
  const SensorFacts& facts() const override { return facts_; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  std::string power_name() const override {
    return current_ ? library_ + " current power" : average_ ? library_ + " average power" : "";
  }
  std::string second_power_name() const override {
    return current_ && average_ ? library_ + " average power" : "";
  }
  std::string throttle_text(std::uint64_t bits) const override { return amd_throttle_text(bits); }

 protected:
  // `library`: "AMD SMI"; `power_resolution_w`: the step of its powers.
  SmiSource(std::string library, double power_resolution_w, const AmdGpu& gpu)
      : library_(std::move(library)), metrics_(gpu.folder + "/gpu_metrics") {
    facts_.power_resolution_w = power_resolution_w;
    facts_.temperature_resolution_c = 1.0;
    fields_ = package_fields(gpu);
  }

  // The last of the fields: whether the driver's table names what holds the clocks down.
  void note_throttle() {
    const auto table = parse_gpu_metrics(metrics_.read_bytes(), metrics_.path());
    throttle_ = table && table->throttle;
    fields_.push_back({"throttle", throttle_ ? FieldStatus::ok : FieldStatus::missing,
                       throttle_ ? metrics_.path() : "gpu_metrics has no such field"});
  }
  void read_throttle(RawReading& reading) {
    if (!throttle_) return;
    const auto table = parse_gpu_metrics(metrics_.read_bytes(), metrics_.path());
    if (table) reading.throttle = table->throttle;
  }

  std::string library_;
  SensorFacts facts_;
  std::vector<FieldState> fields_;
  bool current_{}, average_{}, energy_{};

 private:
  SysfsFile metrics_;
  bool throttle_{};
};

}  // namespace ww::measure
