#include "device/nvidia_device.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "device/launch_log.hpp"

namespace ww::microbench {

Result<Device> open_nvidia_device(ComputeDevice opened, const std::string& name) {
  if (opened.sensor == nullptr) {
    return tl::unexpected(no_power(opened));
  }
  const HostFacts facts = opened.host->facts();
  Device device;
  device.name = name;
  device.is_virtual = facts.is_virtual;
  device.chip.name = facts.device;
  device.chip.target = facts.target;
  device.chip.engines = facts.compute_units;
  device.chip.cus_per_engine = facts.compute_units > 0 ? 1 : 0;
  device.chip.l2_bytes = facts.l2_bytes;
  device.traffic = Traffic::every_launch;
  device.notes = nlohmann::json{{"driver", facts.driver},
                                {"sensor", opened.sensor->facts().name},
                                {"traffic", {{"source", to_string(device.traffic)}}}}
                     .dump();
  attach_logged(device, std::move(opened.sensor), std::move(opened.host));
  return device;
}

}  // namespace ww::microbench
