// IISWC'16: the figures of a calibration and of the paper's applications, beside the paper's.
#pragma once

#include <functional>
#include <string>

#include "iiswc16/application.hpp"
#include "reproduction/reproduction.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::study::iiswc16 {

// Figures 4 to 9 and Tables I and II, from a calibration's model.json and the data sheet of its
// virtual chip.
void add_characterisation(Reproduction& out, const nlohmann::json& model,
                          const sim::gpu::Architecture& chip);

// Table III and figures 10 to 14: every application of the paper on the virtual W9100, estimated
// with the calibration's constants. `done(name, runs, of)` is called after each run.
Status add_applications(Reproduction& out, const std::string& model_file,
                        const ApplicationsRequest& request,
                        const std::function<void(const std::string&, double, double)>& done);

// The rows and charts of applications that ran.
void add_application_rows(Reproduction& out, const ApplicationRuns& runs);

// The paper's headlines, from rows that are there already.
void add_iiswc16_summary(Reproduction& out);

}  // namespace ww::study::iiswc16
