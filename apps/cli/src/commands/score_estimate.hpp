// The estimate of a program's interconnect energy beside the sealed truth of the same run. The
// estimate itself never reads what is sealed.
#pragma once

#include <string>
#include <vector>

#include "ww/calibration/answer.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::cli {

// Runs the program on the virtual device that the model is of. Errors: those of the estimate;
// bad_data where the program failed.
[[nodiscard]] Result<calibration::Answer> score_estimate(const std::string& model,
                                                         const microbench::DeviceRequest& device,
                                                         const std::vector<std::string>& command);

}  // namespace ww::cli
