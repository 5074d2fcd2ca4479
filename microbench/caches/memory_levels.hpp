// The levels of a memory hierarchy, as latencies show them: a staircase of the time that a load
// takes, over the size of the set that it is from.
//
// One work-item follows a chain through random places of a set that has just been read whole. While
// the set fits into a level the latency is that level's, so the staircase has a tread for each
// level. Loads past the L1 show the L2's latency even for few lines, which tells the treads before
// the L2 from it. These lie all over a MiB, as an L2 may have several parts, near and far.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct StairPoint {
  std::int64_t bytes{};  // of the set
  double ticks{};        // of five loads in eight at most, one reading of the clock included
};

struct Staircase {
  std::vector<StairPoint> points;  // sizes ascending
  double past_l1_ticks{};          // of loads past the L1, from few lines all over the L2
};

// A tread: a level that its latency tells from its neighbours.
struct MemoryLevel {
  std::string name;           // ladder_levels: "l1", "l2", "cache", "memory"
  std::int64_t from_bytes{};  // the smallest set that showed it
  std::int64_t to_bytes{};    // the largest
  double ticks{};             // median
};

struct MemoryLevels {
  std::vector<MemoryLevel> found;  // nearest first
  // Levels that the staircase does not show, or that no stream can end in, and why.
  struct Missing {
    std::string name;
    std::string reason;
  };
  std::vector<Missing> missing;
};

// Measures sets of 4 KiB up to `most_bytes`, each twice as large as the one before. Errors of the
// host; unsupported where loads cannot be timed (no clock in kernels).
[[nodiscard]] Result<Staircase> measure_staircase(ComputeHost& host, int compute_units,
                                                  std::int64_t most_bytes,
                                                  const std::function<void(double)>& progress);

// Latency of few lines that lie all over a set of so many bytes, when they have been read once.
// They fit into any L2. What takes longer than the L2 all the same is no cache's latency but that
// of translating addresses. The same errors.
[[nodiscard]] Result<double> measure_few_lines(ComputeHost& host, std::int64_t bytes);

// Sets of these sizes, ascending, by loads that pass the L1 or by plain ones. The same errors.
[[nodiscard]] Result<std::vector<StairPoint>> measure_stairs(ComputeHost& host,
                                                             std::span<const std::int64_t> sizes,
                                                             bool past_l1);

// Bytes a second that all `compute_units` together read past the L1s, over and over, from a short
// list and from a long one. Sizes are powers of two. Errors of the host; unsupported where launches
// cannot be timed.
struct ListRates {
  double of_short{}, of_long{};
};
[[nodiscard]] Result<ListRates> measure_list_rates(ComputeHost& host, int compute_units,
                                                   std::int64_t short_bytes,
                                                   std::int64_t long_bytes);

[[nodiscard]] MemoryLevels levels_of(const Staircase& staircase);

}  // namespace ww::microbench
