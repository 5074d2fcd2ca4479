// Pages about an estimate and about a reproduction, each self-contained like the calibration's.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ww/core/result.hpp"

namespace ww::report {

// `estimate` is what `wirewatt estimate --json` prints: a bar for each kernel and for the whole
// run, by segment, and the table. Watts where the file has usable times, else joules. Errors:
// parse_error (not an estimate), io_error, permission_denied.
[[nodiscard]] Status write_estimate_page(const nlohmann::json& estimate,
                                         const std::filesystem::path& html);

// `reproduction` is what `wirewatt reproduce --json` prints: the rows, and bars of the figures;
// `pictures` it names lie beside the page.
// Errors: as above.
[[nodiscard]] Status write_reproduction_page(const nlohmann::json& reproduction,
                                             const std::filesystem::path& html);

}  // namespace ww::report
