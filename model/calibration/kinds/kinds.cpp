#include "kinds/kinds.hpp"

#include <array>

namespace ww::calibration {
namespace {

constexpr std::array<std::string_view, 4> kWiresFitOptions{"--seed", "--no-temperature-correction",
                                                           "--swap-paths", "--without"};

// clang-format off
constexpr std::array<Kind, 3> kKinds{{
    {"crossings", "crossing.json", "energy_pj_per_bit_crossing", "crossing", "crossings", {}, parse_crossings, fit_crossings},
    {"package", "model.json", "hop_classes", "chiplet", "a package's dies", {}, parse_package, fit_package},
    {"wires", "model.json", "", "", "wires", kWiresFitOptions, parse_wires, fit_wires}}};
// clang-format on

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

}  // namespace ww::calibration
