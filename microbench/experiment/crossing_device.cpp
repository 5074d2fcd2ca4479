#include "device/device.hpp"
#include "ww/core/device_name.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/crossing.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {

Result<bool> calibrates_crossings(DeviceRequest& request) {
  WW_ASSIGN(name, resolve_device_name(request));
  request.name = name;
  if (DeviceName(name).is_virtual()) return false;
  WW_ASSIGN(host, open_host(name));
  return host->facts().target.starts_with("sm_");
}

Status run_crossing(const CrossingRequest& request, const ProgressFunction& progress) {
  WW_ASSIGN(device, open_compute_device(request.device));
  if (device.sensor == nullptr) {
    return fail(ErrorCode::unsupported, "its power cannot be read: " + device.no_sensor,
                device.name);
  }
  return run_crossing(*device.host, *device.sensor, device.name, request.folder, request.options,
                      progress);
}

}  // namespace ww::microbench
