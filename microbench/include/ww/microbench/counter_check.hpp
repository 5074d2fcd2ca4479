// Checks the counters of a device with the known-bytes kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/mapping_check.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

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
