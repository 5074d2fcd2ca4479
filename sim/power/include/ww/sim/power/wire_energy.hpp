// Energy of a millimetre of wire, as it was fitted on a card, and as it scales to other nodes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"

namespace ww::sim::power {

struct WireEnergy {
  FemtojoulePerBitMillimetre per_toggle{};  // one bit changing; random data: half as much per bit
  std::string source;
};

// Energy of a wire of fixed length relative to 28 nm: Villa et al., SC'14, table II (28, 20, 14,
// 10, 7 nm), interpolated in log(node). Above 28 nm the wire's capacitance per mm is constant and
// the supply counts squared (1.0 V at 45 nm, 0.9 V at 28 and 32 nm). Error out_of_range, key node,
// outside 7 to 45 nm.
[[nodiscard]] Result<double> wire_scale_from_28nm(double node_nm);

// Energy of a wire at one node relative to that at the node of the card that was calibrated, which
// no model.json has: it must be given, and is absent where nobody knows it. Errors:
// invalid_argument, key card_node (it is absent); those of wire_scale_from_28nm where the nodes
// differ.
[[nodiscard]] Result<double> wire_scale(std::optional<double> card_node_nm, double node_nm);

// The fitted wire of a model.json (energy_fj_per_bit_mm with its convention), scaled from the
// card's node to `node_nm`; without `node_nm` it stays as it was fitted. Errors: parse_error (not a
// model, unknown convention), bad_data when the constant was not identified, those of wire_scale.
[[nodiscard]] Result<WireEnergy> wire_from_model(const nlohmann::json& model,
                                                 std::optional<double> card_node_nm,
                                                 std::optional<double> node_nm);

}  // namespace ww::sim::power
