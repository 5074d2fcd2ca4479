// The technology node of the card that a calibration is of: what its wires are scaled from. A
// model.json does not have it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::cli {

// --card-node, which is the same in every command that scales a calibration's wires.
CLI::Option* add_card_node_option(CLI::App& command, std::string& card_node);

inline constexpr const char* kUnknownCardNode =
    "the node of the card is not known; give it with --card-node";

// A node as `option` has it: "7nm" or "7", 3 to 28. Error invalid_argument, key `option`.
[[nodiscard]] Result<double> node_of(const std::string& text, std::string_view option);

// The node [nm] of the card: `card_node` as --card-node has it, else that of the data sheet of the
// architecture, which is `target` ("sm_80") or that of a virtual `device`. Nothing where all are
// unknown. Errors: as node_of.
[[nodiscard]] Result<std::optional<double>> node_of_card(const std::string& card_node,
                                                         std::string_view device,
                                                         std::string_view target = {});

// The architecture of the card that wires were calibrated on; empty where the calibration does not
// say, and of virtual chips, which may execute the code of an older card than those of their class.
[[nodiscard]] std::string_view card_target(const model::WireModel& model);

}  // namespace ww::cli
