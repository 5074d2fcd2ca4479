#include "file/chip_file.hpp"

#include "file/truth_keys.hpp"
#include "ww/sim/gpu/architecture_keys.hpp"

namespace ww::sim::gpu {

Result<ChipSpec> parse_chip(std::string_view toml_text, const std::string& origin) {
  WW_ASSIGN(document, parse_toml(toml_text, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  ChipSpec spec;
  const auto chip_class = chip_class_from_string(root.text("chip_class"));
  if (chip_class) {
    spec.truth.chip_class = *chip_class;
  } else {
    root.fail_at("chip_class", ErrorCode::out_of_range, chip_class.error().message);
  }
  spec.floorplan = root.text_or("floorplan", "");
  read_architecture(root, spec.architecture);
  spec.title = root.text_or("title", spec.architecture.name);
  read_channel_map(root, spec.architecture.channel_map);
  read_geometry(root, spec.truth.geometry);
  read_truth(root, spec.truth);
  if (spec.architecture.xgmi_links != 0) {
    read_xgmi(root, spec.truth.xgmi);
  } else if (spec.architecture.dies > 1) {
    read_io_dies(root, spec.truth.io_dies);
    read_rails(root, spec.truth.rails);
  }
  if (spec.architecture.dies == 1 && spec.architecture.infinity_cache_bytes != 0) {
    read_memory_side(root, spec.truth.memory_side);
  }
  root.finish();
  if (errors.first()) {
    return tl::unexpected<Error>(*errors.first());
  }
  return spec;
}

}  // namespace ww::sim::gpu
