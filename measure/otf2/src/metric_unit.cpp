#include "metric_unit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace ww::otf2 {
namespace {

struct Prefix {
  std::string_view text;
  double factor;
};
constexpr Prefix kPrefixes[] = {
    {"", 1},    {"n", 1e-9}, {"u", 1e-6},    {"\u00b5", 1e-6}, {"\u03bc", 1e-6}, {"m", 1e-3},
    {"k", 1e3}, {"M", 1e6},  {"nano", 1e-9}, {"micro", 1e-6},  {"milli", 1e-3},  {"kilo", 1e3}};
constexpr std::string_view kWatts[] = {"W", "Watt", "Watts", "watt", "watts"};
constexpr std::string_view kJoules[] = {"J", "Joule", "Joules", "joule", "joules", "Ws"};

std::optional<MetricUnit> by_unit(std::string_view unit) {
  for (const Prefix& prefix : kPrefixes) {
    if (!unit.starts_with(prefix.text)) continue;
    const std::string_view rest = unit.substr(prefix.text.size());
    if (std::ranges::find(kWatts, rest) != std::end(kWatts)) return MetricUnit{true, prefix.factor};
    if (std::ranges::find(kJoules, rest) != std::end(kJoules)) {
      return MetricUnit{false, prefix.factor};
    }
  }
  return {};
}

// An event of PAPI: COMPONENT:::SOURCE, where the component may follow a plugin's own letters.
struct NamedUnit {
  std::string_view component;
  std::string_view event;   // begins so, after "hwmonN:" where there is one
  std::string_view ending;  // and ends so, before ":device=N" and the like
  MetricUnit unit;
};
constexpr NamedUnit kNamedUnits[] = {
    // rsmi_dev_power_ave_get, rsmi_dev_current_socket_power_get and rsmi_dev_energy_count_get
    {"rocm_smi", "power_average", "", {true, 1e-6}},
    {"rocm_smi", "current_socket_power", "", {true, 1e-6}},
    {"rocm_smi", "energy_count", "", {false, 1e-6}},
    // nvmlDeviceGetPowerUsage, nvmlDeviceGetTotalEnergyConsumption
    {"nvml", "power", "power", {true, 1e-3}},
    {"nvml", "total_energy_consumption", "", {false, 1e-3}},
    // Documentation/hwmon/sysfs-interface
    {"coretemp", "power", "_input", {true, 1e-6}},
    {"coretemp", "power", "_average", {true, 1e-6}},
    {"coretemp", "energy", "_input", {false, 1e-6}},
    // /sys/cray/pm_counters
    {"coretemp", "craypm:", "power", {true, 1}},
    {"coretemp", "craypm:", "energy", {false, 1}},
};

std::optional<MetricUnit> by_name(std::string_view name) {
  const auto colons = name.find(":::");
  if (colons == std::string_view::npos) return {};
  const std::string_view component = name.substr(0, colons);
  std::string_view event = name.substr(colons + 3);
  // "NVIDIA_A100:device_0:power" and "hwmon2:power1_input" begin with the card, "power:device=0"
  // ends with it.
  if (const auto device = event.find(":device="); device != std::string_view::npos) {
    event = event.substr(0, device);
  }
  if (const auto device = event.find(":device_"); device != std::string_view::npos) {
    event = event.substr(std::min(event.find(':', device + 1), event.size() - 1) + 1);
  }
  if (event.starts_with("hwmon")) event = event.substr(event.find(':') + 1);
  for (const NamedUnit& named : kNamedUnits) {
    if (component.ends_with(named.component) && event.starts_with(named.event) &&
        event.ends_with(named.ending)) {
      return named.unit;
    }
  }
  return {};
}

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

bool is_limit(std::string_view name) {
  const std::string text = lower(name);
  constexpr std::string_view kWords[] = {"_cap", "limit", "_max", "_min", "_crit"};
  return std::ranges::any_of(
      kWords, [&text](std::string_view word) { return text.find(word) != std::string::npos; });
}

}  // namespace

std::optional<MetricUnit> metric_unit(std::string_view name, std::string_view unit) {
  if (is_limit(name)) return {};
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  return unit.empty() || unit == "#" ? by_name(name) : by_unit(unit);
}

bool sounds_like_power(std::string_view name) {
  const std::string text = lower(name);
  return !is_limit(name) &&
         (text.find("power") != std::string::npos || text.find("energy") != std::string::npos);
}

}  // namespace ww::otf2
