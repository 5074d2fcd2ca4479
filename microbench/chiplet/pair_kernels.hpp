// The kernels of the chiplet campaign on a package of two parts that are devices of their own: each
// reads its own memory or the other's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chiplet/package_kernels.hpp"
#include "device/device.hpp"
#include "host/pinning.hpp"

namespace ww::microbench {

class PairKernels final : public PackageKernels {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;
  // Pages of each wavefront. With sixteen wavefronts on each of some hundred compute units that is
  // three times an L2 of 8 MB, so that pages that are read in turn are never there still.
  static constexpr std::uint32_t kPagesOfWave = 4;
  static constexpr std::size_t kGroupSize = 256;
  static constexpr std::size_t kGroupsPerCu = 4;

  // Fills a buffer in each part's memory with random bits of `seed`. Errors: those of the host;
  // unsupported where it has other than two parts. The device must outlive the kernels.
  static Result<std::unique_ptr<PackageKernels>> create(Device& device, const Pinning& pinning,
                                                        std::uint64_t seed);

  [[nodiscard]] std::span<const model::ChipletPoint> points() const override {
    return model::pair_points();
  }
  // Links that are not full: what waits behind a full one makes far reads come in another rhythm
  // than near ones, and wires that rest in between cost more. Several passes, so that it counts for
  // little how the last waves end.
  [[nodiscard]] Tuning tuning() const override {
    return {.room = 1.7, .refinements = 10, .passes = 2};
  }
  [[nodiscard]] nlohmann::json setup() const override;
  [[nodiscard]] std::vector<std::int32_t> identity() const override { return {0, 1}; }
  // All wavefronts of a launch take part, which no place decides.
  Status check(const model::ChipletPoint&) override { return {}; }
  Status select(const model::ChipletPoint& point, const Pace& pace) override;
  Status launch() override;
  Result<double> time_launch() override { return stream_->time_launch(groups_, kGroupSize); }
  [[nodiscard]] double bits(const model::ChipletPoint& point, const Pace& pace) const override {
    return point.traffic ? 8.0 * pages_ * kPageBytes * pace.passes : 0;
  }
  [[nodiscard]] const std::string& hash() const override { return hash_; }

 private:
  PairKernels(Device& device, const Pinning& pinning) : device_(device), pinning_(pinning) {}
  Status load(std::uint64_t seed);

  Device& device_;
  const Pinning& pinning_;
  std::string hash_;
  std::size_t groups_{};
  std::uint32_t pages_{};  // of a buffer
  // The kernel is destroyed before the buffers that its arguments name.
  std::unique_ptr<DeviceBuffer> memory_[2], output_;
  std::unique_ptr<LoadedKernel> stream_;
};

}  // namespace ww::microbench
