// The ways between the dies of a package, in words.
#pragma once

#include <string>

namespace ww::calibration {

// What a hop class is ("row_hop"), in words; a name that is none stays as it is.
[[nodiscard]] std::string way_name(const std::string& hop_class);

}  // namespace ww::calibration
