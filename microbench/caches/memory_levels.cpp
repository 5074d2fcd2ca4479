#include "caches/memory_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ww/calibration/ladder_fit.hpp"
#include "ww/core/statistics.hpp"

namespace ww::microbench {
namespace {

namespace levels = calibration::ladder_levels;

// Neighbours on a tread differ by less; treads differ by more.
constexpr double kSameTread = 0.08;
constexpr double kMinRise = 0.15;
// Share of the latency that loads past the L1 show.
constexpr double kSameAsL2 = 0.10;

// A tread is two or more neighbours of equal latency, or the largest set alone. Between treads is a
// rise, where a set fits into a level in part.
std::vector<MemoryLevel> treads_of(const std::vector<StairPoint>& points) {
  std::vector<MemoryLevel> treads;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin + 1;
    std::vector<double> ticks{points[begin].ticks};
    while (end < points.size() &&
           std::abs(points[end].ticks - median(ticks)) < kSameTread * median(ticks)) {
      ticks.push_back(points[end].ticks);
      ++end;
    }
    if (ticks.size() > 1 || end == points.size()) {
      const double middle = median(ticks);
      if (treads.empty() || middle > (1 + kMinRise) * treads.back().ticks) {
        treads.push_back({"", points[begin].bytes, points[end - 1].bytes, middle});
      } else {
        treads.back().to_bytes = points[end - 1].bytes;
      }
    }
    begin = end;
  }
  return treads;
}

}  // namespace

MemoryLevels levels_of(const Staircase& staircase) {
  MemoryLevels result;
  std::vector<MemoryLevel> treads = treads_of(staircase.points);
  const auto same_as_l2 = [&](const MemoryLevel& tread) {
    return std::abs(tread.ticks - staircase.past_l1_ticks) < kSameAsL2 * staircase.past_l1_ticks;
  };
  const auto l2 = std::ranges::find_if(treads, same_as_l2);
  if (l2 == treads.end()) {
    result.missing.push_back(
        {levels::l2,
         fmt::format("no set of loads through the L1 takes the {:.0f} cycles of loads past it, so "
                     "the staircase does not show where the L2 begins",
                     staircase.past_l1_ticks)});
    return result;
  }
  if (l2 == treads.begin()) {
    result.missing.push_back(
        {levels::l1,
         "the smallest set takes as long as loads past the L1: the L1 keeps no loads, "
         "or is not told from the L2"});
  } else {
    treads.front().name = levels::l1;
    result.found.push_back(treads.front());
  }
  for (auto tread = treads.begin() + 1; tread < l2; ++tread) {
    result.missing.push_back(
        {fmt::format("between L1 and L2, {} KiB", tread->to_bytes >> 10),
         "streams through it would be answered by the L1 in part, so their energy is of both"});
  }
  l2->name = levels::l2;
  result.found.push_back(*l2);
  if (l2 + 1 == treads.end()) {
    result.missing.push_back(
        {levels::memory, fmt::format("no set of up to {} MiB takes longer than the L2",
                                     staircase.points.back().bytes >> 20)});
    return result;
  }
  for (auto tread = l2 + 1; tread != treads.end(); ++tread) {
    const bool last = tread + 1 == treads.end();
    if (!last && tread != l2 + 1) {
      result.missing.push_back(
          {fmt::format("a level of {} MiB", tread->to_bytes >> 20),
           "a further step behind the L2, which may be of address translation"});
      continue;
    }
    tread->name = last ? levels::memory : levels::cache;
    result.found.push_back(*tread);
  }
  return result;
}

}  // namespace ww::microbench
