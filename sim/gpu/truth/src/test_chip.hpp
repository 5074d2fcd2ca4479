// Makes the W9100 with some keys changed, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "builtin_chips.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

using Changes = std::vector<std::pair<std::string, std::string>>;  // key, new value

inline std::string w9100_text(const Changes& changes) {
  std::string text = "\n" + std::string(*builtin_chip_toml("w9100"));
  for (const auto& [key, value] : changes) {
    const std::string head = "\n" + key + " = ";
    for (auto at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
      text.replace(at, text.find('\n', at + 1) - at, head + value);
    }
  }
  return text;
}

inline Result<Chip> load_text(const std::string& text) {
  const auto folder = ScratchFolder::create("chip").value();
  const auto file = folder.path() / "chip.toml";
  std::ofstream(file) << text;
  return Chip::load({.chip = file.string()});
}

inline Chip w9100_with(const Changes& changes) {
  return load_text(w9100_text(changes)).value();
}

// A sensor that reports the true power of a chip that neither leaks, droops nor drifts.
inline Changes plain() {
  return {{"reference_w", "0.0"},
          {"idle_cycle_pf", "0.0"},
          {"cycle_pf", "0.0"},
          {"load_line_mohm", "0.0"},
          {"offset_w", "0.0"},
          {"slope", "1.0"},
          {"quadratic_per_w", "0.0"},
          {"gain", "1.0"},
          {"noise_relative", "0.0"},
          {"wander_relative", "0.0"},
          {"outlier_probability", "0"},
          {"sensor_noise_c", "0.0"},
          {"voltage_noise_mv", "0.0"},
          {"voltage_requested", "false"},
          {"ambient_wander_c", "0.0"},
          {"ambient_drift_c_per_hour", "0.0"},
          {"sensor_offset_c", "0.0"},
          {"resolution_w", "0.00001"},
          {"sensor_resolution_c", "0.001"},
          {"voltage_resolution_mv", "0.001"}};
}

}  // namespace ww::sim::gpu
