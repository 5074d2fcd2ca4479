// The page of each kind of run. They throw nlohmann::json::exception where a key has another type
// than this program writes; report.cpp and pages.cpp make a parse_error of it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "values/documents.hpp"
#include "ww/core/result.hpp"
#include "ww/report/report.hpp"

namespace ww::report {

// The wires of one die: charts, and a map of the die.
[[nodiscard]] std::string calibration_page(const Document& calibration);
// A calibration whose page is tables, with the figures of a package on its block diagram.
[[nodiscard]] std::string tables_page(const calibration::Calibration& calibration);
// One run of what `attribute --run` prints.
[[nodiscard]] std::string attribution_page(const nlohmann::json& run);
[[nodiscard]] std::string estimate_page(const nlohmann::json& estimate);
// `folder` holds the pictures that it names. Errors: not_found and others of reading them.
[[nodiscard]] Result<std::string> reproduction_page(const nlohmann::json& reproduction,
                                                    const std::filesystem::path& folder);
// One simulation, or several as a series.
[[nodiscard]] std::string simulation_page(const std::vector<Document>& runs);
[[nodiscard]] std::string curves_page(const nlohmann::json& curves);
// A sweep's folder. Errors: as read_sweep.
[[nodiscard]] Result<std::string> sweep_page(const std::filesystem::path& folder,
                                             const SweepOptions& options);
// Every run in a folder and below it. Errors: not_found (no run, no folder).
[[nodiscard]] Result<std::string> index_page(const std::filesystem::path& folder);
// Two runs of the same kind side by side.
[[nodiscard]] std::string comparison_page(const Document& first, const Document& second);

}  // namespace ww::report
