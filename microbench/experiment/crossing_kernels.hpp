// The kernels of the crossings on one device: finds the two sides of its L2, and moves traffic
// between the places of one side and the lines of one side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// The places that a campaign compares. Sides of the L2 where latency separates two; else the ends
// of the latency's product term, whose difference in latency is then what the answer is divided by.
struct CrossingSplit {
  bool by_latency{};
  std::vector<int> side_of_place;      // 0 or 1; -1: neither, at the middle of the latencies
  double difference_error_ticks{};     // 95% half-width of far less near; by latency alone
  double additive_r2{}, product_r2{};  // of the latencies; by latency alone
};

// Settings of a launch.
struct CrossingPoint {
  int place_side{};  // 0 or 1
  int line_side{};   // equal to place_side: near
  bool random{};     // random bits; else zeros
  std::uint32_t wait{1};
  int half{};    // of side 0's lines: 1 or 2; 0: all lines of the side
  bool empty{};  // waits without traffic
  [[nodiscard]] bool far() const { return place_side != line_side; }
  [[nodiscard]] std::string pattern() const;  // of crossing_patterns
};

class CrossingKernels {
 public:
  static constexpr double kBitsPerUpdate = 32.0 * 32.0;  // 32 lanes of 32 bits

  // Builds, loads, and finds the sides by latency, or its ends where there are no two sides.
  // `groups_per_place`: work-groups of 256 work-items. `before`: what an earlier session found (no
  // places: there was none); the sides then get the same numbers. Errors: those of host and
  // pinning; unsupported where latency shows nothing beyond its noise; bad_data where it shows
  // something else than in the earlier session. Device and pinning must outlive the kernels.
  static Result<std::unique_ptr<CrossingKernels>> create(Device& device, const Pinning& pinning,
                                                         int groups_per_place,
                                                         const CrossingSplit& before);

  // Sets the arguments for a point, and the updates counted so far to zero.
  Status select(const CrossingPoint& point, std::uint32_t loops);
  Status launch() { return kernel_->launch(groups_, kernels::kPtxGroupSize); }
  // The duration of one launch by the device's events [s].
  Result<double> time_launch() { return kernel_->time_launch(groups_, kernels::kPtxGroupSize); }
  // Iterations of all working wavefronts since select(). An iteration with traffic is one update.
  Result<double> iterations();
  // Heats the chip; set_furnace() sets how long a launch takes.
  Status set_furnace(std::uint32_t loops) { return furnace_->set(0, loops); }
  Status launch_furnace() { return furnace_->launch(groups_, kernels::kPtxGroupSize); }
  Result<double> time_furnace() { return furnace_->time_launch(groups_, kernels::kPtxGroupSize); }

  [[nodiscard]] const Sides& sides() const { return sides_; }
  [[nodiscard]] const CrossingSplit& split() const { return split_; }
  [[nodiscard]] const std::array<std::uint32_t, 2>& lines() const { return line_counts_; }
  [[nodiscard]] const std::string& hash() const { return hash_; }

 private:
  CrossingKernels(Device& device, const Pinning& pinning)
      : device_(device), prober_(*device.host, &pinning, {}) {}
  Status find_sides(const CrossingSplit& before);
  Status set_lines(int side, std::vector<std::uint32_t> words);
  Status set_places(int side);

  Device& device_;
  Prober prober_;
  std::vector<TopologyPlace> places_;
  Sides sides_;
  CrossingSplit split_;
  std::string hash_;
  std::size_t groups_{};
  std::array<std::uint32_t, 2> line_counts_{};
  // Kernels are destroyed before the buffers that their arguments name.
  std::array<std::unique_ptr<DeviceBuffer>, 2> lines_;   // by side
  std::array<std::unique_ptr<DeviceBuffer>, 2> halves_;  // every other line of side 0, and the rest
  std::array<std::unique_ptr<DeviceBuffer>, 2> masks_;   // of places, by side
  std::unique_ptr<DeviceBuffer> done_, furnace_output_;
  std::unique_ptr<LoadedKernel> kernel_, furnace_;
};

}  // namespace ww::microbench
