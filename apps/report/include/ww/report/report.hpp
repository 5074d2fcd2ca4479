// One self-contained HTML page about a run. The answer with its interval comes first. Charts,
// tables, rejected runs with their reasons, and provenance follow.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::report {

// Results of a sweep to show. If empty, the usual ones for its command.
struct SweepOptions {
  std::vector<std::string> metrics;  // numbers of the results, such as energy_pj.total
  std::string pareto;                // min:METRIC,max:METRIC
  std::string over, by;              // axes of the curves: along x, and one curve for each value
  [[nodiscard]] bool empty() const {
    return metrics.empty() && pareto.empty() && over.empty() && by.empty();
  }
};

// `run` is a folder that `calibrate`, `reproduce` or `sweep` filled, a folder of JSON files that
// `simulate --json` printed, or one JSON file that `estimate`, `simulate` or `reproduce` printed.
// Replaces `html` atomically. The page needs no network and no other file. A virtual device is
// labelled so. Errors: not_found (there is nothing to make a page of), parse_error (damaged, or of
// different kinds), invalid_argument (a sweep's option for another run, or an option that names
// nothing of the sweep), io_error, permission_denied.
[[nodiscard]] Status write_report(const std::filesystem::path& run,
                                  const std::filesystem::path& html,
                                  const SweepOptions& options = {});

// Every chart and drawing of the run's page as a file: NAME.svg, and NAME.png where rsvg-convert is
// on PATH. Returns the files. Errors: those of write_report.
[[nodiscard]] Result<std::vector<std::filesystem::path>> write_figures(
    const std::filesystem::path& run, const std::filesystem::path& folder,
    const SweepOptions& options = {});

// A page that lists the runs in a folder and below it, each with its first figure, and compares
// those of one kind. Errors: not_found (no folder, or no run in it), io_error, permission_denied.
[[nodiscard]] Status write_index(const std::filesystem::path& folder,
                                 const std::filesystem::path& html);

// Compares two runs of one kind: every figure that both have, its difference, and whether the
// intervals overlap. Errors: those of write_report, invalid_argument (runs of different kinds),
// unsupported (series of simulations, curves).
[[nodiscard]] Status write_comparison(const std::filesystem::path& first,
                                      const std::filesystem::path& second,
                                      const std::filesystem::path& html,
                                      const SweepOptions& options = {});

}  // namespace ww::report
