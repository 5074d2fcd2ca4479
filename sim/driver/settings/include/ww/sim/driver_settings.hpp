// Settings that a command passes to the virtual GPU's driver, in this process or in the programs
// that it starts. The variables WIREWATT_* are for users; all else stands in one TOML file, which
// WIREWATT_SETTINGS names (docs/driver.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim {

// Each field is a key of the file, by the same name. Files are named in full; %p in their names is
// the process id. What is empty is not asked for.
struct DriverSettings {
  bool progress{};             // a line on the terminal while a launch lasts
  bool trace_values{true};     // the trace has the values that loads and stores move
  std::string counters_aside;  // rows of each launch as soon as it ends, while the program runs
  std::string trace_aside;     // accesses, likewise
  std::string live;            // the feed of a watcher
  std::string mistakes;        // launches stopped, mistakes with memory
  std::string sealed_energy;   // where the energy went, for `wirewatt score` alone
  // For timing mode.
  std::string timing;                      // the system's settings
  std::vector<std::string> timing_keys;    // KEY=VALUE over those of the file
  std::string timing_report;               // written at the end
  std::optional<double> approx_threshold;  // percent, 0 to 100
  std::vector<std::string> approx;         // KERNEL.ARGUMENT:TYPE or #N:TYPE
};

// The settings of the file that WIREWATT_SETTINGS names; without the variable, the defaults.
// Errors: not_found, io_error; parse_error and out_of_range with file, line and key.
[[nodiscard]] Result<DriverSettings> read_driver_settings();

// Writes such a file, for a program that is to be given it. Errors: io_error.
Status write_driver_settings(const std::filesystem::path& file, const DriverSettings& settings);

// Passes the settings to the driver of this process, and to those of programs that it starts, while
// the object lives. Then WIREWATT_SETTINGS is again what it was before.
class ScopedDriverSettings {
 public:
  // Errors: io_error.
  [[nodiscard]] static Result<ScopedDriverSettings> apply(const DriverSettings& settings);

  ScopedDriverSettings(ScopedDriverSettings&& other) noexcept;
  ScopedDriverSettings& operator=(ScopedDriverSettings&&) = delete;
  ~ScopedDriverSettings();

 private:
  explicit ScopedDriverSettings(ScratchFolder folder) : folder_(std::move(folder)) {}

  std::optional<ScratchFolder> folder_;
  std::optional<std::string> before_;
};

}  // namespace ww::sim
