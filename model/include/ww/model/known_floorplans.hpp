// The floorplans of floorplans/, embedded when the program is built.
#pragma once

#include <optional>
#include <string_view>

namespace ww::model {

// Text of floorplans/NAME.toml; nothing where there is no such file.
[[nodiscard]] std::optional<std::string_view> known_floorplan(std::string_view name);

}  // namespace ww::model
