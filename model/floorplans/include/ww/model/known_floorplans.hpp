// The floorplans of model/floorplans, which are part of the program.
#pragma once

#include <optional>
#include <string_view>

namespace ww::model {

// Text of model/floorplans/NAME.toml; nothing where the list has no such name.
[[nodiscard]] std::optional<std::string_view> known_floorplan(std::string_view name);
// All names, in one line: "w9100, vega10, mi210".
[[nodiscard]] std::string_view known_floorplan_names();

}  // namespace ww::model
