#include "caches/cache_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ww::microbench {
namespace {

constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kMinSize = 1024;
// Share of hits where all loads hit: a few are late by refreshes and neighbours on a shared path.
constexpr double kAllHit = 0.985;
// Sets of a hashed cache are not filled equally, so that lines of a chain that fits replace each
// other: of sixteen ways filled to five sixths at random, a fifth of the sets overflow. Where a
// line is four times the length that is tried, five of eight loads hit because the load before
// brought the line.
constexpr double kMaxHit = 0.7;

double mean(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

}  // namespace

LoadLatency latency_of(const std::vector<double>& ticks) {
  LoadLatency latency;
  if (ticks.empty()) {
    latency.reason = "no load was timed";
    return latency;
  }
  std::vector<double> sorted = ticks;
  std::ranges::sort(sorted);
  const auto at = [&sorted](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  latency.mean_cycles = mean(ticks);
  latency.p50_cycles = at(0.5);
  latency.p95_cycles = at(0.95);
  double square = 0;
  for (const double one : ticks) square += std::pow(one - latency.mean_cycles, 2);
  latency.stdev_cycles = std::sqrt(square / static_cast<double>(ticks.size()));
  latency.measurements = static_cast<int>(ticks.size());
  latency.found = true;
  return latency;
}

double share_below(const std::vector<double>& ticks, double bound) {
  const auto below = std::ranges::count_if(ticks, [bound](double one) { return one < bound; });
  return static_cast<double>(below) / static_cast<double>(std::max<std::size_t>(1, ticks.size()));
}

Result<CacheFigure> find_size(const HitShare& hits, std::int64_t step_bytes,
                              std::int64_t most_bytes) {
  CacheFigure size;
  std::int64_t fits = 0;  // [loads]
  std::int64_t misses = 0;
  for (std::int64_t bytes = kMinSize; bytes <= most_bytes && misses == 0; bytes *= 2) {
    WW_ASSIGN(share, hits(step_bytes, bytes / step_bytes));
    (share >= kAllHit ? fits : misses) = bytes / step_bytes;
  }
  if (fits == 0 || misses == 0) {
    size.reason = fits == 0 ? fmt::format("loads miss within {} B already", kMinSize)
                            : fmt::format("no load misses within {} B", most_bytes);
    return size;
  }
  while (misses - fits > 1) {
    const std::int64_t middle = (fits + misses) / 2;
    WW_ASSIGN(share, hits(step_bytes, middle));
    (share >= kAllHit ? fits : misses) = middle;
  }
  WW_ASSIGN(inside, hits(step_bytes, fits));
  WW_ASSIGN(outside, hits(step_bytes, fits + fits / 4));
  size.value = static_cast<double>(fits * step_bytes);
  size.confidence = std::max(0.0, inside - outside);
  return size;
}

Result<CacheFigure> find_line(const HitShare& hits, std::int64_t size_bytes,
                              std::int64_t fetch_bytes) {
  CacheFigure line;
  const std::int64_t span = size_bytes + size_bytes / 4;
  for (std::int64_t length = fetch_bytes; length <= 4 * fetch_bytes; length *= 2) {
    const std::int64_t step = length * 3 / 2;
    WW_ASSIGN(gaps, hits(step, span / step));
    if (gaps < kMaxHit) continue;
    WW_ASSIGN(whole, hits(length, span / length));
    line.confidence = gaps - whole;
    if (line.confidence < 0.25) {
      line.reason = "a chain longer than the cache hits as well as one with gaps";
      return line;
    }
    line.value = static_cast<double>(length);
    return line;
  }
  line.reason = fmt::format("chains with gaps of up to {} B do not fit", 6 * fetch_bytes);
  return line;
}

CacheFigure find_fetch(const std::vector<double>& ticks, double bound,
                       std::optional<double>& penalty) {
  CacheFigure fetch;
  std::vector<double> late, soon;
  std::map<std::size_t, int> distances;
  std::size_t last = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    if (ticks[i] < bound) {
      soon.push_back(ticks[i]);
      continue;
    }
    if (!late.empty()) ++distances[i - last];
    last = i;
    late.push_back(ticks[i]);
  }
  if (late.size() < 3 || soon.empty()) {
    fetch.reason =
        fmt::format("{} of {} loads of words in a row are late", late.size(), ticks.size());
    return fetch;
  }
  penalty = mean(late) - mean(soon);
  const auto commonest =
      std::ranges::max_element(distances, {}, [](const auto& distance) { return distance.second; });
  fetch.value = static_cast<double>(commonest->first) * static_cast<double>(kWordBytes);
  fetch.confidence = static_cast<double>(commonest->second) / static_cast<double>(late.size() - 1);
  return fetch;
}

}  // namespace ww::microbench
