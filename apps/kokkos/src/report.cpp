#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ww::kokkos {
namespace {

using nlohmann::json;

constexpr const char* kSegments[WIREWATT_SEGMENTS] = {"registers-L1", "L1-L2", "L2-memory"};

std::string text_of(const Sum& sum) {
  if (sum.with == 0) return "none: " + sum.reason;
  const std::string part =
      sum.without == 0 ? ""
                       : fmt::format(" of {} of {} launches", sum.with, sum.with + sum.without);
  return fmt::format("{:.4g} ({:.4g}..{:.4g}){}", sum.value, sum.low, sum.high, part);
}

// Where no segment has a figure, that of L1-L2 says why.
std::string wires_of(const Label& label) {
  return text_of(label.wires.with > 0 ? label.wires : label.segments[WIREWATT_L1_L2]);
}

json json_of(const Sum& sum) {
  if (sum.with == 0) return {{"value", nullptr}, {"reason", sum.reason}};
  return {{"value", sum.value},    {"low", sum.low},         {"high", sum.high},
          {"stretches", sum.with}, {"missing", sum.without}, {"reason", sum.reason}};
}

}  // namespace

std::string table_of(const LabelJoules& joules) {
  if (joules.labels().empty()) return "wirewatt: no kernel of Kokkos ran\n";
  if (joules.device().empty()) return "wirewatt: nothing measured: " + joules.trouble() + "\n";
  std::string text = fmt::format(
      "wirewatt: joules by label on {}{}\n", joules.device(),
      joules.is_virtual() ? " (virtual, not a measurement)" : ", above the power at rest");
  if (!joules.trouble().empty()) text += "wirewatt: " + joules.trouble() + "\n";
  std::vector<const std::pair<const std::string, Label>*> order;
  for (const auto& entry : joules.labels()) order.push_back(&entry);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* entry) { return entry->second.device.value; });
  for (const auto* entry : order) {
    const auto& [name, label] = *entry;
    text +=
        fmt::format("  {}: {} launches, {:.4g} s\n    device [J]: {}\n    wires [J]: {}\n", name,
                    label.launches, label.seconds, text_of(label.device), wires_of(label));
    if (label.overlapping > 0) {
      text += fmt::format("    {} launches ran beside another one and are in no figure\n",
                          label.overlapping);
    }
  }
  return text;
}

nlohmann::json json_of(const LabelJoules& joules) {
  json labels = json::array();
  for (const auto& [name, label] : joules.labels()) {
    json segments = json::object();
    for (int s = 0; s < WIREWATT_SEGMENTS; ++s) segments[kSegments[s]] = json_of(label.segments[s]);
    labels.push_back({{"label", name},
                      {"launches", label.launches},
                      {"unmeasured", label.overlapping},
                      {"time_s", label.seconds},
                      {"device_j", json_of(label.device)},
                      {"wires_j", json_of(label.wires)},
                      {"segments_j", segments}});
  }
  return {{"format", "wirewatt-kokkos/1"},
          {"device", joules.device()},
          {"virtual", joules.is_virtual()},
          {"trouble", joules.trouble()},
          {"labels", labels}};
}

}  // namespace ww::kokkos
