// Tunes the waits at which a campaign of crossings runs, and the iterations of a launch: in its
// first session, and kept for the others.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "bench/bench.hpp"
#include "experiment/crossing_kernels.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/result.hpp"

namespace ww::microbench {

class CrossingRates {
 public:
  static constexpr std::uint32_t kShortestWait = 1;

  // Finds the waits that lower far's rate to 60% and 35% of that at the shortest wait (near and far
  // run with the same waits), the waits at which the loop goes round as often without traffic as
  // far does with it, and loop counts with which all launches take as long. Errors: bad_data (no
  // wavefront works; no wait lowers the rate), those of the host.
  Status tune(Bench& bench, CrossingKernels& kernels);
  [[nodiscard]] bool tuned() const { return !waits_.empty(); }

  // Ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& waits() const { return waits_; }
  // The point with the wait that the kernel is given: without traffic it is longer.
  [[nodiscard]] CrossingPoint as_run(CrossingPoint point) const;
  [[nodiscard]] std::uint32_t loops(const CrossingPoint& point) const;
  [[nodiscard]] std::uint32_t furnace_loops() const { return furnace_loops_; }

  // Adds what was tuned to the plan's object, and takes it back.
  void put(nlohmann::json& setup) const;
  void take(const JsonReader& setup);

 private:
  // The settings on which a launch's length depends: wait, far, empty.
  using Key = std::tuple<std::uint32_t, bool, bool>;
  Result<double> rate(Bench& bench, CrossingKernels& kernels, const CrossingPoint& point);
  Status tune_furnace(CrossingKernels& kernels);

  std::vector<std::uint32_t> waits_;
  std::map<std::uint32_t, std::uint32_t> empty_waits_;  // by the wait of the traffic
  std::map<Key, std::uint32_t> loops_;
  std::uint32_t furnace_loops_{};
  // Iterations a second at each wait, as tuned; for readers of the recording.
  std::vector<double> near_per_s_, far_per_s_, empty_per_s_;
};

}  // namespace ww::microbench
