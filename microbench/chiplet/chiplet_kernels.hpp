// The kernels of the chiplet campaign on one device: finds the compute dies, I/O dies and homes of
// pages, and lets every compute die read pages of the I/O die that a point names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chiplet/chiplet_layout.hpp"
#include "chiplet/package_kernels.hpp"
#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/model/chiplet_fit.hpp"

namespace ww::microbench {

class ChipletKernels final : public PackageKernels {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;
  static constexpr std::size_t kGroupSize = 256;
  static constexpr std::size_t kGroupsPerDie = 8;

  // Builds, loads, fills the pages with random bits of `seed`, and finds the layout. Errors: those
  // of host and pinning; those of chiplet_layout(). Device and pinning must outlive the kernels.
  static Result<std::unique_ptr<PackageKernels>> create(Device& device, const Pinning& pinning,
                                                        std::uint64_t seed);

  [[nodiscard]] std::span<const model::ChipletPoint> points() const override {
    return model::chiplet_points();
  }
  [[nodiscard]] nlohmann::json setup() const override;
  // I/O dies of the compute dies.
  [[nodiscard]] std::vector<std::int32_t> identity() const override {
    return {layout_.io_die_of_die.begin(), layout_.io_die_of_die.end()};
  }
  Status check(const model::ChipletPoint& point) override;
  Status select(const model::ChipletPoint& point, const Pace& pace) override;
  Status launch() override { return stream_->launch(groups(), kGroupSize); }
  Result<double> time_launch() override { return stream_->time_launch(groups(), kGroupSize); }
  [[nodiscard]] double bits(const model::ChipletPoint& point, const Pace& pace) const override;
  [[nodiscard]] const std::string& hash() const override { return hash_; }

 private:
  ChipletKernels(Device& device, const Pinning& pinning) : device_(device), pinning_(pinning) {}
  [[nodiscard]] std::size_t dies() const { return layout_.io_die_of_die.size(); }
  Status load_kernels();
  Status fill(std::uint64_t seed);
  Result<std::vector<std::vector<double>>> latencies(const std::vector<std::uint32_t>& pages,
                                                     std::uint32_t dies);
  Status align();
  Status check_l2_misses();
  Status find_misses();
  Status find_layout();
  Status read_layout(const std::vector<std::uint32_t>& pages);
  Result<std::unique_ptr<LoadedKernel>> kernel(const char* name, bool pinned = true);
  [[nodiscard]] std::size_t groups() const { return dies() * kGroupsPerDie; }
  [[nodiscard]] std::size_t waves_of_die() const;
  // Whether a die takes part, and the number of its list.
  [[nodiscard]] bool works(const model::ChipletPoint& point, std::size_t die) const;
  [[nodiscard]] std::uint64_t homes(const model::ChipletPoint& point) const;

  Device& device_;
  const Pinning& pinning_;
  std::string hash_;
  ChipletLayout layout_;
  std::uint32_t pages_{};                    // of a list
  std::vector<std::uint32_t> own_lists_[2];  // compute die 0's at home, of either footprint
  double l2_hits_{};                         // share of their lines that the L2 still had
  double
      memory_misses_{};  // share of the lines for memory that miss the Infinity Cache, by latency
  // Pages that fit the Infinity Cache, and pages that do not.
  std::vector<std::uint32_t> candidates_[2];
  // Kernels are destroyed before the buffers that their arguments name.
  std::unique_ptr<DeviceBuffer> data_, working_, output_;
  std::unique_ptr<DeviceBuffer> lists_[2];  // for each I/O die and each of its readers
  std::unique_ptr<LoadedKernel> probe_, stream_;
};

}  // namespace ww::microbench
