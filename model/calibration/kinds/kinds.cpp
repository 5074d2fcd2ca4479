#include "kinds/kinds.hpp"

#include <array>

namespace ww::calibration {
namespace {

constexpr std::array<std::string_view, 4> kWiresFitOptions{"--seed", "--no-temperature-correction",
                                                           "--swap-paths", "--without"};

// clang-format off
constexpr std::array<Kind, 4> kKinds{{
    {"crossings", "crossing.json", "energy_pj_per_bit_crossing", "crossing", "crossings", {}, parse_crossings, fit_crossings},
    {"ladder", "ladder.json", "ladder_pj_per_bit", "ladder", "a ladder", {}, parse_ladder, fit_ladder},
    {"package", "model.json", "hop_classes", "chiplet", "a package's dies", {}, parse_package, fit_package},
    {"wires", "model.json", "", "", "wires", kWiresFitOptions, parse_wires, fit_wires}}};
// clang-format on

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

}  // namespace ww::calibration
