// Settings of the driver from outside: the variables WIREWATT_* that users set, and the settings
// that a command of wirewatt passes (ww/sim/driver_settings.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/runtime/approximations.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/driver_settings.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

struct Settings {
  gpu::ChipRequest chip;
  std::optional<gpu::TimingRequest> timing;  // timing mode
  std::vector<ApproximationRule> approximations;
  gpu::Options options;
  int compile_timeout_ms{120'000};
  std::string counters_file;  // where the counters of every dispatch go; empty: nowhere
  std::string trace_file;
  std::string samples_file;  // every reading of the power sensor
  DriverSettings passed;     // %p in names of files is replaced
};

// Reads WIREWATT_CHIP, WIREWATT_CHIP_SEED, WIREWATT_CHIP_CLASS, WIREWATT_NOISE_SEED,
// WIREWATT_THREADS, WIREWATT_SPEED, WIREWATT_COMPILE_TIMEOUT_MS, WIREWATT_COUNTERS, WIREWATT_TRACE,
// WIREWATT_SAMPLES (files; %p in their names is the process id), WIREWATT_ON_FAULT, WIREWATT_CHECK,
// WIREWATT_WATCHDOG_MCYCLES, WIREWATT_MODE, WIREWATT_NETWORK for timing mode, and the file that
// WIREWATT_SETTINGS names. Errors: invalid_argument naming variable or key, and value; those of
// read_driver_settings; not_found, io_error for the file of timing mode.
[[nodiscard]] Result<Settings> settings_from_environment();

// Whether WIREWATT_CHECK asks for checks.
[[nodiscard]] bool checking();

// The file name with %p replaced by the process id.
[[nodiscard]] std::string recording_name(std::string name);

}  // namespace ww::sim::driver
