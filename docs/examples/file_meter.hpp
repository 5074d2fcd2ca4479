#pragma once

#include <filesystem>
#include <memory>

#include "ww/core/result.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::examples {

// Errors: not_found, permission_denied.
Result<std::unique_ptr<ww::measure::PowerSource>> open_file_meter(
    const std::filesystem::path& file);

}  // namespace ww::examples
