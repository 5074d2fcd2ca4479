// The ways between a package's dies, as fitted, beside the sealed truth.
#pragma once

#include <nlohmann/json.hpp>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::cli {

// `model`: model.json of such a calibration, which the caller has found to be one.
[[nodiscard]] nlohmann::json score_chiplet(const nlohmann::json& model, const sim::gpu::Chip& chip);
void print_score_chiplet(const nlohmann::json& score);

}  // namespace ww::cli
