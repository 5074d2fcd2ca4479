#include "ww/microbench/compute_device.hpp"

#include "device.hpp"

namespace ww::microbench {

Result<ComputeDevice> open_compute_device(const DeviceRequest& request) {
  WW_ASSIGN(name, resolve_device_name(request));
  WW_ASSIGN(device, open_device(request, name));
  ComputeDevice opened;
  opened.name = device.name;
  opened.is_virtual = device.is_virtual;
  opened.target = device.chip.target;
  opened.host = std::move(device.host);
  opened.counters = std::move(device.counters);
  return opened;
}

}  // namespace ww::microbench
