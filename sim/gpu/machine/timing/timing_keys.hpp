// The keys of a system in timing mode, beside its network's: one row each.
#pragma once

#include <string_view>
#include <vector>

#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/net/key.hpp"

namespace ww::sim::gpu {

// A table of a file of settings. `keys` refer to the configuration that they were made for.
struct SettingsTable {
  std::string_view name;  // "system", "dram", ...
  net::BoundKeys keys;
};
[[nodiscard]] std::vector<SettingsTable> settings_of(TimingConfig& config);

}  // namespace ww::sim::gpu
