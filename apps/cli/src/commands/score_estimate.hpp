// The estimate of a program's interconnect energy beside the sealed truth of the same run. The
// estimate itself never reads what is sealed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::cli {

// Runs the program on the virtual device that the model is of. Errors: those of the estimate;
// bad_data where the program failed.
[[nodiscard]] Result<nlohmann::json> score_estimate(const std::string& model,
                                                    const microbench::DeviceRequest& device,
                                                    const std::vector<std::string>& command);
void print_score_estimate(const nlohmann::json& result);

}  // namespace ww::cli
