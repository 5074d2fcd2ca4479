// The sealed keys of a chip file: one row each (docs/reference/chip-keys.md shows them).
#pragma once

#include <vector>

#include "truth.hpp"
#include "ww/sim/gpu/toml_key.hpp"

namespace ww::sim::gpu {

// Reads [wires], [fabric], [variation], [events], [leakage], [thermal], [regulator] and [sensor].
// The geometry is read before, since rows of pairs need its shape. The reader keeps the first
// error.
void read_truth(TomlReader& root, Truth& truth);
// Read the keys of two dies without I/O dies, and of a chip of several dies on I/O dies.
void read_xgmi(TomlReader& root, XgmiTruth& truth);
void read_io_dies(TomlReader& root, IoDieTruth& truth);
void read_memory_side(TomlReader& root, MemorySideTruth& truth);
// [rails], which a file of several dies need not have: no part is then metered apart.
void read_rails(TomlReader& root, RailsTruth& truth);

// [channel_map], which a file need not have.
void read_channel_map(TomlReader& root, ChannelMap& map);

// [geometry].
void read_geometry(TomlReader& root, Geometry& geometry);

[[nodiscard]] std::vector<TomlKeyText> truth_key_texts();

}  // namespace ww::sim::gpu
