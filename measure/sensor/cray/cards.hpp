// Which of the node's accelerators a card is.
#pragma once

#include <cstddef>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {

// Errors: those of cray_accelerator.
[[nodiscard]] Result<std::size_t> cray_accelerator_of(const TelemetryGpu& gpu,
                                                      const std::string& folder,
                                                      const std::string& sysfs);

}  // namespace ww::measure
