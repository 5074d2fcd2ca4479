// Decides when an experiment has measured enough.
#pragma once

#include <functional>
#include <optional>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::microbench {

// Relative half-width of the answer's interval, from what is recorded so far;
// nullopt while the answer is not identified, or a check of it not decided. The
// campaign asks after its minimum number of blocks and then after every block,
// and adds blocks until the interval is narrow enough.
using HalfWidthFunction = std::function<Result<std::optional<double>>(const CampaignStore&)>;

// The relative half-width that is narrow enough where a request names none.
inline constexpr double kDefaultHalfWidth = 0.015;

}  // namespace ww::microbench
