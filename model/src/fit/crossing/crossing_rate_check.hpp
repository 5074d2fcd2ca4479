// Whether the rates of a campaign of crossings allow an answer.
#pragma once

#include <span>
#include <string>

#include "ww/model/crossing_fit.hpp"

namespace ww::model {

// Why the rates allow no answer; empty where they do. Sets waits and greatest_mismatch of `answer`.
[[nodiscard]] std::string judge_rates(std::span<const CrossingRun> runs, CrossingAnswer& answer);

}  // namespace ww::model
