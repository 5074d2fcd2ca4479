// The known-bytes kernel on a device with counters of its own.
#pragma once

#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/mapping_check.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// Copies `bytes` (16 times the L2 or more makes traffic beyond it known) `runs` times and judges
// the counter mapping of the device's target. Errors of host and counters; bad_data when the copy
// is wrong.
[[nodiscard]] Result<std::vector<measure::MappingCheck>> check_counter_mapping(
    ComputeHost& host, const measure::Counters& counters, std::size_t bytes, int runs);

}  // namespace ww::microbench
