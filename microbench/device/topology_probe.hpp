// The kernels that probe a device, on pages of 2 MiB that are aligned to their size.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/i_compute_host.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// How many lines of one channel stand in a row, up to as many as the cycles from one issue of a
// wavefront to the next: accesses of 1, 2, ... of them take all remainders of that (probe.cl).
[[nodiscard]] unsigned lines_at_once(const AddressMap& address);

// `pinning` may be null: then places and latencies cannot be had.
class Prober {
 public:
  Prober(ComputeHost& host, const Pinning* pinning, std::function<void(double)> progress,
         std::size_t pages = 1)
      : host_(host), pinning_(pinning), progress_(std::move(progress)), pages_(pages) {
    macros_.target = kernel_target(host.facts().target);
    macros_.group_size = kernels::kPtxGroupSize;
  }

  // Allocates and finds the aligned region. Before anything else.
  Status set_up();
  // Sets up on memory that exists: zeros on `pages` from its byte `aligned` on. It must live as
  // long.
  Status set_up_on(DeviceBuffer& region, std::uint64_t aligned);
  // Where wavefronts run; 0 compute units: unknown. Errors bad_data: not pinned after all;
  // unsupported: the hardware ids do not distinguish places, as where kernels read zeros for them.
  Result<std::vector<TopologyPlace>> places(int compute_units);
  // Reports of the wavefronts, by wave; from the patched kernel or from the unpatched one.
  Result<std::vector<std::uint32_t>> wave_log(int compute_units, bool pinned);
  [[nodiscard]] std::size_t waves_per_group() const {
    return macros_.group_size / macros_.target.wave_size;
  }
  Result<AddressMap> address();
  // Ticks [place][line] of one repeat; `lines` are offsets in the region [bytes]. Each is timed
  // with its neighbours, up to `lines_at_once` in an access: a power of two up to 16 (probe.cl).
  Result<std::vector<std::vector<double>>> latencies(const std::vector<TopologyPlace>& places,
                                                     const std::vector<std::uint32_t>& lines,
                                                     unsigned lines_at_once = 1);
  [[nodiscard]] DeviceBuffer& region() { return *region_; }
  // Gives the memory away with its content; nothing can be probed afterwards.
  [[nodiscard]] std::unique_ptr<DeviceBuffer> take_region() { return std::move(own_region_); }
  // Offset of the first page in the region, and the region's address on the device.
  [[nodiscard]] std::uint64_t aligned() const { return aligned_; }
  [[nodiscard]] std::uint64_t address_of_region() const { return address_; }
  // Offset of a place in the region, in words of the buffer.
  [[nodiscard]] std::uint32_t word(std::uint64_t offset) const {
    return static_cast<std::uint32_t>((aligned_ + offset) / 4);
  }
  // Builds, and pins where said; kernel() also loads.
  Result<std::vector<std::byte>> binary(const char* name, bool pinned) const;
  Result<std::unique_ptr<LoadedKernel>> kernel(const char* name, bool pinned) const;
  void progress(double share) const {
    if (progress_) progress_(share);
  }
  [[nodiscard]] std::size_t wave_size() const { return macros_.target.wave_size; }
  // Every pair of addresses that was timed so far, in order.
  [[nodiscard]] std::vector<Contention>& contentions() { return contentions_; }

 private:
  Result<double> contend(std::uint64_t first, std::uint64_t second, std::uint32_t loops);

  ComputeHost& host_;
  const Pinning* pinning_;
  std::function<void(double)> progress_;
  kernels::Macros macros_;
  std::size_t pages_;
  std::size_t groups_{512};
  std::unique_ptr<DeviceBuffer> own_region_;
  DeviceBuffer* region_{};
  std::unique_ptr<DeviceBuffer> output_;
  std::unique_ptr<LoadedKernel> contend_;
  std::unique_ptr<LoadedKernel> probe_;
  std::uint64_t aligned_{};  // offset of the aligned region in its buffer
  std::uint64_t address_{};
  std::vector<Contention> contentions_;
};

// Lines to separate sides with: bases, each with every bit from 7 to 20 flipped, and lines to check
// with.
[[nodiscard]] std::vector<std::uint32_t> lines_for_sides();
inline constexpr int kLatencyRepeats = 3;

}  // namespace ww::microbench
