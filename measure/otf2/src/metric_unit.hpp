// Tells from a metric's name and unit whether it is a power or an energy.
#pragma once

#include <optional>
#include <string_view>

namespace ww::otf2 {

struct MetricUnit {
  bool is_power{};   // else energy since some start
  double to_base{};  // watts or joules of one
};

// Reads the unit ("mW", "uJ", "Joules"). PAPI's metrics have "#"; their unit is that of the source
// they name: AMD's and NVIDIA's libraries, Linux's hwmon files, the node's files of a Cray.
// Limits and caps are no readings. Empty: neither power nor energy, or nothing known of its unit.
[[nodiscard]] std::optional<MetricUnit> metric_unit(std::string_view name, std::string_view unit);

// Whether the name speaks of power or energy, so that one who looks for it is told why it is not
// there.
[[nodiscard]] bool sounds_like_power(std::string_view name);

}  // namespace ww::otf2
