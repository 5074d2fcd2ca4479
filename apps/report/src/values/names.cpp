#include "values/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ww::report {
namespace {

// By the key without its unit.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kNames{{
    {"energy", "energy along the way, random bits (the answer)"},
    {"wire_energy", "of it the wires alone"},
    {"zero_toggle_intercept", "energy of bits that do not toggle"},
    {"toggle_slope", "energy of a transition, beyond that"},
    {"throttled_energy", "energy along the way at lower rates"},
    {"coupling", "of the energy: what neighbouring wires couple"},
    {"neighbour_coupling", "coupling, from equal and opposite neighbours"},
    {"value", "energy of a zero bit beyond that of a one"},
    {"ones_intercept", "energy of bits that are all ones"},
    {"aa_intercept", "energy of bits 0xAA"},
    {"registers_l1_energy", "energy along the way, registers to L1"},
    {"l2_memory_energy", "energy along the way, L2 to memory"},
    {"lock_in_energy", "the answer by lock-in alone"},
    {"plateau_energy", "the answer by plateaus alone"},
    {"voltage_exponent_along_curve", "exponent of the voltage, along the clock states"},
    {"voltage_exponent", "exponent of the voltage alone"},
    {"frequency_exponent", "exponent of the frequency alone"},
    {"zero_data", "energy of zeros"},
    {"data_part", "of the energy: what depends on the data"},
    {"uncorrected", "energy without the correction for temperature"},
    {"combined", "the answer by both ways together"},
}};

constexpr std::array<std::string_view, 10> kUnits{"_fj_per_bit_mm",        "_fj_per_bit_ns",
                                                  "_fj_per_zero_bit_mm",   "_fj_per_zero_bit_ns",
                                                  "_fj_per_transition_mm", "_fj_per_transition_ns",
                                                  "_pj_per_bit_crossing",  "_pj_per_bit_cycle",
                                                  "_pj_per_bit",           "_fj_per_bit"};

}  // namespace

std::string constant_name(std::string_view key) {
  std::string_view stem = key;
  for (const std::string_view unit : kUnits) {
    if (!stem.ends_with(unit)) continue;
    stem.remove_suffix(unit.size());
    break;
  }
  const auto* found = std::ranges::find(kNames, stem, [](const auto& name) { return name.first; });
  if (found != kNames.end()) return std::string(found->second);
  return in_words(stem);
}

std::string plain_name(std::string_view metric) {
  const std::string name = metric_name(metric);
  return name == metric ? name : name.substr(0, name.find(" ["));
}

std::string segment_name(std::string_view key) {
  std::string text(key);
  for (const auto& [from, to] : {std::pair{"registers_l1", "registers–L1"},
                                 {"l2_memory", "L2–memory"},
                                 {"l1_l2", "L1–L2"}}) {
    const std::string_view name = from;
    if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), to);
  }
  return text;
}

std::string in_words(std::string_view key) {
  std::string words(key);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string metric_name(std::string_view metric) {
  for (const SimulatedFigure& one : kSimulated) {
    if (metric == one.key) return std::string(one.name) + " [" + one.unit + "]";
  }
  constexpr std::string_view kEnergies = "energy_pj.";
  if (!metric.starts_with(kEnergies)) return std::string(metric);
  const std::string part = in_words(metric.substr(kEnergies.size()));
  return (part == "total" ? "energy, all together" : "energy of " + part) + " [pJ]";
}

}  // namespace ww::report
