// Checks the counters of a device with the known-bytes kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/mapping_check.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// The known-bytes kernel on two buffers: each launch reads all of one and writes all of the other.
class KnownCopy {
 public:
  // `bytes` are rounded down to whole work-groups. Errors of the host; invalid_argument (too few).
  [[nodiscard]] static Result<KnownCopy> make(ComputeHost& host, std::size_t bytes);
  // That each launch moves each way.
  [[nodiscard]] std::size_t bytes() const { return content_.size(); }
  Status fill(std::uint64_t seed);  // new random data to copy
  Status launch();                  // queued
  Status launch_and_wait();
  [[nodiscard]] Result<double> time_launch();  // by the device's own events [s]
  [[nodiscard]] Status check();                // error bad_data where the last copy is wrong

 private:
  explicit KnownCopy(ComputeHost& host) : host_(&host) {}
  [[nodiscard]] std::size_t groups() const;
  ComputeHost* host_;
  std::unique_ptr<DeviceBuffer> from_, to_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::vector<std::byte> content_;
};

// Copies `bytes` (rounded down to whole work-groups) `runs` times with the known-bytes kernel, new
// data each time, and returns how many bytes each copy moved each way. Errors of the host and of
// `after_each`; bad_data when the last copy is wrong.
[[nodiscard]] Result<std::size_t> copy_known_bytes(ComputeHost& host, std::size_t bytes, int runs,
                                                   const std::function<Status(int)>& after_each);

// Copies `bytes` (four times the L2 or more makes traffic beyond it known) `runs` times and judges
// the counter mapping of the device's target. `l2_bytes`: 0 where it is not known. Errors of host
// and counters; bad_data when the copy is wrong.
[[nodiscard]] Result<std::vector<measure::MappingCheck>> check_counter_mapping(
    ComputeHost& host, const measure::Counters& counters, std::int64_t l2_bytes, std::size_t bytes,
    int runs);

}  // namespace ww::microbench
