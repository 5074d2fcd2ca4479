// The latency pass of a calibration: how long a load takes from every engine to every quadrant. The
// fit compares it with the floorplan's distances (ww/model/latency_witness.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "device/topology_probe.hpp"
#include "experiment/plan.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::microbench {

class LatencyPass {
 public:
  // Builds the probe and finds places of every engine. The bench must outlive the pass. Error
  // unsupported where a latency has no one place or no engine can be probed; errors of host and
  // pinning.
  static Result<std::unique_ptr<LatencyPass>> create(Bench& bench);

  // Fills in engine, quadrant and the mean time of a load. The first run of a repeat times all
  // pairs, in one launch a compute unit; the others take their figures from there.
  Status perform(const PlannedRun& planned, StoredRun& run);

 private:
  explicit LatencyPass(Bench& bench);
  Status time_all();

  Bench& bench_;
  Prober prober_;
  std::vector<TopologyPlace> places_;
  std::vector<std::uint32_t> lines_;  // offsets [bytes], kLinesOfQuadrant of each quadrant in turn
  std::vector<std::vector<double>> ticks_;  // [engine][quadrant], of the repeat that runs
  int repeat_{-1};
};

}  // namespace ww::microbench
