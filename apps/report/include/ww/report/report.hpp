// One self-contained HTML page about a run: the answer with its interval first, then the charts
// that carry it, the tables, what was rejected and why, and where it all came from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::report {

// What of a sweep to show. Empty: the usual for its command.
struct SweepOptions {
  std::vector<std::string> metrics;  // numbers of the results, as energy_pj.total
  std::string pareto;                // min:METRIC,max:METRIC
  std::string over, by;              // axes of the curves: along x, and told apart
  [[nodiscard]] bool empty() const {
    return metrics.empty() && pareto.empty() && over.empty() && by.empty();
  }
};

// `run` is a folder that `calibrate`, `reproduce` or `sweep` filled, a folder of JSON files that
// `simulate --json` printed, or one JSON file that `estimate`, `simulate` or `reproduce` printed.
// Replaces `html` atomically. The page needs no network and no other file. A virtual device is
// labelled so. Errors: not_found (nothing there that a page is made of), parse_error (damaged, or
// of different kinds), invalid_argument (an option for a run that is no sweep, or that names
// nothing of it), io_error, permission_denied.
[[nodiscard]] Status write_report(const std::filesystem::path& run,
                                  const std::filesystem::path& html,
                                  const SweepOptions& options = {});

// Two runs of one kind side by side: every figure that both have, its difference, and whether the
// intervals overlap. Errors: as above, invalid_argument (runs of different kinds), unsupported
// (series of simulations, curves).
[[nodiscard]] Status write_comparison(const std::filesystem::path& first,
                                      const std::filesystem::path& second,
                                      const std::filesystem::path& html,
                                      const SweepOptions& options = {});

}  // namespace ww::report
