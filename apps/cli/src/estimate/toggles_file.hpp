// The file of `wirewatt toggles`: how often a program's data toggle, kernel by kernel, as the
// virtual GPU's monitors counted them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "traffic.hpp"
#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

// {"format": "wirewatt-toggles/1", "device", "virtual": true, "command", "all": {bytes,
// toggle_rate, coupling_per_toggle}, "kernels": [{"kernel", ...}]}. Of L1-L2 traffic: toggles per
// payload bit, and 2 opposite - adjacent per toggle. Error bad_data: no kernel moved anything that
// monitors saw.
[[nodiscard]] Result<nlohmann::json> toggles_json(const CountedTraffic& traffic,
                                                  const std::string& device,
                                                  const std::vector<std::string>& command);

// Sets what an estimate assumes of the data: a kernel's own toggles by its name, and those of all
// kernels together for any other. Errors: not_found, parse_error, bad_data with the file's name.
Status use_toggles(model::EstimateOptions& options, const std::string& file);

// Sets what an estimate assumes of the data of all kernels: what dumps of the program's buffers do
// to a bus (model::data_of_dumps). Errors: not_found with the file's name, bad_data.
Status use_dumps(model::EstimateOptions& options, const std::vector<std::string>& files);

}  // namespace ww::cli
