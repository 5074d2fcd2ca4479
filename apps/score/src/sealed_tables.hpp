// Reads the tables of sealed energies that the virtual GPU's driver writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::score {

// Joules of a launch by the rails that give them, the core's at the reference voltage.
struct SealedJoules {
  double core{}, others{};
};

// Those of each launch in one process's table. Error parse_error: not such a table.
[[nodiscard]] Result<std::vector<SealedJoules>> sealed_joules(std::string_view table,
                                                              const std::string& source);

}  // namespace ww::score
