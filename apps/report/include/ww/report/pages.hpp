// Pages about a calibration, an estimate and a reproduction. Each is self-contained, like the
// calibration's.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"

namespace ww::report {

// A calibration whose page is tables (Calibration::is_drawn is false). Errors: those of
// write_estimate_page.
[[nodiscard]] Status write_calibration_page(const calibration::Calibration& calibration,
                                            const std::filesystem::path& html);

// `estimate` is the output of `wirewatt estimate --json`. The page has a bar for each kernel and
// for the whole run, by segment, and the table. It shows watts if the file has usable times, else
// joules. With a package's calibration the ways
// between its dies come first, on a drawing of the package. Errors: parse_error (not an estimate),
// io_error, permission_denied.
[[nodiscard]] Status write_estimate_page(const nlohmann::json& estimate,
                                         const std::filesystem::path& html);

// `reproduction` is the output of `wirewatt reproduce --json`. The page has the rows, and bars of
// the figures. Its `pictures` must lie beside the page. Errors: those of write_estimate_page.
[[nodiscard]] Status write_reproduction_page(const nlohmann::json& reproduction,
                                             const std::filesystem::path& html);

// The page of a server that has a line of `wirewatt top --json` at now.json. It asks once a second
// and draws the history.
[[nodiscard]] std::string live_page();

}  // namespace ww::report
