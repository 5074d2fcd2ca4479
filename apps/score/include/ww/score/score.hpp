// Compares fits with the sealed truth of virtual chips. Only this room opens the seal, and only
// after a fit.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::score {

// Scores the folder of a calibration, of a ladder, of single segments or of classes of
// instructions. Errors: those of reading it, unsupported (it was recorded on a real device).
[[nodiscard]] Result<calibration::Answer> score_folder(const std::filesystem::path& folder);

// The virtual chip on which the campaign of that folder ran. Errors: as above.
[[nodiscard]] Result<microbench::DeviceRequest> chip_of_campaign(
    const std::filesystem::path& folder);

// Sums the columns of joules of the tables that the driver wrote of a program's sealed energies.
// Each process has written a table with a header of its own. Error parse_error: no header, or not a
// number.
[[nodiscard]] Result<std::map<std::string, double>> sealed_sums(std::string_view tables);

}  // namespace ww::score
