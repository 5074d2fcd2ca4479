// The public keys of a chip file: one row each.
#pragma once

#include <string>
#include <vector>

#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/toml_key.hpp"

namespace ww::sim::gpu {

// Reads `name`, `gfx_target`, [architecture], [[dvfs]] and `reference_state` of a document. The
// reader keeps the first error.
void read_architecture(TomlReader& root, Architecture& architecture);

// These keys, for docs/reference/chip-keys.md.
[[nodiscard]] std::vector<TomlKeyText> architecture_key_texts();

}  // namespace ww::sim::gpu
