// Tables with sources: published wire energies, scaling factors, and data sheets of devices.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::model {

// A published energy of on-chip wires.
struct WireSource {
  std::string_view name;
  double node_nm{};
  double voltage_v{};
  double energy_fj_per_bit_mm{};  // as published
  Convention convention{};
  std::string_view source;
  // Energy per random bit at that voltage, which is half of the energy of a transition.
  [[nodiscard]] double per_random_bit() const {
    return convention == Convention::per_transition ? energy_fj_per_bit_mm / 2
                                                    : energy_fj_per_bit_mm;
  }
};
[[nodiscard]] std::span<const WireSource> wire_sources();

// Energy per random bit at `node_nm` and `voltage_v`: the geometric mean of the sources, each
// scaled with V^2. Wire capacitance per mm hardly changes with the node (147 to 161 fF/mm from 45
// to 11 nm in DSENT). The interval spans from the lowest to the highest source. Errors:
// out_of_range (node outside 3 to 90 nm, voltage outside 0.3 to 1.5 V).
[[nodiscard]] Result<Interval> literature_energy(double node_nm, double voltage_v);

// Nominal core voltage of a node [V], used if nothing better is known.
[[nodiscard]] double nominal_voltage(double node_nm);

// A device as its data sheet describes it.
struct DeviceSheet {
  std::string_view architecture;  // "gfx90a", "sm_70"
  std::string_view name;
  double node_nm{};
  double die_mm2{};  // area of the die with compute units and L2
  bool chiplets{};   // L2 and memory controllers on different dies
  double clock_mhz{};
  double graphics_share{1};   // of the die, where it has processor cores beside
  bool estimated{};           // at least one of these figures has no source
  std::string_view source{};  // of parts added since 2026; else the maker's data sheet
};
[[nodiscard]] const DeviceSheet* device_sheet(std::string_view architecture);
// Returns "; did you mean 'gfx90a' (AMD Aldebaran, one die (MI200))?" for a misspelt architecture
// or for a card's name, as "mi210"; empty where no part is meant for certain.
[[nodiscard]] std::string architecture_hint(std::string_view text);

// Request of a wire model without a calibration. It has literature_energy(), and the distances of
// the W9100 scaled with the die's side, +-50%. Errors: not_found (there is no data sheet for the
// architecture, so node, voltage and floorplan must be given), out_of_range.
struct LiteratureRequest {
  std::string architecture;
  std::optional<double> node_nm;
  std::optional<double> voltage_v;
};
[[nodiscard]] Result<WireModel> literature_model(const LiteratureRequest& request);

// Energy at another node relative to 28 nm: of a wire of fixed length, and of the rest of a chip.
struct NodeScaling {
  std::string_view name;
  double node_nm{};
  double wire{};   // energy of a wire of unchanged length, relative to 28 nm
  double logic{};  // energy of everything else
  std::string_view source;
  [[nodiscard]] double wire_to_logic() const { return wire / logic; }
};
[[nodiscard]] std::span<const NodeScaling> node_scalings();
// Energy relative to 28 nm at a node between 7 nm and 28 nm, or a little beyond: a straight line
// over the logarithms of node and energy.
[[nodiscard]] double relative_to_28nm(double at_7nm, double node_nm);

// Factor r between wire and logic. It is chosen so that IISWC'16's 14.3% at 28 nm becomes the 21.9%
// that it states for 7 nm, so it cannot confirm that figure.
inline constexpr double kPaperWireToLogic = 1.68;
// A share s of the dynamic power becomes r s / (1 + (r - 1) s) when wires shrink r times less than
// the rest.
[[nodiscard]] double projected_share(double share, double wire_to_logic);

}  // namespace ww::model
