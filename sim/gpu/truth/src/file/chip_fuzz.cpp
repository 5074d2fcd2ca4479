// Chip files and published floorplans: whatever the bytes, an error or a chip, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "file/chip_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto spec = ww::sim::gpu::parse_chip(text, "chip.toml");
  if (spec) {
    (void)ww::sim::gpu::ChipBuilder::build({}, spec->architecture, spec->truth,
                                           "not a floorplan = 1");
  }
  (void)ww::sim::gpu::parse_published_floorplan(text, "floorplan.toml");
  return 0;
}
