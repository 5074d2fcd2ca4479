// One writer for each target of an export, and what they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ww/sim/power/export.hpp"

namespace ww::sim::power {

// A writer's input: the configuration, the energy of one link, and the estimator's router.
struct ExportInput {
  const ExportConfig& config;
  LinkConstant per_link;  // [fJ] a random bit on one link of config.link_length
  RouterEnergy router;    // for targets whose file has routers
};

// The constants that every file has: the calibration's own, and the link that follows from it.
[[nodiscard]] std::vector<ExportedConstant> link_constants(const ExportInput& input);
// The estimator's [unit]; its papers print no interval.
[[nodiscard]] ExportedConstant router_constant(const ExportInput& input, std::string name,
                                               double value, std::string unit);
// A line for each constant, and first what the file is and who reads it.
[[nodiscard]] std::vector<std::string> comment_lines(
    const ExportInput& input, std::string_view reader,
    const std::vector<ExportedConstant>& constants);
// Lines behind `prefix`, each with its end.
[[nodiscard]] std::string commented(const std::vector<std::string>& lines, std::string_view prefix);

[[nodiscard]] Result<ExportedFile> export_noxim(const ExportInput& input);
[[nodiscard]] Result<ExportedFile> export_booksim(const ExportInput& input);
[[nodiscard]] Result<ExportedFile> export_gem5(const ExportInput& input);
[[nodiscard]] Result<ExportedFile> export_rapidchiplet(const ExportInput& input);
[[nodiscard]] Result<ExportedFile> export_mcpat(const ExportInput& input);
[[nodiscard]] Result<ExportedFile> export_accelwattch(const ExportInput& input);

}  // namespace ww::sim::power
