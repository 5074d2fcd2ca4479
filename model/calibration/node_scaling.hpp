// Energies of wires at another technology node.
#pragma once

#include <optional>

#include "ww/calibration/calibration.hpp"
#include "ww/model/technology.hpp"

namespace ww::calibration {

inline constexpr const char* kUnknownCardNode =
    "the node of the card is not known; give it with --card-node";

// Energy of a wire of unchanged length at the request's node over that at the card's; nothing where
// the card's node is not known.
[[nodiscard]] inline std::optional<double> wire_factor(const model::NodeScaling& scaling,
                                                       const ProjectRequest& request) {
  if (!request.card_node_nm) return std::nullopt;
  return model::relative_to_28nm(scaling.wire, request.node_nm) /
         model::relative_to_28nm(scaling.wire, *request.card_node_nm);
}

}  // namespace ww::calibration
