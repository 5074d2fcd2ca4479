// The chip files of sim/gpu/chips, whose text is embedded when the library is built.
#pragma once

#include <optional>
#include <string_view>

namespace ww::sim::gpu {

// TOML text, or nothing where the list has no chip of that name.
[[nodiscard]] std::optional<std::string_view> builtin_chip_toml(std::string_view name);
// All names, in one line: "w9100, vega10, ...".
[[nodiscard]] std::string_view builtin_chip_names();

}  // namespace ww::sim::gpu
