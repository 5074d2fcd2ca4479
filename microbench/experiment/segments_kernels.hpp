// The kernels of the segments on one device: built, patched and loaded, and
// launched for a point.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/model/segments_fit.hpp"

namespace ww::microbench {

class SegmentKernels {
 public:
  // Builds and loads for the points; `seed` draws the random data. Device and
  // pinning must outlive the kernels. Errors of host and pinning; unsupported
  // where the hardware id is not laid out as GCN's.
  static Result<std::unique_ptr<SegmentKernels>> create(Device& device, const Pinning& pinning,
                                                        std::vector<model::SegmentPoint> points,
                                                        std::uint64_t seed);

  // Sets the arguments for a point. `throttle`: wait iterations between loads;
  // 0 is the full rate.
  Status select(const model::SegmentPoint& point, std::uint32_t loops, std::uint32_t throttle);
  // One launch of what is selected. Before one that moves lines behind the L2 a
  // sweep puts the L2 into one and the same state, so that launches repeat
  // exactly.
  Status launch(const model::SegmentPoint& point);
  // Dispatches of one launch.
  [[nodiscard]] static int dispatches(const model::SegmentPoint& point) {
    return is_behind_l2(kind_of(point)) ? 2 : 1;
  }
  // Device time [s] that a launch should take.
  [[nodiscard]] static double launch_s(const model::SegmentPoint& point);
  // Hash of the loaded binary.
  [[nodiscard]] const std::string& hash(const model::SegmentPoint& point) const {
    return programs_[kind_of(point)].hash;
  }
  // Error bad_data where no wavefront of the last launch found itself on the
  // point's four CUs.
  [[nodiscard]] Status check_pinned(const model::SegmentPoint& point) const;

 private:
  enum Kind { legs, held, large, registers };
  // One program for each kind of point; they share their buffers.
  struct Program {
    std::unique_ptr<LoadedKernel> kernel;
    std::string hash;
  };
  SegmentKernels(Device& device, const Pinning& pinning, std::vector<model::SegmentPoint> points)
      : device_(device), pinning_(pinning), points_(std::move(points)) {}
  [[nodiscard]] static Kind kind_of(const model::SegmentPoint& point) {
    if (point.segment == "registers_l1") return registers;
    return point.segment == "legs" ? legs : point.from_memory ? large : held;
  }
  [[nodiscard]] static bool is_behind_l2(Kind kind) { return kind == held || kind == large; }
  Result<Program> build(Kind kind);
  Status build_sweep();
  Status build_registers();
  [[nodiscard]] std::uint32_t place_of(const model::SegmentPoint& point) const;
  // Each point has a log of its own: launches that repeat then change nothing
  // in memory, and a simulated chip need not execute them again.
  [[nodiscard]] std::size_t log_index(const model::SegmentPoint& point) const;
  [[nodiscard]] std::size_t waves() const;

  Device& device_;
  const Pinning& pinning_;
  std::vector<model::SegmentPoint> points_;
  std::size_t groups_{};
  // Kernels are destroyed before the buffers that their arguments name.
  std::unique_ptr<DeviceBuffer> data_, ones_, log_, output_, sweep_data_;
  std::unique_ptr<LoadedKernel> sweep_;
  std::array<Program, 4> programs_;
};

}  // namespace ww::microbench
