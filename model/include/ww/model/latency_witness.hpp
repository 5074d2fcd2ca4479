// Latency as a second witness of a floorplan. The time of a load from an engine to an L2 quadrant
// grows with the same distance as the energy of a bit does, but its errors are others. Engines and
// quadrants have latencies of their own, so that again only the interaction of the two counts.
#pragma once

#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::model {

// The counter of a latency run: mean time of one load [ticks of the chip's clock].
inline constexpr const char* kLatencyCounter = "latency_ticks";

struct LatencyWitness {
  bool recorded{};     // every pair of engine and quadrant was timed at least twice
  std::string reason;  // why not; where it disagrees, how
  // Correlation of crossed latencies (without rows' and columns' means) and published distances.
  double rank_correlation{};  // Spearman's
  double ticks_per_mm{};      // least-squares slope, there and back
  double residual_ticks{};    // root mean square about that slope
  double noise_ticks{};       // standard error of a pair's mean, from its repeats
  // Ratio of what distance leaves unexplained to what it explains, noise subtracted: compares with
  // Misfit::statistic, which is that ratio for the energies.
  double relative{};
  // P-value of the residual, against noise, whole ticks and the floorplan's declared errors.
  double p_value{1};
  bool disagrees{};
};

// Judges the latency runs of a campaign. They disagree with the floorplan if p is below 0.001 and
// `relative` above 0.1, or if the ranks run the other way although the contrast of latency is
// beyond noise.
[[nodiscard]] LatencyWitness judge_latency(const std::vector<StoredRun>& runs,
                                           const Floorplan& floorplan);

}  // namespace ww::model
