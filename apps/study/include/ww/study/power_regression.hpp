// Measured watts of kernels against their traffic: is an interconnect term identifiable?
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ww/core/result.hpp"

namespace ww::study {

// Reads hw_perf.csv and measured_power_volta_pascal_turing.csv of AccelWattch's validation set
// (GV100) from a folder and regresses watts on the rates of L1, L2, interconnect and DRAM sectors a
// cycle and of instructions. Errors: those of reading; bad_data.
[[nodiscard]] Result<nlohmann::json> regress_accelwattch(const std::filesystem::path& folder);

}  // namespace ww::study
