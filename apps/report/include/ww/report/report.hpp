// One self-contained HTML page about a calibration: the answer with its interval first, then the
// plots that carry it, the constants, what was rejected and why, and where it all came from.
#pragma once

#include <filesystem>

#include "ww/core/result.hpp"

namespace ww::report {

// Reads run_folder/campaign.db and model.json (and score.json where there is one) and replaces
// `html` atomically. The page needs no network and no other file. A virtual device is labelled so.
// Errors: not_found (no campaign or model in the folder), parse_error (damaged ones), io_error,
// permission_denied.
[[nodiscard]] Status write_report(const std::filesystem::path& run_folder,
                                  const std::filesystem::path& html);

}  // namespace ww::report
