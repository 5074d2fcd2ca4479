#include "estimate/calibrated_part.hpp"

#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::cli {

std::string calibrated_part(const std::string& device, const std::string& target) {
  if (!DeviceName(device).is_virtual()) return target;
  microbench::DeviceRequest request;
  request.name = device;
  return runner::chip_generation(request);
}

calibration::Provenance assumed_of(calibration::Provenance provenance) {
  if (provenance.assumed_architecture.empty() && provenance.is_virtual) {
    provenance.assumed_architecture = calibrated_part(provenance.device, provenance.target);
  }
  return provenance;
}

}  // namespace ww::cli
