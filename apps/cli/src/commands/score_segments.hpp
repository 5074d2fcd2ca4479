// What `wirewatt segments` found beside the sealed truth.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::cli {

// One row a segment: status and reason, fit with its interval, the truth, what could at best be
// sensed, and whether the interval holds that. Errors: those of the recording and its fit.
[[nodiscard]] Result<nlohmann::json> score_segments(const std::filesystem::path& recording,
                                                    const sim::gpu::Revealed& revealed);
void print_score_segments(const nlohmann::json& rows);

}  // namespace ww::cli
