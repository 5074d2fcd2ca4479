#include "ww/microbench/compute_device.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "device.hpp"
#include "opencl_host.hpp"

namespace ww::microbench {
namespace {

// "opencl:<platform>.<device>": no sensor and no counters are needed to run a kernel.
Result<ComputeDevice> open_plain_opencl(const std::string& name) {
  int platform = 0;
  int device = 0;
  int end = 0;
  if (std::sscanf(name.c_str(), "opencl:%d.%d%n", &platform, &device, &end) != 2 ||
      static_cast<std::size_t>(end) != name.size()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not opencl:<platform>.<device>; 'wirewatt devices' lists them", name));
  }
  WW_ASSIGN(api, load_opencl());
  ComputeDevice opened;
  opened.name = name;
  WW_ASSIGN(host, open_opencl_host(*api, platform, device));
  opened.host = std::move(host);
  return opened;
}

}  // namespace

Result<ComputeDevice> open_compute_device(const DeviceRequest& request) {
  if (request.name.starts_with("opencl:")) return open_plain_opencl(request.name);
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
