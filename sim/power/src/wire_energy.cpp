#include "ww/sim/power/wire_energy.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ww::sim::power {
namespace {

struct ScaleRow {
  double node_nm, energy;
};
constexpr std::array kWireScale{ScaleRow{7, 0.46},
                                ScaleRow{10, 0.62},
                                ScaleRow{14, 0.75},
                                ScaleRow{20, 0.89},
                                ScaleRow{28, 1.0},
                                ScaleRow{32, 1.0},
                                ScaleRow{45, 1.0 / (0.9 * 0.9)}};

}  // namespace

Result<double> wire_scale_from_28nm(double node_nm) {
  if (!(node_nm >= kWireScale.front().node_nm && node_nm <= kWireScale.back().node_nm)) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("node {} nm is outside 7 to 45 nm, where wire scaling is known", node_nm),
        "node");
  }
  std::size_t above = 1;
  while (kWireScale[above].node_nm < node_nm) {
    ++above;
  }
  const ScaleRow& low = kWireScale[above - 1];
  const ScaleRow& high = kWireScale[above];
  const double share = std::log(node_nm / low.node_nm) / std::log(high.node_nm / low.node_nm);
  return low.energy * std::pow(high.energy / low.energy, share);
}

Result<double> wire_scale(std::optional<double> card_node_nm, double node_nm) {
  if (!card_node_nm) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the node of the card that was calibrated is not known, so its wires "
                            "cannot be scaled to {:g} nm; give it with --card-node",
                            node_nm),
                "card_node");
  }
  if (*card_node_nm == node_nm) {
    return 1.0;
  }
  WW_ASSIGN(from_scale, wire_scale_from_28nm(*card_node_nm));
  WW_ASSIGN(to_scale, wire_scale_from_28nm(node_nm));
  return to_scale / from_scale;
}

Result<WireEnergy> wire_from_model(const nlohmann::json& model, std::optional<double> card_node_nm,
                                   std::optional<double> node_nm) {
  if (model.is_object() && model.contains("hop_classes")) {
    return fail(ErrorCode::unsupported,
                "the model has energies per bit of the ways between dies; a network needs the "
                "wires of one die",
                "hop_classes");
  }
  const auto constant = model.find("energy_fj_per_bit_mm");
  if (!model.is_object() || constant == model.end() || !constant->is_object()) {
    return fail(ErrorCode::parse_error, "no object energy_fj_per_bit_mm: not a model.json",
                "energy_fj_per_bit_mm");
  }
  const auto value = constant->find("value");
  if (value == constant->end() || !value->is_number()) {
    const std::string reason = constant->contains("reason") && (*constant)["reason"].is_string()
                                   ? (*constant)["reason"].get<std::string>()
                                   : "it has no value";
    const bool per_ns = model.contains("energy_fj_per_bit_ns");
    return fail(ErrorCode::bad_data,
                "the fit did not identify the wire's energy: " + reason +
                    (per_ns ? ". A link has millimetres, so energy per nanosecond gives it none: "
                              "give the model of a die with a floorplan, or none for published "
                              "wires (--node)"
                            : ""),
                "energy_fj_per_bit_mm.value");
  }
  const auto convention = constant->find("convention");
  const std::string how = convention != constant->end() && convention->is_string()
                              ? convention->get<std::string>()
                              : "";
  if (how != "per_random_bit" && how != "per_transition") {
    return fail(ErrorCode::parse_error,
                fmt::format("convention '{}' is neither per_random_bit nor per_transition", how),
                "energy_fj_per_bit_mm.convention");
  }
  if (value->get<double>() < 0) {
    return fail(ErrorCode::bad_data, "the energy of a wire cannot be negative",
                "energy_fj_per_bit_mm.value");
  }
  const double per_toggle = value->get<double>() * (how == "per_random_bit" ? 2.0 : 1.0);
  const auto device = model.find("device");
  WireEnergy wire;
  wire.source = fmt::format("fitted on {}", device != model.end() && device->is_string()
                                                ? device->get<std::string>()
                                                : "a chip");
  double scale = 1;
  if (node_nm) {
    WW_ASSIGN(known_scale, wire_scale(card_node_nm, *node_nm));
    scale = known_scale;
    wire.source += fmt::format(", {:g} nm, scaled to {:g} nm (Villa et al., SC'14, table II)",
                               *card_node_nm, *node_nm);
  } else {
    wire.source += ", at its own node";
  }
  wire.per_toggle = FemtojoulePerBitMillimetre(per_toggle * scale);
  return wire;
}

}  // namespace ww::sim::power
