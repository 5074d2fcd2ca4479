// The ladder's stream on one device: its kernel, and working sets that end in each level.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caches/memory_levels.hpp"
#include "device/device.hpp"
#include "ww/calibration/ladder_fit.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {

// A level as streams use it.
struct LadderSet {
  std::string name;          // ladder_levels
  std::int64_t set_bytes{};  // a power of two
  MemoryLevel seen;          // as the staircase shows it
  // Largest set that the level before keeps; 0: none is before, or a recording does not say.
  std::int64_t kept_before_bytes{};
};
// Sets that end in each level: half of the largest that showed a cache, and of memory as much as no
// cache before it keeps any of. In the order of the levels.
[[nodiscard]] std::vector<LadderSet> ladder_sets(const MemoryLevels& levels, bool is_virtual);

// One launch: `loops` rounds of accesses, each followed by `wait` units of waiting.
struct LadderLaunch {
  calibration::LadderStream stream;
  std::uint32_t wait{};
  std::uint32_t loops{};
};

class LadderKernels {
 public:
  // Builds the kernel and fills memory for all `data` (names of kernels::Pattern). The device must
  // outlive the kernels. Errors of the host.
  static Result<std::unique_ptr<LadderKernels>> create(Device& device,
                                                       const std::vector<LadderSet>& sets,
                                                       const std::vector<std::string>& data,
                                                       std::uint64_t seed);
  Status select(const LadderLaunch& launch);
  // The loop and its waits alone, without accesses.
  Status select_empty(std::uint32_t wait, std::uint32_t loops);
  Status launch() { return kernel_->launch(groups_, kGroupSize); }
  // Seconds that the device takes for one, when its queue is empty.
  Result<double> time_launch() { return kernel_->time_launch(groups_, kGroupSize); }
  // Bits of the lines that a round takes, whatever part of them is loaded.
  [[nodiscard]] double bits_per_loop(const calibration::LadderStream& stream) const;
  // Rounds in which the whole set of a stream is visited once. Launches of whole passes begin and
  // end alike, so that each finds the caches as the one before it did.
  [[nodiscard]] std::uint32_t loops_of_a_pass(const calibration::LadderStream& stream) const;
  [[nodiscard]] unsigned wave_size() const { return wave_size_; }
  [[nodiscard]] const std::string& hash() const { return hash_; }

 private:
  static constexpr std::size_t kGroupSize = kernels::kPtxGroupSize;
  explicit LadderKernels(Device& device) : device_(device) {}
  [[nodiscard]] const LadderSet& set_of(const std::string& level) const;
  [[nodiscard]] std::uint32_t pieces(const std::string& level) const;
  [[nodiscard]] std::uint32_t stride(const std::string& level) const;
  Status fill(DeviceBuffer& buffer, const std::string& data, std::uint64_t seed);

  Device& device_;
  std::vector<LadderSet> sets_;
  std::string hash_;
  unsigned wave_size_{64};
  std::size_t groups_{};
  // The kernel is destroyed before the buffers that its arguments name.
  std::map<std::string, std::unique_ptr<DeviceBuffer>> data_;
  std::unique_ptr<DeviceBuffer> again_, target_, output_;
  std::unique_ptr<LoadedKernel> kernel_;
};

}  // namespace ww::microbench
