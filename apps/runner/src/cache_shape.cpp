#include "ww/runner/cache_shape.hpp"

#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::runner {

sim::trace::CacheShape cache_shape(const std::string& producer) {
  sim::trace::CacheShape shape;
  if (!DeviceName(producer).is_virtual()) return shape;
  microbench::DeviceRequest device;
  device.name = producer;
  const auto chip = chip_architecture(device);
  if (!chip) return shape;
  shape.l1_bytes = chip->l1_bytes;
  shape.l1_ways = chip->l1_ways;
  shape.l2_bytes = chip->l2_bytes;
  shape.l2_ways = chip->l2_ways;
  shape.engines = chip->shader_engines;
  shape.cus_per_engine = chip->cus_per_engine;
  shape.channels = chip->l2_channels;
  shape.interleave_bytes = chip->channel_interleave_bytes;
  shape.l1_line_bytes = chip->l1_line_bytes;
  shape.l2_line_bytes = chip->l2_fetch_bytes;
  return shape;
}

}  // namespace ww::runner
