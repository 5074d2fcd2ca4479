// Evidence whether the cache between the L1s of a shader array and the L2 (GL1, RDNA 1 to 3.5)
// answers loads that ask to pass it by, as the streams of a campaign do. RDNA 4 has no such cache.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caches/memory_levels.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"
#include "ww/microbench/raw_probes.hpp"

namespace ww::microbench {

[[nodiscard]] bool has_array_caches(std::string_view target);

// Share of a run's loads that counters may show to be answered by it.
inline constexpr double kMaxArrayCacheHits = 0.01;

struct ArrayCacheEvidence {
  // Whether loads see what another shader array has stored.
  std::optional<Visibility> litmus;
  std::string no_litmus;  // why there is none
  // Latencies of sets of growing size, by loads as the streams' and by plain ones.
  std::vector<StairPoint> past, plain;
  std::string no_stairs;
  // Rates of all compute units' loads from a list within the cache and from one beyond it.
  std::optional<ListRates> rates;
  std::string no_rates;
};
[[nodiscard]] nlohmann::json to_json(const ArrayCacheEvidence& evidence);

// Gathers all three. Error cancelled alone: what cannot be had has its reason in the evidence.
[[nodiscard]] Result<ArrayCacheEvidence> find_array_cache_evidence(ComputeHost& host);

struct ArrayCacheVerdict {
  enum class Kind { passed_by, answers, past_l2, not_shown };
  Kind kind{Kind::not_shown};
  std::string reason;  // the figure that decided
  double max_hits{1};  // share of loads that the cache may have answered (95%), where passed by
};
[[nodiscard]] std::string_view to_string(ArrayCacheVerdict::Kind kind);

// The cache answers where a load of the streams was stale, or where small sets are faster than
// large ones for the streams' loads. Loads go past the L2 where they take longer than plain ones
// that the L2 answers. The cache is passed by where the litmus or the staircase shows that, and the
// same test with plain loads shows the cache (its control), or where both tests with plain loads
// show that there is none: all sets beyond the L1s take as long, and no line was stale. Else
// nothing is shown.
[[nodiscard]] ArrayCacheVerdict judge_array_caches(const ArrayCacheEvidence& evidence);

}  // namespace ww::microbench
