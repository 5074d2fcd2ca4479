// Compares the result of `wirewatt segments` with the sealed truth.
#pragma once

#include <filesystem>

#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"
#include "ww/core/table.hpp"

namespace ww::cli {

// One row a segment: status and reason, fit with its interval, the truth, what could at best be
// sensed, and whether the interval holds that. Errors: those of the recording and its fit.
[[nodiscard]] Result<Table> score_segments(const std::filesystem::path& recording,
                                           const calibration::Revealed& truth);

}  // namespace ww::cli
