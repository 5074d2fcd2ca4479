#include "estimate/calibrated_part.hpp"

#include "ww/runner/chip_architecture.hpp"

namespace ww::cli {

std::string calibrated_part(const model::WireModel& model) {
  if (!model.is_virtual) return model.target;
  microbench::DeviceRequest device;
  device.name = model.device;
  return model.device.empty() ? std::string() : runner::chip_generation(device);
}

}  // namespace ww::cli
