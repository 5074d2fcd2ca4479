// Declares the checks of requests that all kinds share, and words of their answers.
#pragma once

#include <string>
#include <vector>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

// Error out_of_range: the toggle rate of the application's data lies outside 0 to 1.
Status check_toggle_rate(const EstimateRequest& request);
// Error out_of_range: a share that moves lies outside 0 to 100%.
Status check_moved(const ProjectRequest& request);
// Returns the shares asked for, else 10, 25 and 50.
[[nodiscard]] std::vector<double> moved_percent(const ProjectRequest& request);

// "1 kernel", "2 kernels".
[[nodiscard]] std::string counted(std::size_t count, const char* one, const char* many);
// The line that stands before marked figures.
[[nodiscard]] std::string misfit_line(const std::string& reason);

// A list of controls, each an object {name, passed, detail}, as a table.
[[nodiscard]] Table controls_table(const nlohmann::json& document);

}  // namespace ww::calibration
