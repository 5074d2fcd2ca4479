// Records a campaign of a drawn chip by a drawn sensor, run after run as the product plans it, and
// seals what is true of it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "draws.hpp"
#include "ww/core/result.hpp"

namespace ww::challenge {

struct Recording {
  nlohmann::json truth;      // format: README.md
  nlohmann::json baselines;  // answers of simpler methods, from the same readings
};

// Writes `file` (a campaign). Errors: those of the store; parse_error if the ranges lack a
// quantity; bad_data where no step test could be analysed, which is how such a campaign ends on a
// device.
[[nodiscard]] Result<Recording> record(Draws& draws, std::uint64_t seed,
                                       const std::filesystem::path& file);

}  // namespace ww::challenge
