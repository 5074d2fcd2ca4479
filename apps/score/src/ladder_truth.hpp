// Compares a ladder with the marginal joules of the same launches by the sealed ledger.
#pragma once

#include <filesystem>

#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::score {

struct LadderTruth {
  calibration::Revealed revealed;
  double voltage_v{};  // the core's, in the mean of the launches
};

// The truth of a ladder that was recorded in `recording`. Its launches run again, in a process of
// their own whose driver writes down where their energy went. A level's energy is then found as
// the fit finds it, by the growth of power with the rate, from powers without noise and heat, all
// at the voltage that the core has in the mean of them. Errors: those of the recording and of
// running it.
[[nodiscard]] Result<LadderTruth> ladder_truth(const std::filesystem::path& recording,
                                               const nlohmann::json& ladder,
                                               const microbench::DeviceRequest& device,
                                               const sim::gpu::Chip& chip);

}  // namespace ww::score
