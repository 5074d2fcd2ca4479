// Sensor and counters of the virtual GPU, through its driver's C ABI (ww/core/vgpu_abi.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ww/core/result.hpp"
#include "ww/core/vgpu_abi.h"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

// The ABI of the driver that the OpenCL loader has already loaded into this process. The driver is
// never loaded here: a process that did not ask for a virtual GPU shall not get one. Errors:
// not_found if it is not loaded, unsupported if it has another version.
[[nodiscard]] Result<const ww_vgpu_abi*> find_virtual_abi(const std::filesystem::path& library);

// The catalogue of the driver at `library`, which is loaded for it; no chip is powered on. Errors:
// missing_dependency if it cannot be loaded, unsupported if it has another version.
[[nodiscard]] Result<const ww_vgpu_catalog*> open_virtual_catalog(
    const std::filesystem::path& library);

// The sensor and the counters keep a reference to `abi`, which lives as long as the driver is
// loaded.
[[nodiscard]] std::unique_ptr<Sensor> make_virtual_sensor(const ww_vgpu_abi& abi);
[[nodiscard]] std::unique_ptr<Counters> make_virtual_counters(const ww_vgpu_abi& abi);

}  // namespace ww::measure
