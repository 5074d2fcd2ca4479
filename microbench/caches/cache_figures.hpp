// Evaluates times of single loads, apart from the device that they come from.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/caches.hpp"

namespace ww::microbench {

// Mean, middle, 95th percentile and standard deviation of loads [ticks].
[[nodiscard]] LoadLatency latency_of(const std::vector<double>& ticks);

// Share of loads below `bound` [ticks].
[[nodiscard]] double share_below(const std::vector<double>& ticks, double bound);

// A chain of `loads` loads, `step_bytes` apart, that was walked once before: the share that hits.
using HitShare = std::function<Result<double>(std::int64_t step_bytes, std::int64_t loads)>;

// The longest chain of words `step_bytes` apart whose loads all hit, as bytes, from 1 KiB to
// `most_bytes`. No value where the shortest one misses or the longest one hits.
[[nodiscard]] Result<CacheFigure> find_size(const HitShare& hits, std::int64_t step_bytes,
                                            std::int64_t most_bytes);

// A line of a cache of `size_bytes` that fetches `fetch_bytes`: the least L of fetch_bytes, twice
// and four times that, for which a chain at a step of L and a half over one and a quarter of the
// size fits.
[[nodiscard]] Result<CacheFigure> find_line(const HitShare& hits, std::int64_t size_bytes,
                                            std::int64_t fetch_bytes);

// Pieces that are fetched, from loads of words in a row of lines that nobody read before: the
// commonest distance of two late loads (above `bound`). `penalty` gets the mean of the late loads
// less that of the others.
[[nodiscard]] CacheFigure find_fetch(const std::vector<double>& ticks, double bound,
                                     std::optional<double>& penalty);

}  // namespace ww::microbench
