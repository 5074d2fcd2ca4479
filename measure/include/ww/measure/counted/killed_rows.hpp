// Tables of launches whose writer was killed.
#pragma once

#include <string_view>

namespace ww::measure {

// Keeps the rows of those launches that have as many rows as the first. The first column names the
// launch.
[[nodiscard]] std::string_view whole_launches(std::string_view rows);

}  // namespace ww::measure
