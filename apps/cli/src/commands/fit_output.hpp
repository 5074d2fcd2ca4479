// How a fit is told to the user, shared by `calibrate` and `fit`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ww/model/fit.hpp"

namespace ww::cli {

// {energy_fj_per_bit_mm: {...}, long_over_short_percent, ...}: the contract of `calibrate --json`,
// without what only a campaign knows (elapsed_s).
[[nodiscard]] nlohmann::json fit_summary_json(const model::FitResult& fit);
void print_fit_summary(const model::FitResult& fit);
// 0 when the energy was identified and the fit is not flagged, else 1.
[[nodiscard]] int fit_exit_code(const model::FitResult& fit);

}  // namespace ww::cli
