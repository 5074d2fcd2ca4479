// Files of wirewatt that cost hours to make, and that no output may therefore replace. They are
// known by their content, so a copy or a link under another name is known as well.
#pragma once

#include <cstdint>
#include <filesystem>

#include "ww/core/result.hpp"

namespace ww {

// Application ids in the headers of SQLite files.
inline constexpr std::uint32_t kCampaignApplicationId = 0x57575454;  // "WWTT"
inline constexpr std::uint32_t kSweepApplicationId = 0x57575357;     // "WWSW"

enum class OwnedFile {
  none,         // not a file of these kinds, or no file at all
  campaign,     // raw readings: campaign.db, segments.db, classes.db
  sweep,        // results of a sweep: sweep.db
  calibration,  // constants: model.json, crossing.json
};

// The kind of the file at `path`, through links.
[[nodiscard]] OwnedFile owned_file(const std::filesystem::path& path);

// Error invalid_argument where the file may not be replaced; it says what the file contains.
Status refuse_owned(const std::filesystem::path& path, OwnedFile kind);

// Refuses owned databases alone. Every function of core that replaces a file calls this, and
// calibrations, which `fit` replaces, are left to the command line.
Status refuse_owned_database(const std::filesystem::path& path);

}  // namespace ww
