// One self-contained HTML page about a run: the answer with its interval first, then the charts
// that carry it, the tables, what was rejected and why, and where it all came from.
#pragma once

#include <filesystem>

#include "ww/core/result.hpp"

namespace ww::report {

// `run` is a folder that `calibrate` or `reproduce` filled, a folder of JSON files that `simulate
// --json` printed, or one JSON file that `estimate`, `simulate` or `reproduce` printed. Replaces
// `html` atomically. The page needs no network and no other file. A virtual device is labelled so.
// Errors: not_found (nothing there that a page is made of), parse_error (damaged, or of different
// kinds), io_error, permission_denied.
[[nodiscard]] Status write_report(const std::filesystem::path& run,
                                  const std::filesystem::path& html);

// Two runs of one kind side by side: every figure that both have, its difference, and whether the
// intervals overlap. Errors: as above, invalid_argument (runs of different kinds), unsupported
// (series of simulations, curves).
[[nodiscard]] Status write_comparison(const std::filesystem::path& first,
                                      const std::filesystem::path& second,
                                      const std::filesystem::path& html);

}  // namespace ww::report
