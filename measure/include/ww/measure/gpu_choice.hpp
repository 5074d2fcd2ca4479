// Chooses which of a machine's GPUs a name means.
#pragma once

#include <cstddef>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {

// The index in `telemetry` of the GPU that a name means: "gpu:1" counts from 0 in that list,
// "pci:0000:03:00.0" is an address. An empty name means the first GPU that this process may open (a
// container or a batch system may show the sensors of others), a processor's own graphics last, and
// before that cards whose power cannot be read.
//
// Errors: missing_dependency (there is no such GPU); invalid_argument (not such a name; or the name
// is empty, several GPUs come into question, and a variable of the environment such as
// HIP_VISIBLE_DEVICES leaves the program only some of them: no sensor says which).
[[nodiscard]] Result<std::size_t> choose_gpu(const Telemetry& telemetry, const std::string& device);

// "AMD Instinct MI210 at 0000:03:00.0": machines have several cards of one name.
// The places of those whose device this process may open, as a batch system leaves a job its own:
// cards, or the graphics of a processor where there is no card. Where none may be opened, of all
// whose sensor can be read.
[[nodiscard]] std::vector<std::size_t> gpus_of_this_process(const Telemetry& telemetry);

[[nodiscard]] std::string name_with_address(const TelemetryGpu& gpu);

}  // namespace ww::measure
