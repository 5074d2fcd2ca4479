// The ways between the dies of a package, in words.
#pragma once

#include <string>

namespace ww::calibration {

// Returns the words for a hop class ("row_hop"); a name that is none stays as it is.
[[nodiscard]] std::string way_name(const std::string& hop_class);

}  // namespace ww::calibration
