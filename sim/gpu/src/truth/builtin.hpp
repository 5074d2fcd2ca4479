// Chip and floorplan files that are part of the library; their text is embedded at build time.
#pragma once

#include <optional>
#include <string_view>

namespace ww::sim::gpu {

// TOML text, or nothing when there is no built-in of that name.
[[nodiscard]] std::optional<std::string_view> builtin_chip_toml(std::string_view name);
[[nodiscard]] std::optional<std::string_view> builtin_floorplan_toml(std::string_view name);

}  // namespace ww::sim::gpu
